#include "runtime/numerics/codec.h"

#include <array>
#include <cassert>
#include <cmath>
#include <cstring>

namespace quaver {
namespace {

using enum ElementType;

// A positive finite value: significand (top bit set) * 2^(exponent - 63).
struct Magnitude {
  uint64_t significand;
  int exponent;
};

Magnitude magnitude_of(uint64_t integer, int exponent_of_bit_0) {
  const int zeros = std::countl_zero(integer);
  return {integer << zeros, exponent_of_bit_0 + 63 - zeros};
}

// Magnitude code of a sign-and-magnitude format, rounded to nearest even; may exceed the format's largest
// code, which is then an overflow. Counting on from the subnormals needs no case for a carry into the
// exponent.
uint64_t round_to_code(const FormatInfo &f, Magnitude x) {
  const int min_exponent = 1 - f.bias;
  const int exponent = x.exponent > min_exponent ? x.exponent : min_exponent;
  const int shift = exponent - f.mantissa_bits - x.exponent + 63; // bits that do not fit
  uint64_t kept = 0;
  if (shift < 64) {
    kept = x.significand >> shift;
    const uint64_t rest = x.significand << (64 - shift), half = uint64_t{1} << 63;
    kept += rest > half || (rest == half && (kept & 1));
  } else if (shift == 64) {
    kept = x.significand > (uint64_t{1} << 63); // exactly half is a tie to the even 0
  }
  // `kept` counts quanta of 2^(exponent - mantissa bits). A normal number's hidden bit is dropped again by
  // the -1.
  const bool is_normal = x.exponent >= min_exponent;
  return is_normal ? (uint64_t(exponent - min_exponent) << f.mantissa_bits) + kept : kept;
}

uint32_t nan_code(const FormatInfo &f, bool negative) {
  const uint32_t sign = negative ? 1u << (f.bits - 1) : 0;
  switch (f.specials) {
  case Specials::Fnuz:
    return 0x80;
  case Specials::Exponent:
    return 0xFF;
  case Specials::Ieee:
    if (f.bits > 8) // quiet, empty payload
      return sign | (uint32_t(f.max_code()) + 1) | 1u << (f.mantissa_bits - 1);
    return sign | 0x7F;
  default:
    return sign | 0x7F;
  }
}

uint32_t overflow_code(const FormatInfo &f, bool negative, bool was_inf, CastPolicy policy) {
  const uint32_t sign = negative ? 1u << (f.bits - 1) : 0;
  const bool saturate = f.bits == 8 && policy.overflow == Overflow::Saturate;
  if (saturate) {
    if (was_inf && f.specials == Specials::Fnuz && policy.fnuz_inf == FnuzInf::NaN)
      return nan_code(f, negative);
    return sign | uint32_t(f.max_code());
  }
  return f.specials == Specials::Ieee ? sign | (uint32_t(f.max_code()) + 1) : nan_code(f, negative);
}

uint32_t encode_magnitude(const FormatInfo &f, bool negative, Magnitude x, CastPolicy policy) {
  if (f.specials == Specials::Exponent) {
    const bool is_power = x.significand == uint64_t{1} << 63;
    const bool below = x.exponent < -127, above = x.exponent > 127 || (x.exponent == 127 && !is_power);
    if (below || above) {
      if (policy.overflow == Overflow::Propagate)
        return 0xFF;
      return below ? 0x00 : 0xFE;
    }
    bool up = false;
    if (policy.e8m0 == E8m0Rounding::Up)
      up = !is_power;
    else if (policy.e8m0 == E8m0Rounding::Nearest)
      up = x.significand >= uint64_t{3} << 62;
    return uint32_t(x.exponent + 127 + up);
  }
  const uint64_t code = round_to_code(f, x);
  if (code > f.max_code())
    return overflow_code(f, negative, false, policy);
  if (f.specials == Specials::Fnuz && code == 0)
    return 0; // there is no -0
  return uint32_t(code) | (negative ? 1u << (f.bits - 1) : 0);
}

uint32_t encode_zero(const FormatInfo &f, bool negative, CastPolicy policy) {
  if (f.specials == Specials::Exponent)
    return policy.overflow == Overflow::Saturate ? 0x00 : 0xFF;
  return negative && f.specials != Specials::Fnuz ? 1u << (f.bits - 1) : 0;
}

uint32_t encode_double(const FormatInfo &f, double x, CastPolicy policy) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const bool negative = bits >> 63;
  const uint64_t mantissa = bits & ((uint64_t{1} << 52) - 1);
  const int exponent = int(bits >> 52 & 0x7FF);
  if (exponent == 0x7FF) {
    if (mantissa)
      return nan_code(f, negative);
    if (f.specials == Specials::Exponent)
      return policy.overflow == Overflow::Saturate ? 0xFE : 0xFF;
    return overflow_code(f, negative, true, policy);
  }
  if (exponent == 0) {
    if (mantissa == 0)
      return encode_zero(f, negative, policy);
    return encode_magnitude(f, negative, magnitude_of(mantissa, -1074), policy);
  }
  return encode_magnitude(f, negative, {(mantissa | uint64_t{1} << 52) << 11, exponent - 1023}, policy);
}

uint32_t encode_integer(const FormatInfo &f, bool negative, uint64_t magnitude, CastPolicy policy) {
  if (magnitude == 0)
    return encode_zero(f, false, policy);
  return encode_magnitude(f, negative, magnitude_of(magnitude, 0), policy);
}

constexpr float decode_slowly(const FormatInfo &f, uint32_t code) {
  const bool negative = f.specials != Specials::Exponent && code >> (f.bits - 1) & 1;
  const uint32_t magnitude = f.specials == Specials::Exponent ? code : code & ((1u << (f.bits - 1)) - 1);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  if (f.specials == Specials::Fnuz && negative && magnitude == 0)
    return nan;
  if (magnitude > f.max_code()) {
    const bool is_inf = f.specials == Specials::Ieee && magnitude == f.max_code() + 1;
    const float special = is_inf ? std::numeric_limits<float>::infinity() : nan;
    return negative ? -special : special;
  }
  if (f.specials == Specials::Exponent)
    return float(power_of_two(int(code) - f.bias));
  const int exponent = int(magnitude >> f.mantissa_bits);
  const uint32_t mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
  const uint32_t significand = exponent ? mantissa | 1u << f.mantissa_bits : mantissa;
  const float value =
      float(double(significand) * power_of_two((exponent ? exponent : 1) - f.bias - f.mantissa_bits));
  return negative ? -value : value;
}

template <ElementType kType> constexpr std::array<float, 256> make_table() {
  std::array<float, 256> table{};
  for (uint32_t code = 0; code < 256; ++code)
    table[code] = decode_slowly(format_info(kType), code);
  return table;
}
template <ElementType kType> constexpr std::array<float, 256> kTable = make_table<kType>();

float decode_half(uint16_t code) {
  // Shift into float's fields with the exponent off by 112, then let one exact multiplication mend it,
  // subnormals too.
  const uint32_t magnitude = code & 0x7FFFu, sign = uint32_t(code & 0x8000u) << 16;
  if (magnitude >= 0x7C00)
    return std::bit_cast<float>(sign | 0x7F800000u | (magnitude & 0x3FFu) << 13);
  const uint32_t exponent = magnitude >> 10, mantissa = magnitude & 0x3FF;
  if (exponent == 0)
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(float(mantissa) * 0x1p-24f));
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

// The common case of bulk conversion, equal to encode_double(BF16) by test.
uint16_t float_to_bf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
    return uint16_t((bits >> 16 & 0x8000u) | 0x7FC0u);
  return uint16_t((bits + 0x7FFFu + (bits >> 16 & 1)) >> 16);
}

