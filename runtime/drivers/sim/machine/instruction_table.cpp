//===- instruction_table.cpp - every instruction that the machine knows -----===//
#include "runtime/drivers/sim/machine/instruction_table.h"

#include "runtime/drivers/sim/machine/instructions/instruction_groups.h"

#include <unordered_map>
#include <vector>

namespace quaver::sim {

std::span<const std::span<const InstructionFamily>> instruction_groups() {
  static const std::span<const InstructionFamily> kGroups[] = {
      arithmetic_instructions(),
      integer_instructions(),
      bit_instructions(),
      logic_instructions(),
      compare_instructions(),
      move_instructions(),
      load_store_instructions(),
      control_instructions(),
      barrier_instructions(),
      float_instructions(),
      special_function_instructions(),
      convert_instructions(),
      warp_instructions(),
      atomic_instructions(),
      mma_instructions(),
      wmma_instructions(),
      wgmma_instructions(),
      matrix_move_instructions(),
      async_copy_instructions(),
      mbarrier_instructions(),
  };
  return kGroups;
}

const InstructionFamily *find_instruction(const ptx::Instruction &source) {
  static const auto rows = [] {
    std::unordered_map<std::string_view, std::vector<const InstructionFamily *>> all;
    for (const auto &group : instruction_groups())
      for (const InstructionFamily &row : group)
        all[row.opcode].push_back(&row);
    return all;
  }();
  const auto at = rows.find(source.opcode);
  if (at == rows.end())
    return nullptr;
  const InstructionFamily *general = nullptr;
  for (const InstructionFamily *row : at->second) {
    if (row->first_modifier.empty())
      general = row;
    else if (!source.modifiers.empty() && source.modifiers.front() == row->first_modifier)
      return row;
  }
  return general;
}

} // namespace quaver::sim
