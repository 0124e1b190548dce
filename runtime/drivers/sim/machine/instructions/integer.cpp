//===- integer.cpp - integer arithmetic -------------------------------------===//
// PTX ISA 9.0, sections 9.7.1 (integer) and 9.7.2 (extended precision).
//
// Division by zero gives what NVIDIA's GPUs give, all ones (rem: the dividend); the ISA leaves the value
// open, so the launch gets a note.
//
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"

#include <bit>
#include <limits>

namespace quaver::sim {
namespace {

using ptx::Type;

template <class T> using unsigned_t = std::make_unsigned_t<T>;
// Arithmetic on unsigned values of at least int's width: no overflow is undefined.
template <class T> uint64_t raw(T a) { return uint64_t(unsigned_t<T>(a)); }

struct Add {
  template <class T> static T apply(T a, T b) { return T(raw(a) + raw(b)); }
};
struct Subtract {
  template <class T> static T apply(T a, T b) { return T(raw(a) - raw(b)); }
};
struct AddSaturated {
  static int32_t apply(int32_t a, int32_t b) {
    const int64_t s = int64_t{a} + b;
    return int32_t(std::min<int64_t>(std::max<int64_t>(s, INT32_MIN), INT32_MAX));
  }
};
struct SubtractSaturated {
  static int32_t apply(int32_t a, int32_t b) {
    const int64_t s = int64_t{a} - b;
    return int32_t(std::min<int64_t>(std::max<int64_t>(s, INT32_MIN), INT32_MAX));
  }
};
struct MultiplyLow {
  template <class T> static T apply(T a, T b) { return T(raw(a) * raw(b)); }
};
struct MultiplyHigh {
  template <class T> static T apply(T a, T b) { return T((wide_t<T>(a) * wide_t<T>(b)) >> (8 * sizeof(T))); }
};
struct MultiplyWide {
  template <class T> static wide_t<T> apply(T a, T b) { return wide_t<T>(wide_t<T>(a) * wide_t<T>(b)); }
};
struct MultiplyAddLow {
  template <class T> static T apply(T a, T b, T c) { return T(raw(a) * raw(b) + raw(c)); }
};
struct MultiplyAddHigh {
  template <class T> static T apply(T a, T b, T c) { return T(raw(MultiplyHigh::apply(a, b)) + raw(c)); }
};
struct MultiplyAddHighSaturated {
  static int32_t apply(int32_t a, int32_t b, int32_t c) {
    return AddSaturated::apply(MultiplyHigh::apply(a, b), c);
  }
};
// 24-bit forms (section 9.7.1.6): the low 24 bits of each, sign-extended for s32.
template <class T> int64_t low24(T a) {
  return std::is_signed_v<T> ? int64_t(int32_t(uint32_t(a) << 8) >> 8) : int64_t(a & 0xffffff);
}
struct Multiply24Low {
  template <class T> static T apply(T a, T b) { return T(low24(a) * low24(b)); }
};
struct Multiply24High {
  template <class T> static T apply(T a, T b) { return T(uint64_t(low24(a) * low24(b)) >> 16); }
};
struct MultiplyAdd24Low {
  template <class T> static T apply(T a, T b, T c) { return T(raw(Multiply24Low::apply(a, b)) + raw(c)); }
};
struct MultiplyAdd24High {
  template <class T> static T apply(T a, T b, T c) { return T(raw(Multiply24High::apply(a, b)) + raw(c)); }
};
struct MultiplyAdd24HighSaturated {
  static int32_t apply(int32_t a, int32_t b, int32_t c) {
    return AddSaturated::apply(Multiply24High::apply(a, b), c);
  }
};
struct SumOfAbsoluteDifferences {
  template <class T> static T apply(T a, T b, T c) {
    return T(raw(c) + (a < b ? raw(b) - raw(a) : raw(a) - raw(b)));
  }
};
struct Minimum {
  template <class T> static T apply(T a, T b) { return a < b ? a : b; }
};
struct Maximum {
  template <class T> static T apply(T a, T b) { return a < b ? b : a; }
};
struct MinimumRelu {
  template <class T> static T apply(T a, T b) { return std::max<T>(std::min(a, b), 0); }
};
struct MaximumRelu {
  template <class T> static T apply(T a, T b) { return std::max<T>(std::max(a, b), 0); }
};
// Two 16-bit lanes in 32 bits.
template <class Half, class Op> struct Packed {
  static uint32_t apply(uint32_t a, uint32_t b) {
    const uint32_t low = uint16_t(Op::apply(Half(a), Half(b)));
    const uint32_t high = uint16_t(Op::apply(Half(a >> 16), Half(b >> 16)));
    return low | high << 16;
  }
};
struct Absolute {
  template <class T> static T apply(T a) { return a < 0 ? T(0 - raw(a)) : a; }
};
struct Negate {
  template <class T> static T apply(T a) { return T(0 - raw(a)); }
};
struct Divide {
  template <class T> static T apply(T a, T b) {
    if (b == 0)
      return T(~T{0});
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1))
        return T(0 - raw(a));
    return T(a / b);
  }
};
struct Remainder {
  template <class T> static T apply(T a, T b) {
    if (b == 0)
      return a;
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1))
        return 0;
    return T(a % b);
  }
};

