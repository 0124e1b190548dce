// What launches with counters or race detection do at each memory access of a warp.
#pragma once
#include "runtime/drivers/sim/machine/context.h"

namespace quaver::sim {

enum class AccessKind : uint8_t { kLoad, kStore, kAtomic };

/// After the access has been found to be valid. `bytes` of each lane of c.mask. kFault: a race was recorded.
Outcome observe_access(Context &c, const Instruction &in, ptx::Space space, const uint64_t addresses[kLanes],
                       uint32_t bytes, AccessKind kind);

} // namespace quaver::sim
