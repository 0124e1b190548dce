//===- convert_packed.cpp - cvt of pairs of small floats --------------------===//
// PTX ISA 9.0, section 9.7.9.21 (cvt) and 9.7.9.22 (cvt.pack). In `cvt.f16x2.f32 d, a, b` the first source
// goes to the upper half. E4M3 and E5M2 only saturate; a NaN becomes 0x7F.
//
#include "runtime/drivers/sim/machine/instructions/convert_packed.h"

#include "runtime/drivers/sim/machine/instructions/float_rules.h"
#include "runtime/drivers/sim/machine/instructions/half_lanes.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"

#include <algorithm>

namespace quaver::sim {
namespace {

using ptx::Type;

const PackedConversion &conversion(const Instruction &in) {
  return *static_cast<const PackedConversion *>(in.extra);
}

// The small float that a pair is made of.
ElementType element_of(Type pair) {
  switch (pair) {
  case Type::kF16x2:
    return ElementType::F16;
  case Type::kBf16x2:
    return ElementType::BF16;
  case Type::kE4m3x2:
    return ElementType::F8E4M3FN;
  case Type::kE5m2x2:
    return ElementType::F8E5M2;
  default:
    return ElementType::Invalid;
  }
}

uint32_t code_of(double x, const PackedConversion &v) {
  const ElementType type = element_of(v.to);
  const bool wide = bytes_of(type) == 2;
  const uint32_t sign = wide ? 0x8000 : 0x80;
  if (x != x)
    return sign - 1;
  uint32_t code;
  if (wide && v.rounding != Rounding::kNearest)
    code = uint32_t(round_to(exact(x), type == ElementType::F16 ? kF16Format : kBf16Format, v.rounding));
  else
    code = encode(type, x);
  if (v.relu && code & sign)
    return 0;
  if (wide && v.finite && is_inf_code(type, code))
    --code;
  return code;
}

// {f32, f32} -> pair.
Outcome singles_to_pair(Context &c, const Instruction &in) {
  const PackedConversion &v = conversion(in);
  const int shift = 8 * bytes_of(element_of(v.to));
  float ra[kLanes], rb[kLanes];
  const float *a = c.lanes(in.operands[1], ra), *b = c.lanes(in.operands[2], rb);
  uint32_t out[kLanes] = {};
  for_each_lane(c.mask, [&](int i) { out[i] = code_of(a[i], v) << shift | code_of(b[i], v); });
  if (shift == 16) {
    c.set(in.operands[0], out);
  } else {
    uint16_t narrow[kLanes];
    std::copy(out, out + kLanes, narrow);
    c.set(in.operands[0], narrow);
  }
  return Outcome::kNext;
}

// Pair -> pair of another small float.
Outcome pair_to_pair(Context &c, const Instruction &in) {
  const PackedConversion &v = conversion(in);
  const ElementType from = element_of(v.from);
  const int from_bits = 8 * bytes_of(from), to_bits = 8 * bytes_of(element_of(v.to));
  uint32_t room[kLanes], out[kLanes] = {};
  uint16_t narrow[kLanes];
  const uint32_t *a = room;
  if (from_bits == 8) {
    const uint16_t *codes = c.lanes(in.operands[1], narrow);
    std::copy(codes, codes + kLanes, room);
  } else {
    a = c.lanes(in.operands[1], room);
  }
  const uint32_t ones = (1u << from_bits) - 1;
  for_each_lane(c.mask, [&](int i) {
    out[i] = code_of(decode(from, a[i] & ones), v) | code_of(decode(from, a[i] >> from_bits & ones), v)
                                                         << to_bits;
  });
  if (to_bits == 16) {
    c.set(in.operands[0], out);
  } else {
    std::copy(out, out + kLanes, narrow);
    c.set(in.operands[0], narrow);
  }
  return Outcome::kNext;
}

// cvt.pack.sat.TO.s32{.b32} d, a, b{, c}: a and b saturated into the low bits of d, above them those of c.
Outcome pack_integers(Context &c, const Instruction &in) {
  const int bits = int(in.variant & 0xff);
  const bool is_signed = in.variant >> 8 & 1;
  const int64_t low = is_signed ? -(int64_t{1} << (bits - 1)) : 0,
                high = (int64_t{1} << (bits - is_signed)) - 1;
  int32_t ra[kLanes], rb[kLanes];
  uint32_t rc[kLanes] = {}, out[kLanes];
  const int32_t *a = c.lanes(in.operands[1], ra), *b = c.lanes(in.operands[2], rb);
  const uint32_t *rest = in.operand_count > 3 ? c.lanes(in.operands[3], rc) : rc;
  const uint64_t ones = (uint64_t{1} << bits) - 1;
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t x = uint64_t(std::clamp<int64_t>(a[i], low, high)) & ones;
    const uint64_t y = uint64_t(std::clamp<int64_t>(b[i], low, high)) & ones;
    out[i] = uint32_t(x << bits | y | uint64_t(rest[i]) << 2 * bits);
  }
  c.set(in.operands[0], out);
  return Outcome::kNext;
}

} // namespace

void decode_cvt_packed(Decoder &d, const PackedConversion &v) {
  const ElementType to = element_of(v.to), from = element_of(v.from);
  const bool to_f8 = is_float8(to), from_f8 = is_float8(from);
  if (to == ElementType::Invalid || (v.from != Type::kF32 && from == ElementType::Invalid) ||
      (from != ElementType::Invalid && to_f8 == from_f8))
    return d.unsupported("'cvt' from .", spelling(v.from), " to .", spelling(v.to));
  if (to_f8 && (!v.finite || v.rounding != Rounding::kNearest))
    d.invalid("a conversion to .", spelling(v.to), " needs .rn.satfinite");
  d.out.extra = d.keep(v);
  d.result(0, to_f8 ? Type::kB16 : Type::kB32);
  if (v.from == Type::kF32) {
    d.expect_operands(3, 3);
    d.out.execute = singles_to_pair;
    d.value(1, Type::kF32);
    d.value(2, Type::kF32);
  } else {
    d.expect_operands(2, 2);
    d.out.execute = pair_to_pair;
    d.value(1, from_f8 ? Type::kB16 : Type::kB32);
  }
}

void decode_cvt_pack(Decoder &d) {
  static constexpr std::string_view kTargets[] = {"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"};
  if (!d.take("sat"))
    d.invalid("'cvt.pack' needs .sat");
  int bits = 16;
  for (std::string_view word : kTargets)
    if (d.take(word)) {
      bits = word.substr(1) == "16" ? 16 : word[1] - '0';
      d.out.variant = uint64_t(bits) | uint64_t(word[0] == 's') << 8;
      break;
    }
  if (!d.out.variant || d.take_type() != Type::kS32)
    d.invalid("'cvt.pack.sat' needs a narrow integer type and .s32");
  const bool has_rest = d.take("b32");
  if (has_rest != (bits < 16))
    d.invalid("'cvt.pack.sat' has a third source, .b32, for types of 8 bits and less");
  d.expect_operands(has_rest ? 4 : 3, has_rest ? 4 : 3);
  d.out.execute = pack_integers;
  for (size_t i = 0; i < d.given(); ++i)
    i == 0 ? d.result(0, Type::kB32) : d.value(i, Type::kB32);
}

} // namespace quaver::sim