template <class T, class Op> Outcome divide(Context &c, const Instruction &in) {
  T room[kLanes];
  const T *divisor = c.lanes(in.operands[2], room);
  bool by_zero = false;
  for_each_lane(c.mask, [&](int i) { by_zero |= divisor[i] == 0; });
  if (by_zero)
    c.note(in,
           str_cat("division by zero in '", in.source->text, "': the ISA does not say what the result is"));
  return lanewise<T, T, 2, Op>(c, in);
}

bool is_packed(Type t) { return t == Type::kU16x2 || t == Type::kS16x2; }

template <class Op> void decode_packed(Decoder &d, Type type) {
  d.expect_operands(3, 3);
  d.out.execute = type == Type::kS16x2 ? &lanewise<uint32_t, uint32_t, 2, Packed<int16_t, Op>>
                                       : &lanewise<uint32_t, uint32_t, 2, Packed<uint16_t, Op>>;
  d.result(0, type);
  d.value(1, type);
  d.value(2, type);
}

// Carries (section 9.7.2) are a flag of each thread: the warp's CC mask lives in block state.
struct CarryFlags {
  LaneMask warps[32] = {};
};

// d = a + b + carry, or a - b - borrow, for 32 and 64 bits; variant bit 0: carry in, 1: carry out, 2:
// subtract.
template <class T> Outcome add_with_carry(Context &c, const Instruction &in) {
  T ra[kLanes], rb[kLanes], result[kLanes];
  const T *a = c.lanes(in.operands[1], ra), *b = c.lanes(in.operands[2], rb);
  LaneMask &flags = c.block.state<CarryFlags>().warps[c.warp.index];
  LaneMask out = 0;
  const bool subtract = in.variant & 4;
  for (int i = 0; i < kLanes; ++i) {
    const T carry = in.variant & 1 ? T(flags >> i & 1) : T(0);
    const unsigned __int128 wide =
        subtract ? (unsigned __int128)(a[i]) - b[i] - carry : (unsigned __int128)(a[i]) + b[i] + carry;
    result[i] = T(wide);
    out |= LaneMask(wide >> (8 * sizeof(T)) & 1) << i;
  }
  c.set(in.operands[0], result);
  if (in.variant & 2)
    flags = (flags & ~c.mask) | (out & c.mask);
  return Outcome::kNext;
}

void decode_carry(Decoder &d, bool carry_in, bool subtract) {
  const Type type = d.take_type();
  d.out.variant = (carry_in ? 1 : 0) | (d.take("cc") ? 2 : 0) | (subtract ? 4 : 0);
  d.expect_operands(3, 3);
  d.out.execute = ptx::bytes_of(type) == 8 ? &add_with_carry<uint64_t> : &add_with_carry<uint32_t>;
  if (ptx::bytes_of(type) != 4 && ptx::bytes_of(type) != 8)
    d.unsupported("'.cc' needs 32 or 64 bits");
  d.result(0, type);
  d.value(1, type);
  d.value(2, type);
}

