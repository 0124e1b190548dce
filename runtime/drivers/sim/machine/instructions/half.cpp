//===- half.cpp - arithmetic of f16, bf16 and pairs -------------------------===//
// PTX ISA 9.0, section 9.7.4. Sums and products of two halves are exact in double, or lose only what cannot
// matter; fma goes through round-to-odd. So each result is rounded once, by runtime/numerics.
//
#include "runtime/drivers/sim/machine/instructions/float_rules.h"
#include "runtime/drivers/sim/machine/instructions/half_lanes.h"
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"

namespace quaver::sim {
namespace {

using ptx::Type;

constexpr uint64_t kRelu = 32, kNanWins = 64, kXorSign = 128;

// One half's result code. Kind: HalfF16 or HalfBf16.
template <class Half> uint16_t finish(double exact_value, uint64_t variant) {
  uint16_t code = Half::encode(exact_value);
  if (variant & kFtz)
    code = Half::flush(code);
  if (variant & kSat)
    code = Half::is_nan(code) || code >> 15 ? 0 : std::min<uint16_t>(code, Half::kOne);
  if (variant & kRelu && code >> 15 && !Half::is_nan(code))
    code = 0;
  return code;
}

template <class Half, HalfOperation kOperation>
uint16_t compute(uint64_t variant, uint16_t a, uint16_t b, uint16_t c) {
  if (variant & kFtz) {
    a = Half::flush(a);
    b = Half::flush(b);
    c = Half::flush(c);
  }
  const double x = Half::decode(a), y = Half::decode(b);
  switch (kOperation) {
  case HalfOperation::kAdd:
    return finish<Half>(x + y, variant);
  case HalfOperation::kSubtract:
    return finish<Half>(x - y, variant);
  case HalfOperation::kMultiply:
    return finish<Half>(x * y, variant);
  case HalfOperation::kMultiplyAdd:
    return finish<Half>(sum_to_odd(x * y, Half::decode(c)), variant);
  case HalfOperation::kAbsolute:
    return a & 0x7fff;
  case HalfOperation::kNegate:
    return a ^ 0x8000;
  default:
    break;
  }
  const bool sign = (a ^ b) >> 15;
  if (variant & kXorSign) {
    a &= 0x7fff;
    b &= 0x7fff;
  }
  uint16_t r;
  if (Half::is_nan(a) || Half::is_nan(b)) {
    const bool both = Half::is_nan(a) && Half::is_nan(b);
    r = variant & kNanWins || both ? Half::kNan : Half::is_nan(a) ? b : a;
  } else {
    const double p = Half::decode(a), q = Half::decode(b);
    const bool first = kOperation == HalfOperation::kMaximum ? p > q || (p == q && !(a >> 15))
                                                             : p < q || (p == q && a >> 15);
    r = first ? a : b;
  }
  return variant & kXorSign && !Half::is_nan(r) ? uint16_t((r & 0x7fff) | (sign ? 0x8000 : 0)) : r;
}

template <class Half, HalfOperation kOperation, int N, class Lane>
Outcome run(Context &c, const Instruction &in) {
  Lane room[3][kLanes] = {}, result[kLanes];
  const Lane *s[3] = {room[0], room[1], room[2]};
  for (int i = 0; i < N; ++i)
    s[i] = c.lanes(in.operands[i + 1], room[i]);
  for (int i = 0; i < kLanes; ++i) {
    result[i] =
        compute<Half, kOperation>(in.variant, uint16_t(s[0][i]), uint16_t(s[1][i]), uint16_t(s[2][i]));
    if constexpr (sizeof(Lane) == 4)
      result[i] |= Lane(compute<Half, kOperation>(in.variant, uint16_t(s[0][i] >> 16),
                                                  uint16_t(s[1][i] >> 16), uint16_t(s[2][i] >> 16)))
                   << 16;
  }
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

template <HalfOperation kOperation, int N> void choose(Decoder &d, Type type) {
  d.expect_operands(N + 1, N + 1);
  switch (type) {
  case Type::kF16:
    d.out.execute = &run<HalfF16, kOperation, N, uint16_t>;
    break;
  case Type::kF16x2:
    d.out.execute = &run<HalfF16, kOperation, N, uint32_t>;
    break;
  case Type::kBf16:
    d.out.execute = &run<HalfBf16, kOperation, N, uint16_t>;
    break;
  case Type::kBf16x2:
    d.out.execute = &run<HalfBf16, kOperation, N, uint32_t>;
    break;
  default:
    d.unsupported("'.", spelling(type), "' is no type of '", d.source.opcode, "'");
  }
  d.out.cls = InstructionClass::kFloat16;
  const Type bits = ptx::bytes_of(type) == 4 ? Type::kB32 : Type::kB16;
  d.result(0, bits);
  for (size_t i = 1; i <= N; ++i)
    d.value(i, bits);
}

} // namespace

void decode_half_arithmetic(Decoder &d, Type type, HalfOperation operation) {
  d.take("rn"); // the only rounding there is
  d.out.variant = (d.take("ftz") ? kFtz : 0);
  switch (operation) {
  case HalfOperation::kMultiplyAdd:
    d.out.variant |= d.take("relu") ? kRelu : 0;
    [[fallthrough]];
  case HalfOperation::kAdd:
  case HalfOperation::kSubtract:
  case HalfOperation::kMultiply:
    d.out.variant |= d.take("sat") ? kSat : 0;
    break;
  case HalfOperation::kMinimum:
  case HalfOperation::kMaximum:
    d.out.variant |= d.take("NaN") ? kNanWins : 0;
    if (d.take("xorsign")) {
      d.out.variant |= kXorSign;
      if (!d.take("abs"))
        d.invalid("'.xorsign' stands with '.abs'");
    }
    break;
  default:
    break;
  }
  switch (operation) {
  case HalfOperation::kAdd:
    return choose<HalfOperation::kAdd, 2>(d, type);
  case HalfOperation::kSubtract:
    return choose<HalfOperation::kSubtract, 2>(d, type);
  case HalfOperation::kMultiply:
    return choose<HalfOperation::kMultiply, 2>(d, type);
  case HalfOperation::kMultiplyAdd:
    return choose<HalfOperation::kMultiplyAdd, 3>(d, type);
  case HalfOperation::kMinimum:
    return choose<HalfOperation::kMinimum, 2>(d, type);
  case HalfOperation::kMaximum:
    return choose<HalfOperation::kMaximum, 2>(d, type);
  case HalfOperation::kAbsolute:
    return choose<HalfOperation::kAbsolute, 1>(d, type);
  case HalfOperation::kNegate:
    return choose<HalfOperation::kNegate, 1>(d, type);
  }
}

} // namespace quaver::sim
