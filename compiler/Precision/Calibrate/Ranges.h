// What calibrating found out, as a small file that people read and reuse.
#pragma once
#include "compiler/Precision/Calibrate/Magnitudes.h"

namespace quaver::precision {

/// The range of one value that a product reads.
struct TensorRange {
  std::string name;       // "NODE:lhs" or "NODE:rhs": an operand of that node's product
  double range = 0;       // |x| that becomes the format's largest value; 0: nothing but zeros was seen (dead)
  double largest = 0;     // largest |x| that was seen
  double typical = 0;     // 99.9 % of the values do not exceed it
  double outlying = 0;    // share of the values beyond the range: they saturate
  uint64_t notFinite = 0; // values that were NaN or Inf, which no range counts
  std::vector<double> channels; // ranges along the dimension that is summed over; may be empty
};

/// A range file:
///   format: e4m3
///   method: percentile:99.99
///   runs: 8
///   tensors:
///     - name: "/layer/query/MatMul:lhs"
///       range: 3.25
///       largest: 4.5
///       ...
/// `name` and `range` are needed, the rest may be left out of files written by hand.
struct Ranges {
  std::string file; // where it was read from or is written to, for messages
  Format format = Format::E4M3;
  Method method;
  int64_t runs = 0;
  std::vector<TensorRange> tensors; // by name, none twice

  /// Null where the name was not calibrated.
  const TensorRange *find(const std::string &name) const;
};

/// The range and its statistics that follow from what was counted; `channels` may be empty.
TensorRange rangeFrom(const std::string &name, const Magnitudes &values,
                      const std::vector<Magnitudes> &channels, const Method &method, Format format);

std::string textOf(const Ranges &ranges);
/// Errors are one clause `NAME:LINE: key: what, and what is allowed`.
StatusOr<Ranges> parseRanges(const std::string &text, const std::string &name);
StatusOr<Ranges> loadRanges(const std::string &path);
/// Writes the whole file or nothing.
Status saveRanges(const Ranges &ranges, const std::string &path);

/// The scale of a range by runtime/numerics: range / largest value of the format; 1 for a dead one.
float scaleOf(double range, Format format);

/// What is suspicious, one sentence each: name, value, remedy. Dead ranges, values that were NaN or Inf,
/// scales that would be subnormal, outliers that leave few codes to all other values, dead channels.
std::vector<std::string> lintRanges(const Ranges &ranges);

} // namespace quaver::precision