// mad{c}.{lo,hi}.cc: the product's half is the first addend.
template <class T> Outcome multiply_add_with_carry(Context &c, const Instruction &in) {
  T ra[kLanes], rb[kLanes], rc[kLanes], result[kLanes];
  const T *a = c.lanes(in.operands[1], ra), *b = c.lanes(in.operands[2], rb),
          *addend = c.lanes(in.operands[3], rc);
  LaneMask &flags = c.block.state<CarryFlags>().warps[c.warp.index];
  LaneMask out = 0;
  for (int i = 0; i < kLanes; ++i) {
    const T product = in.variant & 4 ? MultiplyHigh::apply(a[i], b[i]) : MultiplyLow::apply(a[i], b[i]);
    const T carry = in.variant & 1 ? T(flags >> i & 1) : T(0);
    using U = unsigned_t<T>;
    const unsigned __int128 wide = (unsigned __int128)(U(product)) + U(addend[i]) + U(carry);
    result[i] = T(wide);
    out |= LaneMask(wide >> (8 * sizeof(T)) & 1) << i;
  }
  c.set(in.operands[0], result);
  if (in.variant & 2)
    flags = (flags & ~c.mask) | (out & c.mask);
  return Outcome::kNext;
}

void decode_mad_carry(Decoder &d, bool carry_in) {
  const bool high = d.take("hi");
  if (!high && !d.take("lo"))
    d.invalid("'", d.source.opcode, "' needs .lo or .hi");
  const Type type = d.take_type();
  d.out.variant = (carry_in ? 1 : 0) | (d.take("cc") ? 2 : 0) | (high ? 4 : 0);
  d.expect_operands(4, 4);
  with_integer(d, type, [&](auto t) {
    if constexpr (sizeof(t) >= 4)
      d.out.execute = &multiply_add_with_carry<decltype(t)>;
  });
  d.result(0, type);
  for (size_t i = 1; i < 4; ++i)
    d.value(i, type);
}

} // namespace

void decode_integer_add(Decoder &d, bool subtract) {
  for (std::string_view m : d.left())
    if (m == "cc")
      return decode_carry(d, false, subtract);
  const Type type = d.take_type();
  if (is_packed(type))
    return subtract ? decode_packed<Subtract>(d, type) : decode_packed<Add>(d, type);
  if (d.take("sat")) {
    if (type != Type::kS32)
      d.invalid("'.sat' needs .s32");
    decode_integer<2, Add>(d, type);
    d.out.execute = subtract ? &lanewise<int32_t, int32_t, 2, SubtractSaturated>
                             : &lanewise<int32_t, int32_t, 2, AddSaturated>;
    return;
  }
  subtract ? decode_integer<2, Subtract>(d, type) : decode_integer<2, Add>(d, type);
}

void decode_integer_mul(Decoder &d) {
  const int part = d.take_one({"lo", "hi", "wide"});
  const Type type = d.take_type();
  if (part == 0)
    return decode_integer<2, MultiplyLow>(d, type);
  if (part == 1)
    return decode_integer<2, MultiplyHigh>(d, type);
  if (part < 0)
    d.invalid("'mul' of integers needs .lo, .hi or .wide");
  d.expect_operands(3, 3);
  with_integer(d, type, [&](auto t) {
    using T = decltype(t);
    if constexpr (sizeof(T) == 8) {
      d.unsupported("'mul.wide' of 64 bits");
    } else {
      d.out.execute = &lanewise<wide_t<T>, T, 2, MultiplyWide>;
      d.result(0, sizeof(T) == 2 ? Type::kB32 : Type::kB64);
    }
  });
  d.value(1, type);
  d.value(2, type);
}

