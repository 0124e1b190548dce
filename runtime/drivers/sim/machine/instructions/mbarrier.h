// mbarrier objects. PTX ISA 9.0, section 9.7.13.15. The 64-bit word in shared memory is opaque; here it names
// the object, whose state the block keeps.
#pragma once
#include "runtime/drivers/sim/machine/context.h"
#include "runtime/drivers/sim/machine/instructions/pending_copies.h"
#include <map>

namespace quaver::sim {

struct Mbarrier {
  uint32_t expected = 0;    // arrivals of a phase
  uint32_t pending = 0;     // of them still missing
  int64_t transactions = 0; // bytes expected and not yet there
  uint64_t phase = 0;       // number of the one under way
  PendingCopies copies;     // arrive in the phase under way
  PendingCopies arrived;    // of phases that are complete; known once somebody has waited
};

/// The live barrier at a shared address (an address of .shared or a generic one); nullptr: a fault was
/// recorded.
Mbarrier *find_mbarrier(Context &c, const Instruction &in, uint64_t address, int lane);
/// `count` arrivals of one lane. False: a fault was recorded.
bool arrive_at(Context &c, const Instruction &in, Mbarrier &b, uint32_t count, int lane);
/// Bytes that are expected (positive) or have come (negative).
bool add_transactions(Context &c, const Instruction &in, Mbarrier &b, int64_t bytes, int lane);

} // namespace quaver::sim
