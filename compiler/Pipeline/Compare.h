// Where a precision loses accuracy: every node's value against the model as its file says it.
#pragma once
#include "compiler/Compare/Bound.h"
#include "compiler/Pipeline/Pipeline.h"
#include <nlohmann/json.hpp>

namespace quaver::pipeline {

/// What is compared beside the model and its precision.
struct CompareOptions {
  /// "name=spec" texts as quaver-interpret reads them ("x=@x.npy", "x=1x128xi64=rand(0,32000)"); inputs
  /// without one are made up from `seed` (compiler/Interpreter/MadeUpInputs.h).
  std::vector<std::string> inputs;
  uint64_t seed = 0;
  int effects = 64; // nodes whose effect on the outputs is measured
  std::optional<compare::Bound> bound;
  std::string csv, html; // files that are written too, if named
};

/// Interprets the model as the file says (`source`) and with options.precision, on the same inputs. Returns
/// the JSON of compiler/Compare/CompareReport.h with "model", "precision" and,
/// where there is a bound, "bisect" (compiler/Compare/Bound.h).
StatusOr<nlohmann::json> compare(const CompileOptions &options, const CompareOptions &what,
                                 const Progress &progress);

} // namespace quaver::pipeline