namespace {

// mad.wide's addend has the result's width.
template <class T> Outcome multiply_add_wide(Context &c, const Instruction &in) {
  T ra[kLanes], rb[kLanes];
  wide_t<T> rc[kLanes], result[kLanes];
  const T *a = c.lanes(in.operands[1], ra), *b = c.lanes(in.operands[2], rb);
  const wide_t<T> *addend = c.lanes(in.operands[3], rc);
  for (int i = 0; i < kLanes; ++i)
    result[i] = wide_t<T>(raw(MultiplyWide::apply(a[i], b[i])) + raw(addend[i]));
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

} // namespace

void decode_integer_mad(Decoder &d) {
  for (std::string_view m : d.left())
    if (m == "cc")
      return decode_mad_carry(d, false);
  const int part = d.take_one({"lo", "hi", "wide"});
  const bool saturate = d.take("sat");
  const Type type = d.take_type();
  if (saturate) {
    decode_integer<3, MultiplyAddHigh>(d, type);
    d.out.execute = &lanewise<int32_t, int32_t, 3, MultiplyAddHighSaturated>;
    if (type != Type::kS32 || part != 1)
      d.invalid("'mad' has .sat only as mad.hi.sat.s32");
    return;
  }
  if (part == 0)
    return decode_integer<3, MultiplyAddLow>(d, type);
  if (part == 1)
    return decode_integer<3, MultiplyAddHigh>(d, type);
  if (part < 0)
    d.invalid("'mad' of integers needs .lo, .hi or .wide");
  d.expect_operands(4, 4);
  with_integer(d, type, [&](auto t) {
    using T = decltype(t);
    if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
      d.out.execute = &multiply_add_wide<T>;
      d.result(0, sizeof(T) == 2 ? Type::kB32 : Type::kB64);
      d.value(1, type);
      d.value(2, type);
      d.value(3, sizeof(T) == 2 ? Type::kB32 : Type::kB64);
    } else {
      d.unsupported("'mad.wide' of ", 8 * sizeof(T), " bits");
    }
  });
}

void decode_integer_min_max(Decoder &d, bool maximum) {
  const bool relu = d.take("relu");
  const Type type = d.take_type();
  if (relu && type != Type::kS32 && type != Type::kS16x2)
    d.invalid("'.relu' needs .s32 or .s16x2");
  if (is_packed(type))
    return relu ? (maximum ? decode_packed<MaximumRelu>(d, type) : decode_packed<MinimumRelu>(d, type))
                : (maximum ? decode_packed<Maximum>(d, type) : decode_packed<Minimum>(d, type));
  if (relu)
    return maximum ? decode_integer<2, MaximumRelu>(d, type) : decode_integer<2, MinimumRelu>(d, type);
  maximum ? decode_integer<2, Maximum>(d, type) : decode_integer<2, Minimum>(d, type);
}

void decode_integer_abs(Decoder &d) {
  const Type type = d.take_type();
  if (!ptx::is_signed(type))
    d.invalid("'abs' needs a signed type");
  decode_integer<1, Absolute>(d, type);
}
void decode_integer_neg(Decoder &d) {
  const Type type = d.take_type();
  if (!ptx::is_signed(type))
    d.invalid("'neg' needs a signed type");
  decode_integer<1, Negate>(d, type);
}
void decode_integer_div(Decoder &d) {
  const Type type = d.take_type();
  decode_integer<2, Divide>(d, type);
  with_integer(d, type, [&](auto t) { d.out.execute = &divide<decltype(t), Divide>; });
}

