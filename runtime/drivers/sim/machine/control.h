// What the scheduler must know of control instructions.
#pragma once
#include "runtime/drivers/sim/machine/instruction.h"

namespace quaver::sim {

enum class ControlKind : uint8_t {
  kNone,       // goes on with the next instruction
  kBranch,     // bra
  kBranchList, // brx.idx
  kCall,       // ends a block, so that lanes that return one by one meet behind it
  kEnd,        // ret, exit, trap
};
/// By the instruction's handler.
ControlKind control_kind(const Instruction &in);

} // namespace quaver::sim