// ---- spans: every source is widened to a block of doubles, int64s or uint64s, every target narrowed from it
// ----------

constexpr size_t kBlock = 256;

template <class T> T load(const std::byte *p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}
template <class T, class Wide> void widen(const std::byte *in, Wide *out, size_t n) {
  for (size_t i = 0; i < n; ++i)
    out[i] = Wide(load<T>(in + i * sizeof(T)));
}
template <class T, class F> void narrow(std::byte *out, size_t n, F &&value) {
  for (size_t i = 0; i < n; ++i) {
    const T v = T(value(i));
    std::memcpy(out + i * sizeof(T), &v, sizeof(T));
  }
}

void widen_float(ElementType type, const std::byte *in, double *out, size_t n) {
  switch (type) {
  case F64:
    return widen<double>(in, out, n);
  case F32:
    return widen<float>(in, out, n);
  case F16:
  case BF16:
    for (size_t i = 0; i < n; ++i) {
      const uint16_t code = load<uint16_t>(in + 2 * i);
      out[i] = double(type == F16 ? decode_half(code) : decode_bf16(code));
    }
    return;
  default:
    for (size_t i = 0; i < n; ++i)
      out[i] = double(decode(type, uint8_t(in[i])));
  }
}

void widen_integer(ElementType type, const std::byte *in, uint64_t *out, size_t n) {
  switch (type) { // through int64 where signed, so that the sign is extended
  case I64:
  case U64:
    return widen<uint64_t>(in, out, n);
  case I32:
    return widen<int32_t>(in, out, n);
  case I16:
    return widen<int16_t>(in, out, n);
  case I8:
    return widen<int8_t>(in, out, n);
  case U32:
    return widen<uint32_t>(in, out, n);
  case U16:
    return widen<uint16_t>(in, out, n);
  case U8:
    return widen<uint8_t>(in, out, n);
  default:
    for (size_t i = 0; i < n; ++i)
      out[i] = in[i] != std::byte{0};
  }
}