namespace {

void decode_rem(Decoder &d) {
  const Type type = d.take_type();
  decode_integer<2, Remainder>(d, type);
  with_integer(d, type, [&](auto t) { d.out.execute = &divide<decltype(t), Remainder>; });
}
void decode_sad(Decoder &d) { decode_integer<3, SumOfAbsoluteDifferences>(d, d.take_type()); }

void decode_mul24(Decoder &d) {
  const bool high = d.take("hi");
  if (!high && !d.take("lo"))
    d.invalid("'mul24' needs .lo or .hi");
  const Type type = d.take_type();
  if (ptx::bytes_of(type) != 4)
    return d.invalid("'mul24' needs .u32 or .s32");
  high ? decode_integer<2, Multiply24High>(d, type) : decode_integer<2, Multiply24Low>(d, type);
}
void decode_mad24(Decoder &d) {
  const bool high = d.take("hi");
  if (!high && !d.take("lo"))
    d.invalid("'mad24' needs .lo or .hi");
  const bool saturate = d.take("sat");
  const Type type = d.take_type();
  if (ptx::bytes_of(type) != 4 || (saturate && (type != Type::kS32 || !high)))
    return d.invalid("'mad24' needs .u32 or .s32; .sat only as mad24.hi.sat.s32");
  high ? decode_integer<3, MultiplyAdd24High>(d, type) : decode_integer<3, MultiplyAdd24Low>(d, type);
  if (saturate)
    d.out.execute = &lanewise<int32_t, int32_t, 3, MultiplyAdd24HighSaturated>;
}

void decode_addc(Decoder &d) { decode_carry(d, true, false); }
void decode_subc(Decoder &d) { decode_carry(d, true, true); }
void decode_madc(Decoder &d) { decode_mad_carry(d, true); }

// dp4a, dp2a (sections 9.7.1.22-23): variant bit 0: a signed, 1: b signed, 2: dp2a, 3: dp2a.hi.
Outcome dot_product(Context &c, const Instruction &in) {
  uint32_t ra[kLanes], rb[kLanes], rc[kLanes], result[kLanes];
  const uint32_t *a = c.lanes(in.operands[1], ra), *b = c.lanes(in.operands[2], rb),
                 *addend = c.lanes(in.operands[3], rc);
  auto byte = [](uint32_t x, int i, bool is_signed) {
    const uint8_t raw_byte = uint8_t(x >> 8 * i);
    return is_signed ? int32_t(int8_t(raw_byte)) : int32_t(raw_byte);
  };
  auto half = [](uint32_t x, int i, bool is_signed) {
    const uint16_t raw_half = uint16_t(x >> 16 * i);
    return is_signed ? int32_t(int16_t(raw_half)) : int32_t(raw_half);
  };
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t sum = addend[lane];
    if (in.variant & 4)
      for (int i = 0; i < 2; ++i)
        sum += uint32_t(int64_t{half(a[lane], i, in.variant & 1)} *
                        byte(b[lane], i + (in.variant & 8 ? 2 : 0), in.variant & 2));
    else
      for (int i = 0; i < 4; ++i)
        sum += uint32_t(byte(a[lane], i, in.variant & 1) * byte(b[lane], i, in.variant & 2));
    result[lane] = sum;
  }
  c.set(in.operands[0], result);
  return Outcome::kNext;
}

void decode_dot_product(Decoder &d, uint64_t variant) {
  const Type a = d.take_type(), b = d.take_type();
  d.out.variant = variant | (a == Type::kS32 ? 1 : 0) | (b == Type::kS32 ? 2 : 0);
  if (ptx::bytes_of(a) != 4 || ptx::bytes_of(b) != 4)
    d.invalid("'", d.source.opcode, "' needs .u32 or .s32");
  d.expect_operands(4, 4);
  d.out.execute = dot_product;
  d.result(0, Type::kB32);
  for (size_t i = 1; i < 4; ++i)
    d.value(i, Type::kB32);
}
void decode_dp4a(Decoder &d) { decode_dot_product(d, 0); }
void decode_dp2a(Decoder &d) {
  const bool high = d.take("hi");
  if (!high && !d.take("lo"))
    d.invalid("'dp2a' needs .lo or .hi");
  decode_dot_product(d, high ? 12 : 4);
}

constexpr InstructionFamily kTable[] = {
    {"rem", InstructionClass::kInteger, decode_rem},     {"sad", InstructionClass::kInteger, decode_sad},
    {"mul24", InstructionClass::kInteger, decode_mul24}, {"mad24", InstructionClass::kInteger, decode_mad24},
    {"addc", InstructionClass::kInteger, decode_addc},   {"subc", InstructionClass::kInteger, decode_subc},
    {"madc", InstructionClass::kInteger, decode_madc},   {"dp4a", InstructionClass::kInteger, decode_dp4a},
    {"dp2a", InstructionClass::kInteger, decode_dp2a},
};

} // namespace

std::span<const InstructionFamily> integer_instructions() { return kTable; }

} // namespace quaver::sim
