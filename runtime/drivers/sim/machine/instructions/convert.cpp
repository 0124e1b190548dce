//===- convert.cpp - cvt ----------------------------------------------------===//
// PTX ISA 9.0, section 9.7.9.21. Every source value is exact in double or in 64 bits, so each conversion
// rounds once: to nearest by runtime/numerics or the processor, in other directions by softfloat.h.
//
#include "runtime/drivers/sim/machine/instructions/convert_packed.h"
#include "runtime/drivers/sim/machine/instructions/float_rules.h"
#include "runtime/drivers/sim/machine/instructions/half_lanes.h"
#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"

#include <limits>

namespace quaver::sim {
namespace {

using ptx::Type;

struct Conversion {
  Type to = Type::kB32, from = Type::kB32;
  Rounding rounding = Rounding::kNearest;
  bool to_integral = false; // .rni and its kin between floats
  bool ftz = false, saturate = false, relu = false, finite = false;
};

const Conversion &conversion(const Instruction &in) { return *static_cast<const Conversion *>(in.extra); }

template <class T> void widen_to(const T *from, int64_t *to) {
  for (int i = 0; i < kLanes; ++i)
    to[i] = int64_t(from[i]);
}

// Integer lanes, sign- or zero-extended. u64 keeps its bits.
void read_integers(Context &c, const Operand &o, Type type, int64_t out[kLanes]) {
  uint64_t room[kLanes];
  switch (type) {
  case Type::kU8:
    return widen_to(c.lanes(o, reinterpret_cast<uint8_t *>(room)), out);
  case Type::kS8:
    return widen_to(c.lanes(o, reinterpret_cast<int8_t *>(room)), out);
  case Type::kU16:
    return widen_to(c.lanes(o, reinterpret_cast<uint16_t *>(room)), out);
  case Type::kS16:
    return widen_to(c.lanes(o, reinterpret_cast<int16_t *>(room)), out);
  case Type::kU32:
    return widen_to(c.lanes(o, reinterpret_cast<uint32_t *>(room)), out);
  case Type::kS32:
    return widen_to(c.lanes(o, reinterpret_cast<int32_t *>(room)), out);
  default:
    return widen_to(c.lanes(o, reinterpret_cast<int64_t *>(room)), out);
  }
}

template <class T> void narrow_to(Context &c, const Operand &o, const int64_t *from) {
  T out[kLanes];
  for (int i = 0; i < kLanes; ++i)
    out[i] = T(from[i]);
  c.set(o, out);
}

void write_integers(Context &c, const Operand &o, Type type, const int64_t values[kLanes]) {
  switch (type) {
  case Type::kU8:
    return narrow_to<uint8_t>(c, o, values);
  case Type::kS8:
    return narrow_to<int8_t>(c, o, values);
  case Type::kU16:
    return narrow_to<uint16_t>(c, o, values);
  case Type::kS16:
    return narrow_to<int16_t>(c, o, values);
  case Type::kU32:
    return narrow_to<uint32_t>(c, o, values);
  case Type::kS32:
    return narrow_to<int32_t>(c, o, values);
  default:
    return narrow_to<int64_t>(c, o, values);
  }
}

struct Range {
  int64_t low;
  uint64_t high;
};
Range range_of(Type type) {
  const int bits = 8 * ptx::bytes_of(type);
  if (is_signed(type))
    return {int64_t(~uint64_t{0} << (bits - 1)), (uint64_t{1} << (bits - 1)) - 1};
  return {0, bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1};
}

Outcome integer_to_integer(Context &c, const Instruction &in) {
  const Conversion &v = conversion(in);
  int64_t x[kLanes];
  read_integers(c, in.operands[1], v.from, x);
  if (v.saturate) {
    const Range to = range_of(v.to);
    for (int64_t &value : x) {
      const bool negative = is_signed(v.from) && value < 0;
      if (negative && value < to.low)
        value = to.low;
      else if (!negative && uint64_t(value) > to.high)
        value = int64_t(to.high);
    }
  }
  write_integers(c, in.operands[0], v.to, x);
  return Outcome::kNext;
}

// Float lanes as doubles, exact; .ftz flushes f32.
void read_floats(Context &c, const Operand &o, const Conversion &v, double out[kLanes]) {
  uint64_t room[kLanes];
  switch (v.from) {
  case Type::kF16: {
    const uint16_t *a = c.lanes(o, reinterpret_cast<uint16_t *>(room));
    for (int i = 0; i < kLanes; ++i)
      out[i] = HalfF16::decode(a[i]);
    return;
  }
  case Type::kBf16: {
    const uint16_t *a = c.lanes(o, reinterpret_cast<uint16_t *>(room));
    for (int i = 0; i < kLanes; ++i)
      out[i] = HalfBf16::decode(a[i]);
    return;
  }
  case Type::kF32: {
    const float *a = c.lanes(o, reinterpret_cast<float *>(room));
    for (int i = 0; i < kLanes; ++i)
      out[i] = v.ftz ? flushed(a[i]) : a[i];
    return;
  }
  default: {
    const double *a = c.lanes(o, reinterpret_cast<double *>(room));
    std::copy(a, a + kLanes, out);
  }
  }
}

double integral(double x, Rounding rounding) {
  switch (rounding) {
  case Rounding::kZero:
    return std::trunc(x);
  case Rounding::kDown:
    return std::floor(x);
  case Rounding::kUp:
    return std::ceil(x);
  default:
    return std::nearbyint(x); // nothing here changes the processor's rounding mode
  }
}

// Clamped; NaN gives 0, or the top bit where a 64-bit type or f64 is involved (section 9.7.9.21).
int64_t to_integer(double x, Type type, Type from) {
  const Range to = range_of(type);
  if (x != x) {
    const bool zero = from != Type::kF64 && ptx::bytes_of(type) != 8;
    return zero ? 0 : int64_t(uint64_t{1} << (8 * ptx::bytes_of(type) - 1));
  }
  if (x <= double(to.low))
    return to.low;
  if (x >= double(to.high)) // of 64 bits: rounded up to a power of two, which is too large
    return int64_t(to.high);
  return is_signed(type) ? int64_t(x) : int64_t(uint64_t(x));
}

Outcome float_to_integer(Context &c, const Instruction &in) {
  const Conversion &v = conversion(in);
  double x[kLanes];
  int64_t r[kLanes] = {};
  read_floats(c, in.operands[1], v, x);
  for_each_lane(c.mask, [&](int i) { r[i] = to_integer(integral(x[i], v.rounding), v.to, v.from); });
  write_integers(c, in.operands[0], v.to, r);
  return Outcome::kNext;
}

FloatFormat format_of(Type type) {
  return type == Type::kF64    ? kF64Format
         : type == Type::kF32  ? kF32Format
         : type == Type::kTf32 ? kTf32Format
         : type == Type::kF16  ? kF16Format
                               : kBf16Format;
}

uint64_t clamp_code(uint64_t code, const Conversion &v) {
  const FloatFormat f = format_of(v.to);
  const int width = f.exponent_bits + f.mantissa_bits;
  const uint64_t magnitude = code & ((uint64_t{1} << width) - 1);
  const uint64_t infinity = ((uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits;
  const bool negative = code >> width & 1, is_nan = magnitude > infinity;
  if (v.ftz && v.to == Type::kF32 && !(magnitude & infinity))
    code &= uint64_t{1} << width;
  if (v.saturate) {
    const uint64_t one = uint64_t(f.bias()) << f.mantissa_bits;
    return is_nan || negative ? 0 : std::min(magnitude, one);
  }
  if (v.relu && negative && !is_nan)
    return 0;
  if (v.finite && magnitude == infinity)
    return code - 1;
  return code;
}

// The code of an exact value in v.to, rounded once.
uint64_t encode_rounded(ExactNumber x, const Conversion &v) {
  return clamp_code(round_to(x, format_of(v.to), v.rounding), v);
}

void write_codes(Context &c, const Operand &o, const uint64_t codes[kLanes], Type type) {
  if (ptx::bytes_of(type) == 8)
    return c.set(o, codes);
  if (ptx::bytes_of(type) == 2) {
    uint16_t out[kLanes];
    for (int i = 0; i < kLanes; ++i)
      out[i] = uint16_t(codes[i]);
    return c.set(o, out);
  }
  uint32_t out[kLanes];
  // A tf32 lies in a 32-bit register with its low 13 mantissa bits zero.
  for (int i = 0; i < kLanes; ++i)
    out[i] = type == Type::kTf32 && (codes[i] & 0x3ffff) != 0x3ffff ? uint32_t(codes[i] << 13)
                                                                    : uint32_t(codes[i]);
  if (type == Type::kTf32)
    for (int i = 0; i < kLanes; ++i)
      if ((codes[i] & 0x3ffff) == 0x3ffff)
        out[i] = FloatRules<float>::kNan;
  c.set(o, out);
}

uint64_t nearest_code(double x, const Conversion &v) {
  switch (v.to) {
  case Type::kF64:
    return std::bit_cast<uint64_t>(canonical(x));
  case Type::kF32:
    return std::bit_cast<uint32_t>(canonical(float(x)));
  case Type::kF16:
    return HalfF16::encode(x);
  case Type::kBf16:
    return HalfBf16::encode(x);
  default:
    return round_to(exact(x), kTf32Format, Rounding::kNearest);
  }
}

Outcome float_to_float(Context &c, const Instruction &in) {
  const Conversion &v = conversion(in);
  double x[kLanes];
  uint64_t codes[kLanes] = {};
  read_floats(c, in.operands[1], v, x);
  const bool nearest = v.rounding == Rounding::kNearest || v.to_integral;
  for_each_lane(c.mask, [&](int i) {
    const double value = v.to_integral ? integral(x[i], v.rounding) : x[i];
    codes[i] = nearest ? clamp_code(nearest_code(value, v), v) : encode_rounded(exact(value), v);
  });
  write_codes(c, in.operands[0], codes, v.to);
  return Outcome::kNext;
}

Outcome integer_to_float(Context &c, const Instruction &in) {
  const Conversion &v = conversion(in);
  int64_t x[kLanes];
  uint64_t codes[kLanes] = {};
  read_integers(c, in.operands[1], v.from, x);
  for_each_lane(c.mask, [&](int i) {
    const bool negative = is_signed(v.from) && x[i] < 0;
    codes[i] = encode_rounded(from_integer(negative ? 0 - uint64_t(x[i]) : uint64_t(x[i]), negative), v);
  });
  write_codes(c, in.operands[0], codes, v.to);
  return Outcome::kNext;
}

bool is_scalar_float(Type t) {
  return t == Type::kF16 || t == Type::kBf16 || t == Type::kF32 || t == Type::kF64;
}
bool is_scalar_integer(Type t) {
  const ptx::TypeKind kind = ptx::type_info(t).kind;
  return (kind == ptx::TypeKind::kSigned || kind == ptx::TypeKind::kUnsigned) && ptx::bytes_of(t) &&
         t != Type::kU16x2 && t != Type::kS16x2;
}

void decode_cvt(Decoder &d) {
  if (d.take("pack"))
    return decode_cvt_pack(d);
  Conversion v;
  const int integral_mode = d.take_one({"rni", "rzi", "rmi", "rpi"});
  const int float_mode = d.take_one({"rn", "rz", "rm", "rp", "rna"});
  v.to_integral = integral_mode >= 0;
  v.rounding = Rounding(integral_mode >= 0 ? integral_mode : std::max(float_mode, 0));
  v.ftz = d.take("ftz");
  v.saturate = d.take("sat");
  v.relu = d.take("relu");
  v.finite = d.take("satfinite");
  v.to = d.take_type();
  v.from = d.take_type();
  const bool to_float = is_scalar_float(v.to) || v.to == Type::kTf32;
  if (!(to_float || is_scalar_integer(v.to)) || !(is_scalar_float(v.from) || is_scalar_integer(v.from)))
    return decode_cvt_packed(d, {v.to, v.from, v.rounding, v.relu, v.finite});
  d.expect_operands(2, 2);
  const bool from_float = is_scalar_float(v.from);
  if (!to_float && !from_float)
    d.out.execute = integer_to_integer;
  else if (!to_float)
    d.out.execute = float_to_integer;
  else
    d.out.execute = from_float ? float_to_float : integer_to_float;
  if (from_float && !to_float && !v.to_integral)
    d.invalid("a conversion from float to integer needs .rni, .rzi, .rmi or .rpi");
  if (!from_float && to_float && float_mode < 0)
    d.invalid("a conversion from integer to float needs .rn, .rz, .rm or .rp");
  const bool narrows = to_float && from_float &&
                       (ptx::bytes_of(v.to) < ptx::bytes_of(v.from) || v.to == Type::kTf32 ||
                        (v.to != v.from && ptx::bytes_of(v.to) == 2 && ptx::bytes_of(v.from) == 2));
  if (narrows && float_mode < 0)
    d.invalid("a conversion to a narrower float needs .rn, .rz, .rm or .rp");
  d.out.extra = d.keep(v);
  const Type bits[] = {Type::kB8, Type::kB16, Type::kB32, Type::kB64};
  auto bits_of = [&](Type t) { return bits[__builtin_ctz(ptx::bytes_of(t))]; };
  d.result(0, bits_of(v.to));
  // A float constant is read in its own type, anything else as bits of the width.
  d.value(1, d.operand(1).kind == ptx::Operand::Kind::kFloat ? v.from : bits_of(v.from));
}

constexpr InstructionFamily kTable[] = {
    {"cvt", InstructionClass::kConvert, decode_cvt},
};

} // namespace

std::span<const InstructionFamily> convert_instructions() { return kTable; }

} // namespace quaver::sim
