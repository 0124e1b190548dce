// Expressions of a plan as text.
#pragma once
#include "runtime/plan/plan.pb.h"
#include <string>

namespace quaver::plan {

/// `batch * seq * 4 + 64`; long ones are cut at `max_length` with "...".
std::string print_expr(const Plan &plan, uint32_t expr, size_t max_length = 400);

} // namespace quaver::plan
