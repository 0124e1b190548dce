//===- softfloat.cpp - exact arithmetic and directed rounding ---------------===//
#include "runtime/drivers/sim/machine/softfloat.h"

#include <algorithm>
#include <utility>

namespace quaver::sim {
namespace {

using U128 = unsigned __int128;
using Kind = ExactNumber::Kind;

int top_bit(U128 x) { // of a nonzero number
  const uint64_t high = uint64_t(x >> 64);
  return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(uint64_t(x));
}

U128 shift_right_jam(U128 x, int n) {
  if (n <= 0)
    return x;
  if (n > 127)
    return x != 0;
  return (x >> n) | ((x & ((U128{1} << n) - 1)) != 0);
}

// Is a magnitude with `rest` of `unit` beyond the kept bits rounded up? rest in [0, unit).
bool rounds_up(bool odd, U128 rest, U128 half, bool negative, Rounding rounding) {
  switch (rounding) {
  case Rounding::kNearest:
    return rest > half || (rest == half && odd);
  case Rounding::kNearestAway:
    return rest >= half;
  case Rounding::kZero:
    return false;
  case Rounding::kDown:
    return negative && rest;
  case Rounding::kUp:
    return !negative && rest;
  }
  return false;
}

// mantissa * 2^exponent in units of 2^unit, rounded.
U128 in_units(const ExactNumber &x, int unit, Rounding rounding) {
  const int shift = unit - x.exponent;
  if (shift <= 0)
    return x.mantissa << -shift;
  if (shift > 127) // less than half a unit
    return rounds_up(false, 1, 2, x.negative, rounding);
  const U128 rest = x.mantissa & ((U128{1} << shift) - 1);
  const U128 kept = x.mantissa >> shift;
  return kept + rounds_up(kept & 1, rest, U128{1} << (shift - 1), x.negative, rounding);
}

ExactNumber normalized(ExactNumber x, int top) {
  const int shift = top - top_bit(x.mantissa);
  x.mantissa = shift >= 0 ? x.mantissa << shift : shift_right_jam(x.mantissa, -shift);
  x.exponent -= shift;
  return x;
}

ExactNumber nan() { return {Kind::kNan, false, 0, 0}; }

} // namespace

ExactNumber unpack(uint64_t code, FloatFormat f) {
  const uint64_t mantissa = code & ((uint64_t{1} << f.mantissa_bits) - 1);
  const int exponent_field = int(code >> f.mantissa_bits) & ((1 << f.exponent_bits) - 1);
  ExactNumber x;
  x.negative = code >> (f.exponent_bits + f.mantissa_bits) & 1;
  const int top_field = (1 << f.exponent_bits) - 1;
  if (exponent_field == top_field && f.has_infinity) {
    x.kind = mantissa ? Kind::kNan : Kind::kInfinite;
    return x;
  }
  if (exponent_field == top_field && mantissa == (uint64_t{1} << f.mantissa_bits) - 1)
    return nan();
  x.mantissa = exponent_field ? mantissa | uint64_t{1} << f.mantissa_bits : mantissa;
  x.exponent = std::max(exponent_field, 1) - f.bias() - f.mantissa_bits;
  return x;
}

ExactNumber from_integer(uint64_t magnitude, bool negative) {
  ExactNumber x;
  x.negative = negative;
  x.mantissa = magnitude;
  return x;
}

uint64_t round_to(ExactNumber x, FloatFormat f, Rounding rounding) {
  const uint64_t sign = uint64_t(x.negative) << (f.exponent_bits + f.mantissa_bits);
  const uint64_t all = (uint64_t{1} << (f.exponent_bits + f.mantissa_bits)) - 1;
  const uint64_t infinity = all - ((uint64_t{1} << f.mantissa_bits) - 1);
  if (x.kind == Kind::kNan)
    return all;
  if (x.kind == Kind::kInfinite)
    return sign | infinity;
  if (x.mantissa == 0)
    return sign;
  const int least = 1 - f.bias() - f.mantissa_bits; // exponent of the smallest subnormal
  const int unit = std::max(x.exponent + top_bit(x.mantissa) - f.mantissa_bits, least);
  // The hidden bit, and a carry out of the mantissa, add themselves into the exponent field.
  const U128 units = in_units(x, unit, rounding);
  const uint64_t code = (uint64_t(unit - least) << f.mantissa_bits) + uint64_t(units);
  if (unit - least < (1 << f.exponent_bits) && code < infinity)
    return sign | code;
  const bool to_infinity = rounding == Rounding::kNearest || rounding == Rounding::kNearestAway ||
                           (rounding == Rounding::kUp && !x.negative) ||
                           (rounding == Rounding::kDown && x.negative);
  return sign | (to_infinity ? infinity : infinity - 1);
}

ExactNumber round_to_integer(ExactNumber x, Rounding rounding) {
  if (x.kind != Kind::kFinite || x.mantissa == 0 || x.exponent >= 0)
    return x;
  x.mantissa = in_units(x, 0, rounding);
  x.exponent = 0;
  return x;
}

// Both are brought to top bit 125; the smaller is shifted right by the difference of exponents, with jam. A
// product has 106 bits, so the lowest 20 are zero and a shift up to 20 loses nothing: only then can a
// subtraction cancel more than one bit. After a longer shift the result keeps at least 124 bits, its lowest
// is sticky, and every format rounds to at most 53.
ExactNumber add(ExactNumber a, ExactNumber b, Rounding rounding) {
  if (a.kind == Kind::kNan || b.kind == Kind::kNan)
    return nan();
  if (a.kind == Kind::kInfinite)
    return b.kind == Kind::kInfinite && a.negative != b.negative ? nan() : a;
  if (b.kind == Kind::kInfinite)
    return b;
  if (a.mantissa == 0 && b.mantissa == 0) {
    a.negative = a.negative == b.negative ? a.negative : rounding == Rounding::kDown;
    return a;
  }
  if (a.mantissa == 0)
    return b;
  if (b.mantissa == 0)
    return a;
  a = normalized(a, 125);
  b = normalized(b, 125);
  if (a.exponent < b.exponent)
    std::swap(a, b);
  b.mantissa = shift_right_jam(b.mantissa, a.exponent - b.exponent);
  if (a.negative == b.negative) {
    a.mantissa += b.mantissa;
    return a;
  }
  if (a.mantissa == b.mantissa) {
    a.mantissa = 0;
    a.negative = rounding == Rounding::kDown;
    return a;
  }
  if (a.mantissa < b.mantissa) {
    a.mantissa = b.mantissa - a.mantissa;
    a.negative = b.negative;
  } else {
    a.mantissa -= b.mantissa;
  }
  return a;
}

ExactNumber multiply(ExactNumber a, ExactNumber b) {
  if (a.kind == Kind::kNan || b.kind == Kind::kNan)
    return nan();
  ExactNumber x;
  x.negative = a.negative != b.negative;
  if (a.kind == Kind::kInfinite || b.kind == Kind::kInfinite) {
    const bool zero = (a.kind == Kind::kFinite && !a.mantissa) || (b.kind == Kind::kFinite && !b.mantissa);
    x.kind = Kind::kInfinite;
    return zero ? nan() : x;
  }
  x.mantissa = a.mantissa * b.mantissa;
  x.exponent = a.exponent + b.exponent;
  return x;
}

ExactNumber divide(ExactNumber a, ExactNumber b) {
  if (a.kind == Kind::kNan || b.kind == Kind::kNan)
    return nan();
  ExactNumber x;
  x.negative = a.negative != b.negative;
  if (a.kind == Kind::kInfinite || b.kind == Kind::kInfinite) {
    if (a.kind == b.kind)
      return nan();
    x.kind = a.kind; // infinite, or finite and zero
    return x;
  }
  if (b.mantissa == 0) {
    x.kind = Kind::kInfinite;
    return a.mantissa ? x : nan();
  }
  if (a.mantissa == 0)
    return x;
  a = normalized(a, 126);
  b = normalized(b, 52);
  x.mantissa = a.mantissa / b.mantissa;
  x.mantissa |= a.mantissa % b.mantissa != 0;
  x.exponent = a.exponent - b.exponent;
  return x;
}

ExactNumber square_root(ExactNumber a) {
  if (a.kind == Kind::kNan || (a.negative && (a.kind == Kind::kInfinite || a.mantissa)))
    return nan();
  if (a.kind == Kind::kInfinite || a.mantissa == 0)
    return a;
  a = normalized(a, 125);
  if (a.exponent & 1) {
    a.mantissa <<= 1;
    --a.exponent;
  }
  U128 root = 0, left = a.mantissa;
  for (U128 bit = U128{1} << 126; bit; bit >>= 2) {
    if (left >= root + bit) {
      left -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  a.mantissa = root | (left != 0);
  a.exponent /= 2;
  return a;
}

} // namespace quaver::sim
