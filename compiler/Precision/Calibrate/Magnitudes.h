// How large the values of a tensor are: counts of |x| in bins of a logarithmic scale, and the ranges that
// follow from them. Pure functions and plain data, without IR.
#pragma once
#include "compiler/Precision/Policy/Policy.h"
#include "runtime/base/status.h"
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quaver::precision {

/// Counts of |x|. A bin is a power of two split evenly into 2^mantissaBits parts: with 7, bins are the
/// neighbours of BF16, at most 0.8 % wide. Zeros, NaN and Inf are counted apart. Counts do not depend on the
/// order of additions and merges.
class Magnitudes {
public:
  static constexpr int kFineBits = 7, kCoarseBits = 3; // of a tensor, of one of its channels
  /// mantissaBits: 0 to 7.
  explicit Magnitudes(int mantissaBits = kFineBits) : mantissaBits(mantissaBits) {}

  void add(float x);
  void add(std::span<const float> values);
  /// Both must have been made with as many mantissa bits.
  void merge(const Magnitudes &other);

  uint64_t getFinite() const { return finite; } // zeros included
  uint64_t getZeros() const { return zeros; }
  uint64_t getNans() const { return nans; }
  uint64_t getInfs() const { return infs; }
  /// Largest finite |x|, exact; 0 if there is none but zeros.
  float getLargest() const { return largest; }

  /// A bin that is not empty holds |x| in [low, high).
  struct Bin {
    double low, high;
    uint64_t count;
  };
  /// In rising order.
  std::vector<Bin> getBins() const;
  /// The smallest edge of a bin, or the largest |x|, that at least `share` (0 to 1) of all finite values do
  /// not exceed; 0 where zeros suffice.
  double quantile(double share) const;
  /// Share of the finite values whose bins have their middle above `range`.
  double shareAbove(double range) const;

private:
  int mantissaBits;
  uint64_t finite = 0, zeros = 0, nans = 0, infs = 0;
  float largest = 0;
  uint32_t first = 0;           // the bin of counts[0]: bits of the float without its low mantissa bits
  std::vector<uint64_t> counts; // whole powers of two, without a gap
};

/// Adds each element of a row-major tensor to the counts of its channel: its position along `axis`.
/// `channels` is empty (it is made then) or has one entry a channel.
Status addChannels(std::vector<Magnitudes> &channels, std::span<const float> values,
                   std::span<const int64_t> shape, int64_t axis);

/// How a range follows from magnitudes.
struct Method {
  enum class Kind {
    AbsMax,     // the largest value: nothing saturates
    Percentile, // that share of all values does not exceed it
    Mse,        // the least mean squared error of the quantized values
    Entropy,    // the least Kullback-Leibler divergence of the quantized distribution
  };
  Kind kind = Kind::AbsMax;
  double percentile = 99.99; // above 0, at most 100
};
/// "absmax", "percentile" (99.99), "percentile:99.9", "mse", "entropy".
StatusOr<Method> parseMethod(const std::string &text);
std::string nameOf(const Method &method);

/// The magnitude that becomes the largest value of `format` (an FP8 format), never above the largest that was
/// seen; 0 if nothing but zeros was seen. Mse and Entropy try eight ranges an octave (the
/// largest value over 2^(i/8)) over 8 octaves; of equals the largest range wins.
///
/// Mse: each bin stands for its middle, quantized by runtime/numerics with scale range / max.
/// Entropy: p is the distribution over bins with what lies above the range moved into the last bin below it;
/// q has, for each FP8 code, the mass of the bins that it renders (without what lies above) spread evenly
/// over those of them that are not empty. The divergence is sum p log(p / q).
double rangeOf(const Magnitudes &magnitudes, const Method &method, Format format);

} // namespace quaver::precision
