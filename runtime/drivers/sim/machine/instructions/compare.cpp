//===- compare.cpp - set, setp, selp, slct ----------------------------------===//
// PTX ISA 9.0, sections 9.7.5 and 9.7.7 (half precision).
#include "runtime/drivers/sim/machine/instructions/float_rules.h"
#include "runtime/drivers/sim/machine/instructions/half_lanes.h"
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"

namespace quaver::sim {
namespace {

using ptx::Type;

// Three bits: less, equal, greater; a fourth: a NaN is there. lo, ls, hi, hs are the unsigned names.
constexpr uint64_t kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8;
struct Comparison {
  std::string_view name;
  uint64_t accepts;
};
constexpr Comparison kComparisons[] = {
    {"eq", kEqual},
    {"ne", kLess | kGreater},
    {"lt", kLess},
    {"le", kLess | kEqual},
    {"gt", kGreater},
    {"ge", kGreater | kEqual},
    {"lo", kLess},
    {"ls", kLess | kEqual},
    {"hi", kGreater},
    {"hs", kGreater | kEqual},
    {"equ", kEqual | kUnordered},
    {"neu", kLess | kGreater | kUnordered},
    {"ltu", kLess | kUnordered},
    {"leu", kLess | kEqual | kUnordered},
    {"gtu", kGreater | kUnordered},
    {"geu", kGreater | kEqual | kUnordered},
    {"num", kLess | kEqual | kGreater},
    {"nan", kUnordered},
};
// variant: the comparison's bits, then how p is combined with a source predicate, then .ftz.
constexpr uint64_t kAnd = 16, kOr = 32, kXor = 64, kCombine = kAnd | kOr | kXor, kFlush = 128;

template <class T> uint64_t relation(T a, T b) {
  return a < b ? kLess : a == b ? kEqual : a > b ? kGreater : kUnordered;
}

template <class T> LaneMask compare(Context &c, const Instruction &in, int first) {
  alignas(64) T ra[kLanes], rb[kLanes];
  const T *a = c.lanes(in.operands[first], ra), *b = c.lanes(in.operands[first + 1], rb);
  LaneMask result = 0;
  if constexpr (std::is_floating_point_v<T>)
    if (in.variant & kFlush) {
      for (int i = 0; i < kLanes; ++i)
        result |= LaneMask((relation(flushed(a[i]), flushed(b[i])) & in.variant) != 0) << i;
      return result;
    }
  for (int i = 0; i < kLanes; ++i)
    result |= LaneMask((relation(a[i], b[i]) & in.variant) != 0) << i;
  return result;
}

// Half `part` (0 low, 1 high) of each lane.
template <class Half, class Lane>
LaneMask compare_half(Context &c, const Instruction &in, int first, int part) {
  Lane ra[kLanes], rb[kLanes];
  const Lane *a = c.lanes(in.operands[first], ra), *b = c.lanes(in.operands[first + 1], rb);
  LaneMask result = 0;
  for (int i = 0; i < kLanes; ++i) {
    uint16_t x = uint16_t(a[i] >> 16 * part), y = uint16_t(b[i] >> 16 * part);
    if (in.variant & kFlush) {
      x = Half::flush(x);
      y = Half::flush(y);
    }
    result |= LaneMask((relation(Half::decode(x), Half::decode(y)) & in.variant) != 0) << i;
  }
  return result;
}

LaneMask combine(Context &c, const Instruction &in, LaneMask compared, const Operand &with) {
  if (!(in.variant & kCombine))
    return compared;
  const LaneMask p = c.predicate(with);
  return in.variant & kAnd ? compared & p : in.variant & kOr ? compared | p : compared ^ p;
}

// setp: p = (a cmp b) op c, q = !(a cmp b) op c.
template <class T> Outcome set_predicate(Context &c, const Instruction &in) {
  const LaneMask compared = compare<T>(c, in, in.results);
  const Operand &with = in.operands[in.operand_count - 1];
  const LaneMask p = combine(c, in, compared, with), q = combine(c, in, ~compared, with);
  c.set_predicate(in.operands[0], p);
  if (in.results == 2)
    c.set_predicate(in.operands[1], q);
  return Outcome::kNext;
}
template <class Half> Outcome set_half_predicate(Context &c, const Instruction &in) {
  const LaneMask compared = compare_half<Half, uint16_t>(c, in, in.results, 0);
  const Operand &with = in.operands[in.operand_count - 1];
  const LaneMask p = combine(c, in, compared, with), q = combine(c, in, ~compared, with);
  c.set_predicate(in.operands[0], p);
  if (in.results == 2)
    c.set_predicate(in.operands[1], q);
  return Outcome::kNext;
}
// Of pairs: p for the low halves, q for the high ones.
template <class Half> Outcome set_pair_predicates(Context &c, const Instruction &in) {
  const Operand &with = in.operands[in.operand_count - 1];
  const LaneMask p = combine(c, in, compare_half<Half, uint32_t>(c, in, in.results, 0), with);
  const LaneMask q = combine(c, in, compare_half<Half, uint32_t>(c, in, in.results, 1), with);
  c.set_predicate(in.operands[0], p);
  if (in.results == 2)
    c.set_predicate(in.operands[1], q);
  return Outcome::kNext;
}

void take_comparison(Decoder &d) {
  for (const Comparison &comparison : kComparisons)
    if (d.take(comparison.name)) {
      d.out.variant = comparison.accepts;
      const int op = d.take_one({"and", "or", "xor"});
      d.out.variant |= op < 0 ? 0 : kAnd << op;
      d.out.variant |= d.take("ftz") ? kFlush : 0;
      return;
    }
  d.invalid("'", d.source.opcode, "' needs a comparison such as .eq");
}

// The type decides whether a comparison is signed; lo, ls, hi, hs stand only with unsigned ones.
template <class F> void with_compared_type(Decoder &d, Type type, F &&f) {
  if (type == Type::kF32)
    return f(float{});
  if (type == Type::kF64)
    return f(double{});
  with_integer(d, type, std::forward<F>(f));
}

void decode_setp(Decoder &d) {
  take_comparison(d);
  const Type type = d.take_type();
  const bool combined = d.out.variant & kCombine;
  d.expect_operands(combined ? 4 : 3, combined ? 4 : 3);
  const ptx::Operand &results = d.operand(0);
  if (results.kind == ptx::Operand::Kind::kPair) {
    d.result(results.elements[0], Type::kPred);
    d.result(results.elements[1], Type::kPred);
  } else {
    d.result(results, Type::kPred);
  }
  Type read = type;
  switch (type) {
  case Type::kF16:
    d.out.execute = set_half_predicate<HalfF16>;
    read = Type::kB16;
    break;
  case Type::kBf16:
    d.out.execute = set_half_predicate<HalfBf16>;
    read = Type::kB16;
    break;
  case Type::kF16x2:
    d.out.execute = set_pair_predicates<HalfF16>;
    read = Type::kB32;
    break;
  case Type::kBf16x2:
    d.out.execute = set_pair_predicates<HalfBf16>;
    read = Type::kB32;
    break;
  default:
    with_compared_type(d, type, [&](auto t) { d.out.execute = &set_predicate<decltype(t)>; });
  }
  d.value(1, read);
  d.value(2, read);
  if (combined)
    d.value(3, Type::kPred);
}

// set: all ones or 1.0 where true. The handler is setp's with a register result.
template <class T> LaneMask compared_lanes(Context &c, const Instruction &in) { return compare<T>(c, in, 1); }

template <LaneMask (*kCompare)(Context &, const Instruction &)>
Outcome set_register(Context &c, const Instruction &in) {
  const LaneMask p = combine(c, in, kCompare(c, in), in.operands[in.operand_count - 1]);
  if (in.element_bytes == 2) {
    uint16_t result[kLanes];
    for (int i = 0; i < kLanes; ++i)
      result[i] = p >> i & 1 ? uint16_t(in.offset) : uint16_t(0);
    c.set(in.operands[0], result);
  } else {
    uint32_t result[kLanes];
    for (int i = 0; i < kLanes; ++i)
      result[i] = p >> i & 1 ? uint32_t(in.offset) : 0;
    c.set(in.operands[0], result);
  }
  return Outcome::kNext;
}
template <class Half> LaneMask compared_halves(Context &c, const Instruction &in) {
  return compare_half<Half, uint16_t>(c, in, 1, 0);
}
template <class Half> Outcome set_pair_register(Context &c, const Instruction &in) {
  const LaneMask low =
      combine(c, in, compare_half<Half, uint32_t>(c, in, 1, 0), in.operands[in.operand_count - 1]);
  const LaneMask high =
      combine(c, in, compare_half<Half, uint32_t>(c, in, 1, 1), in.operands[in.operand_count - 1]);
  uint32_t result[kLanes];
  const uint32_t one = uint32_t(in.offset) & 0xffff;
  for (int i = 0; i < kLanes; ++i)
    result[i] = (low >> i & 1 ? one : 0) | (high >> i & 1 ? one << 16 : 0);
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

void decode_set(Decoder &d) {
  take_comparison(d);
  const Type to = d.take_type(), type = d.take_type();
  const bool combined = d.out.variant & kCombine;
  d.expect_operands(combined ? 4 : 3, combined ? 4 : 3);
  d.out.element_bytes = ptx::bytes_of(to) == 2 ? 2 : 4;
  switch (to) {
  case Type::kF32:
    d.out.offset = 0x3f800000;
    break;
  case Type::kF16:
  case Type::kF16x2:
    d.out.offset = HalfF16::kOne;
    break;
  case Type::kBf16:
  case Type::kBf16x2:
    d.out.offset = HalfBf16::kOne;
    break;
  case Type::kU32:
  case Type::kS32:
  case Type::kU16:
  case Type::kS16:
    d.out.offset = -1;
    break;
  default:
    d.unsupported("'set' to .", spelling(to));
  }
  Type read = type;
  switch (type) {
  case Type::kF16:
    d.out.execute = set_register<compared_halves<HalfF16>>;
    read = Type::kB16;
    break;
  case Type::kBf16:
    d.out.execute = set_register<compared_halves<HalfBf16>>;
    read = Type::kB16;
    break;
  case Type::kF16x2:
    d.out.execute = set_pair_register<HalfF16>;
    read = Type::kB32;
    break;
  case Type::kBf16x2:
    d.out.execute = set_pair_register<HalfBf16>;
    read = Type::kB32;
    break;
  default:
    with_compared_type(d, type, [&](auto t) { d.out.execute = &set_register<compared_lanes<decltype(t)>>; });
  }
  d.result(0, ptx::bytes_of(to) == 2 ? Type::kB16 : Type::kB32);
  d.value(1, read);
  d.value(2, read);
  if (combined)
    d.value(3, Type::kPred);
}

template <class T> Outcome select(Context &c, const Instruction &in) {
  alignas(64) T ra[kLanes], rb[kLanes], result[kLanes];
  const T *a = c.lanes(in.operands[1], ra), *b = c.lanes(in.operands[2], rb);
  const LaneMask p = c.predicate(in.operands[3]);
  for (int i = 0; i < kLanes; ++i)
    result[i] = p >> i & 1 ? a[i] : b[i];
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

template <class F> void with_width(Decoder &d, Type type, F &&f) {
  switch (ptx::bytes_of(type)) {
  case 1:
    return f(uint8_t{});
  case 2:
    return f(uint16_t{});
  case 4:
    return f(uint32_t{});
  case 8:
    return f(uint64_t{});
  default:
    d.unsupported("'.", spelling(type), "' is no type of '", d.source.opcode, "'");
  }
}

void decode_selp(Decoder &d) {
  const Type type = d.take_type();
  d.expect_operands(4, 4);
  with_width(d, type, [&](auto t) { d.out.execute = &select<decltype(t)>; });
  d.result(0, type);
  d.value(1, type);
  d.value(2, type);
  d.value(3, Type::kPred);
}

// slct: a if c >= 0, else b.
template <class T, class S> Outcome select_by_sign(Context &c, const Instruction &in) {
  T ra[kLanes], rb[kLanes], result[kLanes];
  S rc[kLanes];
  const T *a = c.lanes(in.operands[1], ra), *b = c.lanes(in.operands[2], rb);
  const S *s = c.lanes(in.operands[3], rc);
  for (int i = 0; i < kLanes; ++i) {
    S sign = s[i];
    if constexpr (std::is_floating_point_v<S>)
      sign = in.variant ? flushed(sign) : sign;
    result[i] = sign >= S(0) ? a[i] : b[i];
  }
  c.set(in.operands[0], result);
  return Outcome::kNext;
}
void decode_slct(Decoder &d) {
  d.out.variant = d.take("ftz");
  const Type type = d.take_type(), sign = d.take_type();
  d.expect_operands(4, 4);
  if (sign != Type::kS32 && sign != Type::kF32)
    d.invalid("'slct' decides by .s32 or .f32");
  with_width(d, type, [&](auto t) {
    d.out.execute =
        sign == Type::kF32 ? &select_by_sign<decltype(t), float> : &select_by_sign<decltype(t), int32_t>;
  });
  d.result(0, type);
  d.value(1, type);
  d.value(2, type);
  d.value(3, sign);
}

constexpr InstructionFamily kTable[] = {
    {"setp", InstructionClass::kCompare, decode_setp},
    {"set", InstructionClass::kCompare, decode_set},
    {"selp", InstructionClass::kCompare, decode_selp},
    {"slct", InstructionClass::kCompare, decode_slct},
};

} // namespace

std::span<const InstructionFamily> compare_instructions() { return kTable; }

} // namespace quaver::sim
