// The manifest of element types: every number format that a tensor, a weight or a scale may have.
//
// One line a format. Numbers are those of `ElementType` in runtime/plan/plan.proto and part of the file
// format. A new format is one line here, its row in Scale/Spec.md, and the exhaustive test picks it up.
// Source of the float parameters: ONNX float8.md, arXiv 2209.05433, OCP MX 1.0.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace quaver {

enum class TypeClass : uint8_t { Invalid, Float, Int, Uint, Bool };

// How a float format spends its extreme codes.
enum class Specials : uint8_t {
  None,     // integers
  Ieee,     // top exponent is Inf (mantissa 0) and NaN
  Fn,       // finite: no Inf, NaN is the all-ones magnitude; -0 exists
  Fnuz,     // finite, unsigned zero: no Inf, no -0, NaN is the code of -0
  Exponent, // unsigned power of two: no sign, no zero, no Inf, NaN is all ones
};

// X(enumerator, number, MLIR name, short name, bits, class, exponent bits, mantissa bits, bias, specials)
#define QUAVER_ELEMENT_TYPES(X)                                                                              \
  X(F64, 1, "f64", "f64", 64, Float, 11, 52, 1023, Ieee)                                                     \
  X(F32, 2, "f32", "f32", 32, Float, 8, 23, 127, Ieee)                                                       \
  X(F16, 3, "f16", "f16", 16, Float, 5, 10, 15, Ieee)                                                        \
  X(BF16, 4, "bf16", "bf16", 16, Float, 8, 7, 127, Ieee)                                                     \
  X(F8E4M3FN, 5, "f8E4M3FN", "e4m3", 8, Float, 4, 3, 7, Fn)                                                  \
  X(F8E5M2, 6, "f8E5M2", "e5m2", 8, Float, 5, 2, 15, Ieee)                                                   \
  X(F8E4M3FNUZ, 7, "f8E4M3FNUZ", "e4m3fnuz", 8, Float, 4, 3, 8, Fnuz)                                        \
  X(F8E5M2FNUZ, 8, "f8E5M2FNUZ", "e5m2fnuz", 8, Float, 5, 2, 16, Fnuz)                                       \
  X(F8E8M0FNU, 9, "f8E8M0FNU", "e8m0", 8, Float, 8, 0, 127, Exponent)                                        \
  X(I64, 10, "i64", "i64", 64, Int, 0, 0, 0, None)                                                           \
  X(I32, 11, "i32", "i32", 32, Int, 0, 0, 0, None)                                                           \
  X(I16, 12, "i16", "i16", 16, Int, 0, 0, 0, None)                                                           \
  X(I8, 13, "i8", "i8", 8, Int, 0, 0, 0, None)                                                               \
  X(U64, 14, "ui64", "u64", 64, Uint, 0, 0, 0, None)                                                         \
  X(U32, 15, "ui32", "u32", 32, Uint, 0, 0, 0, None)                                                         \
  X(U16, 16, "ui16", "u16", 16, Uint, 0, 0, 0, None)                                                         \
  X(U8, 17, "ui8", "u8", 8, Uint, 0, 0, 0, None)                                                             \
  X(BOOL, 18, "i1", "bool", 8, Bool, 0, 0, 0, None)

// `Invalid` is what a default-constructed or unknown type is; no function below accepts it except `is_valid`.
enum class ElementType : uint8_t {
  Invalid = 0,
#define QUAVER_ENUMERATOR(name, number, ...) name = number,
  QUAVER_ELEMENT_TYPES(QUAVER_ENUMERATOR)
#undef QUAVER_ENUMERATOR
};
inline constexpr int kElementTypeCount = 18; // valid ones: 1..18

// One manifest line. A BOOL is stored as one byte, 0 or 1, hence 8 bits.
struct FormatInfo {
  ElementType type = ElementType::Invalid;
  std::string_view mlir_name = "invalid";  // as MLIR prints the type
  std::string_view short_name = "invalid"; // as policy files and kernel names spell it
  int bits = 0;
  TypeClass type_class = TypeClass::Invalid;
  int exponent_bits = 0;
  int mantissa_bits = 0;
  int bias = 0;
  Specials specials = Specials::None;

