// A slow second opinion on every float format: all finite values sorted in a table of doubles, nearest by
// search. Shares no code with the codec; the formats are written down again.
#pragma once

#include "runtime/numerics/codec.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace quaver::reference {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Format {
  ElementType type;
  int bits, exponent_bits, mantissa_bits, bias;
  bool has_inf, is_fnuz;
};
inline const Format kFormats[] = {
    {ElementType::F8E4M3FN, 8, 4, 3, 7, false, false},  {ElementType::F8E5M2, 8, 5, 2, 15, true, false},
    {ElementType::F8E4M3FNUZ, 8, 4, 3, 8, false, true}, {ElementType::F8E5M2FNUZ, 8, 5, 2, 16, false, true},
    {ElementType::BF16, 16, 8, 7, 127, true, false},    {ElementType::F16, 16, 5, 10, 15, true, false},
};

inline double decode(const Format &f, uint32_t code) {
  const uint32_t sign = code >> (f.bits - 1), magnitude = code & ((1u << (f.bits - 1)) - 1);
  const int exponent = int(magnitude >> f.mantissa_bits), top = (1 << f.exponent_bits) - 1;
  const int mantissa = int(magnitude & ((1u << f.mantissa_bits) - 1)), ones = (1 << f.mantissa_bits) - 1;
  if (f.is_fnuz && sign && magnitude == 0)
    return kNan;
  if (f.has_inf && exponent == top)
    return mantissa ? kNan : sign ? -kInf : kInf;
  if (!f.has_inf && !f.is_fnuz && exponent == top && mantissa == ones)
    return kNan;
  const double value = exponent
                           ? std::ldexp(1.0 + mantissa / std::ldexp(1.0, f.mantissa_bits), exponent - f.bias)
                           : std::ldexp(double(mantissa), 1 - f.bias - f.mantissa_bits);
  return sign ? -value : value;
}

// Finds codes by searching the non-negative values. One slot above the largest finite value stands for what
// would come next, so that "round first, then compare" is literally a search.
class Encoder {
public:
  explicit Encoder(const Format &f) : f_(f) {
    for (uint32_t code = 0; code < 1u << (f.bits - 1); ++code) {
      const double v = decode(f, code);
      if (std::isfinite(v))
        values_.push_back(v);
    }
    const size_t n = values_.size();
    values_.push_back(values_[n - 1] + (values_[n - 1] - values_[n - 2]));
    // E4M3FNUZ 240 and others fill their binade: the next step is then the same size, as taken here.
  }
  size_t count() const { return values_.size() - 1; }
  double value(size_t i) const { return values_[i]; } // i == count(): the first value that overflows

  uint32_t encode(double x, CastPolicy policy) const {
    const uint32_t sign = std::signbit(x) ? 1u << (f_.bits - 1) : 0, inf = uint32_t(count());
    const bool saturate = f_.bits == 8 && policy.overflow == Overflow::Saturate;
    if (std::isnan(x))
      return nan(sign);
    const double a = std::fabs(x);
    if (!std::isfinite(a) || a >= values_.back() || nearest(a) == count()) {
      if (saturate && !std::isfinite(a) && f_.is_fnuz && policy.fnuz_inf == FnuzInf::NaN)
        return nan(sign);
      if (saturate)
        return sign | uint32_t(count() - 1);
      return f_.has_inf ? sign | inf : nan(sign);
    }
    const uint32_t code = uint32_t(nearest(a));
    return f_.is_fnuz && code == 0 ? 0 : sign | code;
  }

private:
  uint32_t nan(uint32_t sign) const {
    if (f_.is_fnuz)
      return 0x80;
    if (f_.bits == 8)
      return sign | 0x7F;
    return sign | (f_.type == ElementType::BF16 ? 0x7FC0 : 0x7E00);
  }
  size_t nearest(double a) const {
    const size_t above = size_t(std::lower_bound(values_.begin(), values_.end(), a) - values_.begin());
    if (above == 0 || values_[above] == a)
      return above;
    const double down = a - values_[above - 1],
                 up = values_[above] - a; // exact: neighbours within a factor of two
    if (down != up)
      return down < up ? above - 1 : above;
    return above % 2 == 0 ? above : above - 1;
  }
  Format f_;
  std::vector<double> values_;
};

} // namespace quaver::reference
