// Exact arithmetic on binary floating-point numbers, and rounding to any format in any direction. It never
// touches the processor's rounding mode. Sums and products carry up to 126 bits and a sticky bit ("jam": the
// lowest bit stands for everything below it), as in Hauser's SoftFloat; the argument why that rounds right is
// beside `add`.
#pragma once
#include <cstdint>

namespace quaver::sim {

enum class Rounding : uint8_t {
  kNearest,     // ties to even: .rn
  kZero,        // .rz
  kDown,        // .rm
  kUp,          // .rp
  kNearestAway, // ties away from zero: .rna
};

/// Sign, exponent, mantissa; of at most 64 bits together.
struct FloatFormat {
  int exponent_bits, mantissa_bits;
  bool has_infinity = true; // false: E4M3, whose largest code is NaN and overflow saturates
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
inline constexpr FloatFormat kF64Format{11, 52}, kF32Format{8, 23}, kTf32Format{8, 10}, kF16Format{5, 10},
    kBf16Format{8, 7};

/// (-1)^negative * mantissa * 2^exponent.
struct ExactNumber {
  enum class Kind : uint8_t { kFinite, kInfinite, kNan };
  Kind kind = Kind::kFinite;
  bool negative = false;
  int exponent = 0;
  unsigned __int128 mantissa = 0; // kFinite; 0: zero
};

/// Value of a code of the format.
ExactNumber unpack(uint64_t code, FloatFormat format);
ExactNumber from_integer(uint64_t magnitude, bool negative);
/// Nearest code of the format in the direction. NaN: all ones but for the sign (PTX's canonical NaN).
/// Overflow goes to infinity or the largest finite value, as the direction says (IEEE 754, 7.4).
uint64_t round_to(ExactNumber x, FloatFormat format, Rounding rounding);
/// Nearest integer in the direction, as an exact number.
ExactNumber round_to_integer(ExactNumber x, Rounding rounding);

/// Operands have at most 106 significant bits (a product of two doubles), one of them at most 53. A sum that
/// is exactly zero is -0 if both are, or if rounding down, else +0.
ExactNumber add(ExactNumber a, ExactNumber b, Rounding rounding);
/// At most 53 significant bits each.
ExactNumber multiply(ExactNumber a, ExactNumber b);
ExactNumber divide(ExactNumber a, ExactNumber b);
ExactNumber square_root(ExactNumber a);

} // namespace quaver::sim