// Truncates toward zero and clamps; NaN gives 0.
template <class T> T clamp_to(double x) {
  if (std::isnan(x))
    return 0;
  constexpr double kMin = double(std::numeric_limits<T>::min());
  const double above = 2 * double(uint64_t{1} << (std::numeric_limits<T>::digits - 1)); // max + 1, exact
  if (x >= above)
    return std::numeric_limits<T>::max();
  if (x <= kMin)
    return std::numeric_limits<T>::min();
  return T(x);
}

void narrow_float(const double *in, ElementType type, std::byte *out, size_t n, CastPolicy policy) {
  const FormatInfo &f = format_info(type);
  switch (type) {
  case F64:
    return narrow<double>(out, n, [&](size_t i) { return in[i]; });
  case F32:
    return narrow<float>(out, n, [&](size_t i) { return float(in[i]); });
  case F16:
  case BF16:
    return narrow<uint16_t>(out, n, [&](size_t i) { return encode_double(f, in[i], policy); });
  case I64:
    return narrow<int64_t>(out, n, [&](size_t i) { return clamp_to<int64_t>(in[i]); });
  case I32:
    return narrow<int32_t>(out, n, [&](size_t i) { return clamp_to<int32_t>(in[i]); });
  case I16:
    return narrow<int16_t>(out, n, [&](size_t i) { return clamp_to<int16_t>(in[i]); });
  case I8:
    return narrow<int8_t>(out, n, [&](size_t i) { return clamp_to<int8_t>(in[i]); });
  case U64:
    return narrow<uint64_t>(out, n, [&](size_t i) { return clamp_to<uint64_t>(in[i]); });
  case U32:
    return narrow<uint32_t>(out, n, [&](size_t i) { return clamp_to<uint32_t>(in[i]); });
  case U16:
    return narrow<uint16_t>(out, n, [&](size_t i) { return clamp_to<uint16_t>(in[i]); });
  case U8:
    return narrow<uint8_t>(out, n, [&](size_t i) { return clamp_to<uint8_t>(in[i]); });
  case BOOL:
    return narrow<uint8_t>(out, n, [&](size_t i) { return in[i] != 0; });
  default:
    return narrow<uint8_t>(out, n, [&](size_t i) { return encode_double(f, in[i], policy); });
  }
}

void narrow_integer(const uint64_t *in, bool is_signed, ElementType type, std::byte *out, size_t n,
                    CastPolicy policy) {
  const FormatInfo &f = format_info(type);
  const auto as_code = [&](size_t i) {
    const bool negative = is_signed && int64_t(in[i]) < 0;
    return encode_integer(f, negative, negative ? 0 - in[i] : in[i], policy);
  };
  switch (type) {
  case F64:
    return narrow<double>(out, n,
                          [&](size_t i) { return is_signed ? double(int64_t(in[i])) : double(in[i]); });
  case F32:
    return narrow<float>(out, n, [&](size_t i) { return is_signed ? float(int64_t(in[i])) : float(in[i]); });
  case F16:
  case BF16:
    return narrow<uint16_t>(out, n, as_code);
  case BOOL:
    return narrow<uint8_t>(out, n, [&](size_t i) { return in[i] != 0; });
  default:
    break;
  }
  if (f.is_float())
    return narrow<uint8_t>(out, n, as_code);
  switch (f.bytes()) { // the low bits are the same for signed and unsigned
  case 8:
    return narrow<uint64_t>(out, n, [&](size_t i) { return in[i]; });
  case 4:
    return narrow<uint32_t>(out, n, [&](size_t i) { return in[i]; });
  case 2:
    return narrow<uint16_t>(out, n, [&](size_t i) { return in[i]; });
  default:
    return narrow<uint8_t>(out, n, [&](size_t i) { return in[i]; });
  }
}

