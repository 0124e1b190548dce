// A decoded instruction: what the machine executes.
#pragma once
#include "runtime/drivers/sim/machine/counters.h"
#include "runtime/drivers/sim/ptx/ast.h"
#include <cstdint>

namespace quaver::sim {

inline constexpr int kLanes = 32;
/// Bit i: lane i of a warp.
using LaneMask = uint32_t;
inline constexpr LaneMask kAllLanes = ~LaneMask{0};

class Context;
struct Instruction;

enum class Outcome : uint8_t {
  kNext,  // go on with the following instruction
  kJump,  // the handler has set the group's position
  kRetry, // nothing was done: execute it again when another group has made progress. All groups of a block in
          // this state is a deadlock
  kFault, // Context::fault was called
};
using Execute = Outcome (*)(Context &, const Instruction &);

/// Where the lanes of a value lie: `bytes` each, 32 in a row, at `offset` from one of three bases. A
/// predicate is one LaneMask.
struct Operand {
  enum class Base : uint8_t { kFrame /* registers */, kConstant, kSpecial /* %tid.x and the like */ };
  Base base = Base::kConstant;
  uint8_t bytes = 0; // of a lane: 1, 2, 4, 8, 16; 0: a predicate
  bool negated = false;
  bool is_sink = false; // `_`: written values are dropped
  uint32_t offset = 0;
};

/// Which lanes must have reached an instruction before any executes it.
enum class Convergence : uint8_t {
  kNone,
  kMembers, // those that the operand `members` names (shfl.sync); each lane's set is executed as a whole
  kWarp,    // all that have not exited (bar.sync, mma.sync: `.aligned`)
};

struct Instruction {
  Execute execute = nullptr;
  const Operand *operands = nullptr; // as in the text, vectors flattened, results first
  uint16_t operand_count = 0;
  uint16_t results = 0;
  bool has_guard = false;
  bool is_leader = false; // first of a basic block: groups may meet here
  Operand guard;          // a predicate
  Convergence convergence = Convergence::kNone;
  InstructionClass cls = InstructionClass::kMove;
  ptx::Space space = ptx::Space::kGeneric; // of loads, stores, atomics
  uint8_t element_bytes = 0;               // of one element in memory
  uint8_t elements = 1;                    // .v2, .v4
  uint16_t members = 0;                    // operand index, of kMembers
  uint32_t target = 0;                     // of branches and calls: position in Program::code
  int64_t offset = 0;                      // [register + offset]
  uint64_t variant = 0;                    // the handler's own
  const void *extra = nullptr;             // the handler's own, kept alive by the Program (Decoder::keep)
  const ptx::Instruction *source = nullptr;
};

} // namespace quaver::sim