  constexpr int bytes() const { return bits / 8; }
  constexpr bool is_float() const { return type_class == TypeClass::Float; }
  constexpr bool is_signed() const {
    return type_class == TypeClass::Int || (is_float() && specials != Specials::Exponent);
  }
  // Magnitude code (no sign) of the largest finite value. Floats only.
  constexpr uint64_t max_code() const {
    const uint64_t ones = (uint64_t{1} << (exponent_bits + mantissa_bits)) - 1;
    switch (specials) {
    case Specials::Ieee:
      return ones - (uint64_t{1} << mantissa_bits);
    case Specials::Fnuz:
      return ones;
    default:
      return ones - 1;
    }
  }
  // Largest and smallest finite value. 64-bit integers are rounded to double.
  constexpr double max_value() const;
  constexpr double min_value() const;
  // Smallest positive normal and subnormal value. Floats only; E8M0 has no subnormals and returns 2^-127 for
  // both.
  constexpr double min_normal() const;
  constexpr double min_subnormal() const;
};

inline constexpr FormatInfo kFormats[kElementTypeCount + 1] = {{},
#define QUAVER_ROW(name, number, mlir, shortened, bits, cls, exponent, mantissa, bias, specials)             \
  {ElementType::name, mlir, shortened, bits, TypeClass::cls, exponent, mantissa, bias, Specials::specials},
                                                               QUAVER_ELEMENT_TYPES(QUAVER_ROW)
#undef QUAVER_ROW
};

constexpr bool is_valid(ElementType type) {
  return type > ElementType::Invalid && int(type) <= kElementTypeCount;
}

// The manifest line of `type`; the invalid one for values outside the manifest.
constexpr const FormatInfo &format_info(ElementType type) { return kFormats[is_valid(type) ? int(type) : 0]; }

constexpr std::string_view mlir_name(ElementType type) { return format_info(type).mlir_name; }
constexpr std::string_view short_name(ElementType type) { return format_info(type).short_name; }
constexpr int bytes_of(ElementType type) { return format_info(type).bytes(); }
constexpr bool is_float(ElementType type) { return format_info(type).is_float(); }
constexpr bool is_integer(ElementType type) {
  const TypeClass c = format_info(type).type_class;
  return c == TypeClass::Int || c == TypeClass::Uint;
}
constexpr bool is_float8(ElementType type) { return is_float(type) && bytes_of(type) == 1; }

// The type with this number in plan.proto, or nothing.
constexpr std::optional<ElementType> element_type_from_number(int64_t number) {
  if (number < 1 || number > kElementTypeCount)
    return std::nullopt;
  return ElementType(number);
}

// The type that MLIR prints as `name` ("f8E4M3FN", "i1"), or nothing.
constexpr std::optional<ElementType> element_type_from_mlir_name(std::string_view name) {
  for (const FormatInfo &f : kFormats)
    if (is_valid(f.type) && f.mlir_name == name)
      return f.type;
  return std::nullopt;
}

// The type that policy files spell `name` ("e4m3", "bf16", "bool"), or nothing.
constexpr std::optional<ElementType> element_type_from_short_name(std::string_view name) {
  for (const FormatInfo &f : kFormats)
    if (is_valid(f.type) && f.short_name == name)
      return f.type;
  return std::nullopt;
}

// 2^e for -1074 <= e <= 1023, at compile time too.
constexpr double power_of_two(int e) {
  double p = 1;
  for (; e > 0; --e)
    p *= 2;
  for (; e < 0; ++e)
    p /= 2;
  return p;
}

constexpr double FormatInfo::min_normal() const {
  return power_of_two(specials == Specials::Exponent ? -bias : 1 - bias);
}
constexpr double FormatInfo::min_subnormal() const {
  return power_of_two(specials == Specials::Exponent ? -bias : 1 - bias - mantissa_bits);
}
constexpr double FormatInfo::max_value() const {
  switch (type_class) {
  case TypeClass::Float: {
    const int exponent = int(max_code() >> mantissa_bits);
    const uint64_t mantissa = max_code() & ((uint64_t{1} << mantissa_bits) - 1);
    return (1 + double(mantissa) / power_of_two(mantissa_bits)) * power_of_two(exponent - bias);
  }
  case TypeClass::Int:
    return double((uint64_t{1} << (bits - 1)) - 1);
  case TypeClass::Uint:
    return double(bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1);
  case TypeClass::Bool:
    return 1;
  case TypeClass::Invalid:
    break;
  }
  return 0;
}
constexpr double FormatInfo::min_value() const {
  switch (type_class) {
  case TypeClass::Float:
    return specials == Specials::Exponent ? min_normal() : -max_value();
  case TypeClass::Int:
    return -power_of_two(bits - 1);
  default:
    return 0;
  }
}

} // namespace quaver