// Pairs that whole models are made of; each equals the general path by test.
bool convert_fast(ElementType from, const std::byte *in, ElementType to, std::byte *out, size_t n) {
  if (from == to && from != BOOL) {
    std::memmove(out, in, n * bytes_of(from));
    return true;
  }
  if (to == F32 && from == BF16)
    narrow<float>(out, n, [&](size_t i) { return decode_bf16(load<uint16_t>(in + 2 * i)); });
  else if (to == F32 && from == F16)
    narrow<float>(out, n, [&](size_t i) { return decode_half(load<uint16_t>(in + 2 * i)); });
  else if (to == F32 && is_float8(from))
    narrow<float>(out, n, [&](size_t i) { return decode(from, uint8_t(in[i])); });
  else if (to == BF16 && from == F32)
    narrow<uint16_t>(out, n, [&](size_t i) { return float_to_bf16(load<float>(in + 4 * i)); });
  else
    return false;
  return true;
}

} // namespace

uint32_t encode(ElementType type, double x, CastPolicy policy) {
  const FormatInfo &f = format_info(type);
  assert(f.is_float() && f.bits <= 32 && "encode: a float type of at most 32 bits");
  if (type == F32)
    return std::bit_cast<uint32_t>(float(x));
  return encode_double(f, x, policy);
}

uint32_t encode(ElementType type, int64_t x, CastPolicy policy) {
  const FormatInfo &f = format_info(type);
  assert(f.is_float() && f.bits <= 32 && "encode: a float type of at most 32 bits");
  if (type == F32)
    return std::bit_cast<uint32_t>(float(x));
  return encode_integer(f, x < 0, x < 0 ? 0 - uint64_t(x) : uint64_t(x), policy);
}

uint32_t encode(ElementType type, uint64_t x, CastPolicy policy) {
  const FormatInfo &f = format_info(type);
  assert(f.is_float() && f.bits <= 32 && "encode: a float type of at most 32 bits");
  if (type == F32)
    return std::bit_cast<uint32_t>(float(x));
  return encode_integer(f, false, x, policy);
}

float decode(ElementType type, uint32_t code) {
  switch (type) {
  case F32:
    return std::bit_cast<float>(code);
  case BF16:
    return decode_bf16(uint16_t(code));
  case F16:
    return decode_half(uint16_t(code));
  case F8E4M3FN:
    return kTable<F8E4M3FN>[code & 0xFF];
  case F8E5M2:
    return kTable<F8E5M2>[code & 0xFF];
  case F8E4M3FNUZ:
    return kTable<F8E4M3FNUZ>[code & 0xFF];
  case F8E5M2FNUZ:
    return kTable<F8E5M2FNUZ>[code & 0xFF];
  case F8E8M0FNU:
    return kTable<F8E8M0FNU>[code & 0xFF];
  default:
    assert(false && "decode: a float type of at most 32 bits");
    return 0;
  }
}

bool is_nan_code(ElementType type, uint32_t code) { return std::isnan(decode(type, code)); }
bool is_inf_code(ElementType type, uint32_t code) { return std::isinf(decode(type, code)); }

void convert(ElementType from, const void *in, ElementType to, void *out, size_t n, CastPolicy policy) {
  assert(is_valid(from) && is_valid(to) && "convert: a type outside the manifest");
  const auto *source = static_cast<const std::byte *>(in);
  auto *target = static_cast<std::byte *>(out);
  if (convert_fast(from, source, to, target, n))
    return;
  const size_t source_bytes = bytes_of(from), target_bytes = bytes_of(to);
  const bool is_signed = format_info(from).type_class == TypeClass::Int;
  union {
    double floats[kBlock];
    uint64_t integers[kBlock];
  } block;
  for (size_t i = 0; i < n; i += kBlock) {
    const size_t count = n - i < kBlock ? n - i : kBlock;
    if (is_float(from)) {
      widen_float(from, source + i * source_bytes, block.floats, count);
      narrow_float(block.floats, to, target + i * target_bytes, count, policy);
    } else {
      widen_integer(from, source + i * source_bytes, block.integers, count);
      narrow_integer(block.integers, is_signed, to, target + i * target_bytes, count, policy);
    }
  }
}

} // namespace quaver
