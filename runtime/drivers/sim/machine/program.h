// The decoded code of one kernel and of the functions that it reaches.
#pragma once
#include "runtime/drivers/sim/machine/instruction.h"
#include "runtime/drivers/sim/machine/module.h"
#include "runtime/drivers/sim/ptx/ast.h"
#include <memory>
#include <string>
#include <vector>

namespace quaver::sim {

/// Position of "returned": where groups meet that reach a function's end on different ways.
inline constexpr uint32_t kReturnPosition = ~uint32_t{0};
/// Values of function addresses: kFunctionWindow + index in the syntax tree's functions.
inline constexpr uint64_t kFunctionWindow = uint64_t{4} << 40;

/// A parameter or result of a function, or what a call passes for it: a register (or constant), or bytes of
/// the thread's local memory.
struct Passed {
  bool in_local = false;
  Operand value;      // not in_local
  uint32_t local = 0; // in_local: offset from the activation's local base
  uint32_t bytes = 0;
};

struct FunctionCode {
  std::string name;
  uint32_t tree_index = 0; // in ptx::Module::functions
  uint32_t begin = 0, end = 0;
  uint32_t frame_bytes = 0;
  uint32_t local_bytes = 0; // variables and parameters in local memory, a multiple of 16
  std::vector<Passed> parameters, results;
  /// Registers that hold the address of a local variable: filled when the function is entered.
  struct LocalAddress {
    uint32_t slot = 0, offset = 0;
  };
  std::vector<LocalAddress> local_addresses;
};

/// What a call needs beyond its target: Instruction::extra of `call`.
struct CallSite {
  int function = -1; // in Program::functions; -1: the address is in operand 0
  std::vector<Passed> arguments, results;
};

/// A constant that depends on where the module is loaded.
struct Relocation {
  uint32_t pool_offset = 0; // of 32 lanes of 8 bytes
  uint32_t symbol = 0;      // in LoadedModule::symbols()
  int64_t addend = 0;
};

struct SharedVariable {
  std::string name;
  uint32_t address = 0;
  uint64_t bytes = 0;
};

struct Program {
  std::shared_ptr<const void> owner; // the module's tree, which `source` pointers point into
  KernelInfo kernel;
  std::vector<Instruction> code;
  std::vector<FunctionCode> functions; // [0]: the kernel
  std::vector<int> function_of_tree;   // tree index -> index in functions, or -1
  std::vector<uint32_t> function_of;   // position -> index in functions
  /// Of each position that ends a block: where its ways meet again (kReturnPosition: at the function's end).
  std::vector<uint32_t> meets_at;
  std::vector<uint8_t> constants; // each 32 lanes, 64-byte aligned offsets
  std::vector<Relocation> relocations;
  std::vector<uint32_t> special_rows; // special registers that it reads
  uint32_t static_shared_bytes = 0;   // as a GPU counts them
  /// Bytes before dynamic shared memory here: between the variables are gaps, so that an access past the end
  /// of one does not land in another.
  uint32_t dynamic_shared_offset = 0;
  std::vector<SharedVariable> shared_variables; // by address
  std::vector<std::unique_ptr<Operand[]>> operand_blocks;
  std::vector<std::shared_ptr<const void>> kept;
};

/// Fills `is_leader` and `meets_at` of a function: basic blocks and immediate post-dominators (Cooper,
/// Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph).
void find_meeting_points(Program &program, const FunctionCode &function);

/// Positions to which a branch may go: of bra its target, of brx.idx all of its list.
struct BranchTargets {
  std::vector<uint32_t> positions;
};

} // namespace quaver::sim
