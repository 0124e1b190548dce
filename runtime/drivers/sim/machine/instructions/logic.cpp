//===- logic.cpp - logic and shifts -----------------------------------------===//
// PTX ISA 9.0, section 9.7.8 (logic and shift) and 9.7.9.6 (prmt).
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"

namespace quaver::sim {
namespace {

using ptx::Type;

struct And {
  template <class T> static T apply(T a, T b) { return T(a & b); }
};
struct Or {
  template <class T> static T apply(T a, T b) { return T(a | b); }
};
struct Xor {
  template <class T> static T apply(T a, T b) { return T(a ^ b); }
};
struct Not {
  template <class T> static T apply(T a) { return T(~a); }
};
struct LogicalNot {
  template <class T> static T apply(T a) { return T(a == 0); }
};

template <class Op> Outcome predicate_binary(Context &c, const Instruction &in) {
  c.set_predicate(in.operands[0], Op::apply(c.predicate(in.operands[1]), c.predicate(in.operands[2])));
  return Outcome::kNext;
}
Outcome predicate_not(Context &c, const Instruction &in) {
  c.set_predicate(in.operands[0], ~c.predicate(in.operands[1]));
  return Outcome::kNext;
}

template <class Op> void decode_binary(Decoder &d) {
  const Type type = d.take_type();
  if (type != Type::kPred)
    return decode_integer<2, Op>(d, type);
  d.expect_operands(3, 3);
  d.out.execute = predicate_binary<Op>;
  d.result(0, type);
  d.value(1, type);
  d.value(2, type);
}
void decode_not(Decoder &d) {
  const Type type = d.take_type();
  if (type != Type::kPred)
    return decode_integer<1, Not>(d, type);
  d.expect_operands(2, 2);
  d.out.execute = predicate_not;
  d.result(0, type);
  d.value(1, type);
}
void decode_cnot(Decoder &d) { decode_integer<1, LogicalNot>(d, d.take_type()); }

// Any function of three bits by its truth table (section 9.7.8.6); with .BoolOp also a predicate.
Outcome logic3(Context &c, const Instruction &in) {
  const bool has_predicate = in.variant & 0x700;
  const int first = has_predicate ? 2 : 1;
  uint32_t ra[kLanes], rb[kLanes], rc[kLanes], result[kLanes];
  const uint32_t *a = c.lanes(in.operands[first], ra), *b = c.lanes(in.operands[first + 1], rb),
                 *e = c.lanes(in.operands[first + 2], rc);
  const uint32_t table = in.variant & 0xff;
  for (int i = 0; i < kLanes; ++i) {
    uint32_t r = 0;
    for (uint32_t row = 0; row < 8; ++row)
      if (table >> row & 1)
        r |= (row & 4 ? a[i] : ~a[i]) & (row & 2 ? b[i] : ~b[i]) & (row & 1 ? e[i] : ~e[i]);
    result[i] = r;
  }
  c.set(in.operands[0], result);
  if (has_predicate) {
    LaneMask nonzero = 0;
    for (int i = 0; i < kLanes; ++i)
      nonzero |= LaneMask(result[i] != 0) << i;
    const LaneMask q = c.predicate(in.operands[5]);
    c.set_predicate(in.operands[1], in.variant & 0x100 ? nonzero | q : nonzero & q);
  }
  return Outcome::kNext;
}

void decode_lop3(Decoder &d) {
  const int boolean = d.take_one({"or", "and"});
  if (d.take_type() != Type::kB32)
    d.invalid("'lop3' needs .b32");
  const bool pair = boolean >= 0;
  d.expect_operands(pair ? 6 : 5, pair ? 6 : 5);
  d.out.execute = logic3;
  d.out.variant = uint64_t(d.constant(4, 0, 255)) | (boolean == 0 ? 0x100 : boolean == 1 ? 0x200 : 0);
  if (pair) {
    const ptx::Operand &results = d.operand(0);
    if (results.kind != ptx::Operand::Kind::kPair)
      return d.invalid("'lop3.or' and 'lop3.and' have results d|p");
    d.result(results.elements[0], Type::kB32);
    d.result(results.elements[1], Type::kPred);
  } else {
    d.result(0, Type::kB32);
  }
  for (size_t i = 1; i < 4; ++i)
    d.value(i, Type::kB32);
  if (pair)
    d.value(5, Type::kPred);
}

// Shifts: the amount is a u32 whatever the type; amounts of the width and more shift everything out.
template <class T, bool kLeft> Outcome shift(Context &c, const Instruction &in) {
  T ra[kLanes], result[kLanes];
  uint32_t rb[kLanes];
  const T *a = c.lanes(in.operands[1], ra);
  const uint32_t *amount = c.lanes(in.operands[2], rb);
  constexpr uint32_t kBits = 8 * sizeof(T);
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t n = amount[i];
    if (kLeft)
      result[i] = n >= kBits ? T(0) : T(uint64_t(std::make_unsigned_t<T>(a[i])) << n);
    else
      result[i] = n >= kBits ? T(std::is_signed_v<T> && a[i] < 0 ? -1 : 0) : T(a[i] >> n);
  }
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

template <bool kLeft> void decode_shift(Decoder &d) {
  const Type type = d.take_type();
  d.expect_operands(3, 3);
  with_integer(d, type, [&](auto t) { d.out.execute = &shift<decltype(t), kLeft>; });
  d.result(0, type);
  d.value(1, type);
  d.value(2, Type::kB32);
}

// Funnel shift (section 9.7.8.7). Bit 0: right, bit 1: clamp.
Outcome funnel_shift(Context &c, const Instruction &in) {
  uint32_t ra[kLanes], rb[kLanes], rc[kLanes], result[kLanes];
  const uint32_t *a = c.lanes(in.operands[1], ra), *b = c.lanes(in.operands[2], rb),
                 *e = c.lanes(in.operands[3], rc);
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t n = in.variant & 2 ? std::min<uint32_t>(e[i], 32) : e[i] & 31;
    const uint64_t both = uint64_t{b[i]} << 32 | a[i];
    result[i] = in.variant & 1 ? uint32_t(both >> n) : uint32_t(both << n >> 32);
  }
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

void decode_shf(Decoder &d) {
  const int direction = d.take_one({"l", "r"}), mode = d.take_one({"wrap", "clamp"});
  if (direction < 0 || mode < 0)
    d.invalid("'shf' needs .l or .r and .wrap or .clamp");
  if (ptx::bytes_of(d.take_type()) != 4)
    d.invalid("'shf' needs .b32");
  d.expect_operands(4, 4);
  d.out.execute = funnel_shift;
  d.out.variant = uint64_t(direction == 1) | uint64_t(mode == 1) << 1;
  d.result(0, Type::kB32);
  for (size_t i = 1; i < 4; ++i)
    d.value(i, Type::kB32);
}

uint32_t pick_byte(uint64_t bytes, uint32_t selector) {
  const uint32_t byte = uint32_t(bytes >> 8 * (selector & 7)) & 0xff;
  return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}

enum PermuteMode { kIndex, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };

uint32_t permute_selector(int mode, uint32_t c) {
  static constexpr uint16_t kSelectors[7][4] = {{},
                                                {0x3210, 0x4321, 0x5432, 0x6543},
                                                {0x5670, 0x6701, 0x7012, 0x0123},
                                                {0x0000, 0x1111, 0x2222, 0x3333},
                                                {0x3210, 0x3211, 0x3222, 0x3333},
                                                {0x0000, 0x1110, 0x2210, 0x3210},
                                                {0x1010, 0x3232, 0x1010, 0x3232}};
  return mode == kIndex ? c : kSelectors[mode][c & 3];
}

Outcome permute(Context &c, const Instruction &in) {
  uint32_t ra[kLanes], rb[kLanes], rc[kLanes], result[kLanes];
  const uint32_t *a = c.lanes(in.operands[1], ra), *b = c.lanes(in.operands[2], rb),
                 *e = c.lanes(in.operands[3], rc);
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t both = uint64_t{b[i]} << 32 | a[i];
    const uint32_t selector = permute_selector(int(in.variant), e[i]);
    result[i] = 0;
    for (int byte = 0; byte < 4; ++byte)
      result[i] |=
          pick_byte(both, in.variant == kIndex ? selector >> 4 * byte & 15 : selector >> 4 * byte & 7)
          << 8 * byte;
  }
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

void decode_prmt(Decoder &d) {
  d.out.variant = uint64_t(d.take_one({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) + 1);
  if (d.take_type() != Type::kB32)
    d.invalid("'prmt' needs .b32");
  d.expect_operands(4, 4);
  d.out.execute = permute;
  d.result(0, Type::kB32);
  for (size_t i = 1; i < 4; ++i)
    d.value(i, Type::kB32);
}

constexpr InstructionFamily kTable[] = {
    {"and", InstructionClass::kInteger, decode_binary<And>},
    {"or", InstructionClass::kInteger, decode_binary<Or>},
    {"xor", InstructionClass::kInteger, decode_binary<Xor>},
    {"not", InstructionClass::kInteger, decode_not},
    {"cnot", InstructionClass::kInteger, decode_cnot},
    {"lop3", InstructionClass::kInteger, decode_lop3},
    {"shl", InstructionClass::kInteger, decode_shift<true>},
    {"shr", InstructionClass::kInteger, decode_shift<false>},
    {"shf", InstructionClass::kInteger, decode_shf},
    {"prmt", InstructionClass::kInteger, decode_prmt},
};

} // namespace

std::span<const InstructionFamily> logic_instructions() { return kTable; }

} // namespace quaver::sim
