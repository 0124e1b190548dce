// Instructions that several lanes must reach before any executes: shfl.sync, bar.sync, mma.sync.
#pragma once
#include "runtime/drivers/sim/machine/context.h"

namespace quaver::sim {

/// The context's lanes have reached `in`, others of the warp have not: executes it when all that it needs are
/// there. kRetry: not yet. Lanes of other groups that wait at the same place join this group.
Outcome execute_converged(Context &c, const Instruction &in);
/// Executes an instruction with member masks for lanes that are all there: set by set.
Outcome execute_members(Context &c, const Instruction &in);
/// "0-15, 20"
std::string lanes_text(LaneMask lanes);
/// All groups of the block wait: records the fault that says who waits where for whom.
void report_stuck(Block &block);

} // namespace quaver::sim
