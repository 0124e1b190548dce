// Checks a whole plan before anything in it is used.
#pragma once
#include "runtime/base/status.h"
#include "runtime/plan/plan.pb.h"

namespace quaver::plan {

/// Every index is in range, every expression uses smaller indices than its own, enums are known, constants
/// neither overflow nor are negative where a size is meant, blocks are not nested too deep, names are unique,
/// required features are known, constant ranges lie within their buffers. Arenas are tried at a few sizes:
/// aligned, within the arena, and nothing overlaps that is in use at the same time. The error says which part
/// of the plan breaks which rule. What only a run can know (other sizes, bindings against buffers) is checked
/// there.
Status validate(const Plan &plan);

} // namespace quaver::plan
