// Every instruction that the machine knows. A group of instructions is one file in instructions/ that defines
// a table with a row an opcode, and one line in instruction_table.cpp.
#pragma once
#include "runtime/drivers/sim/machine/decoder.h"
#include <span>
#include <string_view>

namespace quaver::sim {

struct InstructionFamily {
  std::string_view opcode; // "ld", "mma"; what follows the first dot are modifiers
  InstructionClass cls;    // default; decode may change out.cls
  /// Fills d.out: execute, operands, and the fields that execute reads.
  void (*decode)(Decoder &d);
  /// Rows of one opcode that differ in this first modifier ("" fits all): cp.async and cp.async.bulk, say.
  std::string_view first_modifier = "";
};

/// The row for an instruction, or nullptr.
const InstructionFamily *find_instruction(const ptx::Instruction &source);
/// All groups, for documentation and tests.
std::span<const std::span<const InstructionFamily>> instruction_groups();

} // namespace quaver::sim
