// The half of validation that needs numbers: placement of an entry's arena at sample sizes.
#pragma once
#include "runtime/base/status.h"
#include "runtime/plan/expr.h"
#include <vector>

namespace quaver::plan {

/// Expressions at a few values of the dimensions within their limits: the smallest, large ones, and all
/// different. Data-dependent dimensions stand at their bounds. The plan's structure must have been checked.
std::vector<ExprValues> sample_sizes(const Plan &plan);

/// Arena buffers lie at multiples of 64 within the arena, and two that are in use at the same time do not
/// overlap. Tried at those samples that the entry's checks accept; a size that is negative or unknown there
/// is left to the run, which checks every buffer against its memory.
Status check_arena(const Plan &plan, const Entry &entry, const std::vector<ExprValues> &samples);

} // namespace quaver::plan
