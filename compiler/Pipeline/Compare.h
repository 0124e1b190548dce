// Where a precision loses accuracy: every node's value against the model as its file says it.
#pragma once
#include "compiler/Pipeline/Pipeline.h"
#include <nlohmann/json.hpp>

namespace quaver::pipeline {

/// Runs the model twice in the interpreter, as the file says (`source`) and with options.precision, on the
/// same inputs.
///
/// `inputs`: "name=spec" texts as quaver-interpret reads them ("x=@x.npy", "x=1x128xi64=rand(0,32000)"). An
/// input without one is made up from `seed`: floats normal(0, 1), indices of an embedding within its rows,
/// other integers and bools 1; a size that is a symbol is 1 if it is the first of its input, else 16, within
/// its range.
///
/// Returns {"model", "precision", "ops": [...], "outputs": [...]}, ops sorted by SQNR, worst first. One op:
/// {"node", "op", "sqnr_db" (null: equal bits), "max_error" (largest |difference|), "magnitude" (largest
/// |reference|), "elements", "type"}. SQNR = 10 log10(sum reference^2 / sum (reference - value)^2), over the
/// elements that are finite in both; "not_finite" counts the rest where they differ.
StatusOr<nlohmann::json> compare(const CompileOptions &options, const std::vector<std::string> &inputs,
                                 uint64_t seed, const Progress &progress);

} // namespace quaver::pipeline
