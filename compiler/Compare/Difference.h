// How far values lie from their reference, accumulated over tensors and runs.
#pragma once
#include "compiler/Interpreter/Tensor.h"
#include <nlohmann/json.hpp>

namespace quaver::compare {

/// Sums over all pairs of elements added so far. Elements that are not finite on either side count in
/// `notFinite` where they differ, and nowhere else.
struct Difference {
  double signal = 0, noise = 0;        // sums of reference^2 and (reference - value)^2
  double maxError = 0, magnitude = 0;  // largest |reference - value| and |reference|
  int64_t elements = 0, notFinite = 0; // pairs added; pairs that are not finite and differ

  /// Both of one shape; any types.
  void add(const interpreter::Tensor &reference, const interpreter::Tensor &value);
  void merge(const Difference &other);
  bool isExact() const { return noise == 0 && notFinite == 0; }
  /// 10 log10(signal / noise); nullopt when nothing differs, -300 where the reference is all zeros.
  std::optional<double> sqnr() const;
};

/// The ratio as JSON: null when nothing differs.
nlohmann::json decibels(const Difference &d);
/// {"sqnr_db", "max_error", "magnitude", "not_finite"}.
nlohmann::json describe(const Difference &d);

} // namespace quaver::compare
