// The rules that PTX adds to IEEE 754, section 9.7.3: canonical NaNs, .ftz, .sat.
#pragma once
#include "runtime/drivers/sim/machine/decoder.h"
#include "runtime/drivers/sim/machine/softfloat.h"
#include <bit>
#include <cmath>
#include <cstdint>

namespace quaver::sim {

template <class T> struct FloatRules;
template <> struct FloatRules<float> {
  using Bits = uint32_t;
  static constexpr FloatFormat kFormat = kF32Format;
  static constexpr Bits kNan = 0x7fffffff, kExponent = 0x7f800000, kSign = 0x80000000;
};
template <> struct FloatRules<double> {
  using Bits = uint64_t;
  static constexpr FloatFormat kFormat = kF64Format;
  static constexpr Bits kNan = 0x7ff8000000000000, kExponent = 0x7ff0000000000000, kSign = 0x8000000000000000;
};

/// NaN results of single precision are one code; of double precision the ISA says nothing, and this machine
/// does the same.
template <class T> T canonical(T x) { return x != x ? std::bit_cast<T>(FloatRules<T>::kNan) : x; }

/// Subnormals become zeros of their sign.
template <class T> T flushed(T x) {
  using R = FloatRules<T>;
  const auto bits = std::bit_cast<typename R::Bits>(x);
  return bits & R::kExponent ? x : std::bit_cast<T>(typename R::Bits(bits & R::kSign));
}

/// .sat: to [0, 1]; NaN and -0 give +0.
template <class T> T saturated(T x) { return x > T(0) ? (x < T(1) ? x : T(1)) : T(0); }

template <class T> ExactNumber exact(T x) {
  return unpack(std::bit_cast<typename FloatRules<T>::Bits>(x), FloatRules<T>::kFormat);
}
template <class T> T rounded(ExactNumber x, Rounding rounding) {
  return std::bit_cast<T>(typename FloatRules<T>::Bits(round_to(x, FloatRules<T>::kFormat, rounding)));
}

/// p + c with the lowest bit of the double sticky (round to odd): a later rounding to at most 51 bits is the
/// rounding of the exact sum. Source: Boldo, Melquiond, "Emulation of FMA and correctly rounded sums", 2008.
inline double sum_to_odd(double p, double c) {
  const double s = p + c;
  if (!std::isfinite(s))
    return s;
  const double b = s - p, error = (p - (s - b)) + (c - b); // TwoSum (Knuth)
  const uint64_t bits = std::bit_cast<uint64_t>(s);
  if (error == 0 || bits & 1)
    return s;
  // One step towards the error: the neighbour is odd.
  const bool away = (error > 0) == (s > 0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

/// Modifiers .rn .rz .rm .rp; `otherwise` if none is there.
inline Rounding take_rounding(Decoder &d, Rounding otherwise = Rounding::kNearest) {
  const int i = d.take_one({"rn", "rz", "rm", "rp"});
  return i < 0 ? otherwise : Rounding(i);
}

// How the modifiers of a float instruction lie in Instruction::variant.
inline constexpr uint64_t kRoundingBits = 7, kFtz = 8, kSat = 16;
inline Rounding rounding_of(const Instruction &in) { return Rounding(in.variant & kRoundingBits); }

} // namespace quaver::sim
