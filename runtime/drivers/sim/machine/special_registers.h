// %tid, %laneid and their kin. Source: PTX ISA 9.0, chapter 10.
#pragma once
#include "runtime/drivers/sim/machine/block.h"
#include <optional>
#include <string_view>

namespace quaver::sim {

/// Operand of a special register ("%tid", component "x"), or nothing if there is none of that name.
std::optional<Operand> special_register(std::string_view name, std::string_view component);

/// Bytes of a warp's special registers.
size_t special_register_bytes();
/// The number of a special register's operand, for Program::special_rows.
uint32_t special_row(const Operand &operand);
/// Fills the lanes of the special registers that the program reads.
void set_special_registers(const Block &block, Warp &warp);
/// Sets %clock and %clock64 to the warp's steps.
void set_clocks(const Block &block, Warp &warp);

} // namespace quaver::sim
