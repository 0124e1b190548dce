// The first op, in execution order, whose error exceeds a bound.
#pragma once
#include "runtime/base/status.h"
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace quaver::compare {

/// A bound on a node's error against the reference.
struct Bound {
  std::optional<double> sqnr;     // decibels: less exceeds it
  std::optional<double> maxError; // absolute: more exceeds it
  std::string text;               // as written

  /// For values compared over an entry of a report's "ops". What is not finite exceeds every bound.
  bool isExceeded(const nlohmann::json &sqnrOrNull, double error, bool hasNotFinite) const;
};

/// "sqnr=30dB" (or "sqnr=30"), "max=1e-2".
StatusOr<Bound> parseBound(const std::string &text);

/// {"bound", "found"}: found is the op of the report's "ops" that comes first in execution among those whose
/// error exceeds the bound, with "own_exceeds" (its own error does so too; else the error came with its
/// inputs), or null.
nlohmann::json bisect(const nlohmann::json &ops, const Bound &bound);

} // namespace quaver::compare
