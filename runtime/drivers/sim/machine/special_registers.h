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
/// Fills the lanes of all special registers of a warp.
void set_special_registers(const Block &block, Warp &warp);
/// Sets %clock and %clock64 to the warp's steps.
void set_clocks(const Block &block, Warp &warp);

} // namespace quaver::sim
