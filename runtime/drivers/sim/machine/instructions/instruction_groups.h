// The groups of instructions: one function a file of this folder.
#pragma once
#include "runtime/drivers/sim/machine/instruction_table.h"

namespace quaver::sim {

std::span<const InstructionFamily> arithmetic_instructions(); // add, mul, ...: integer or float by their type
std::span<const InstructionFamily> integer_instructions();
std::span<const InstructionFamily> bit_instructions();
std::span<const InstructionFamily> logic_instructions();
std::span<const InstructionFamily> compare_instructions();
std::span<const InstructionFamily> move_instructions();
std::span<const InstructionFamily> load_store_instructions();
std::span<const InstructionFamily> control_instructions();
std::span<const InstructionFamily> barrier_instructions();
std::span<const InstructionFamily> warp_instructions();
std::span<const InstructionFamily> atomic_instructions();
std::span<const InstructionFamily> float_instructions();
std::span<const InstructionFamily> special_function_instructions();
std::span<const InstructionFamily> convert_instructions();
std::span<const InstructionFamily> mma_instructions();
std::span<const InstructionFamily> wmma_instructions();
std::span<const InstructionFamily> wgmma_instructions();
std::span<const InstructionFamily> matrix_move_instructions();
std::span<const InstructionFamily> async_copy_instructions();
std::span<const InstructionFamily> mbarrier_instructions();

// The integer forms of opcodes that have float forms too; arithmetic.cpp chooses by the type.
void decode_integer_add(Decoder &d, bool subtract);
void decode_integer_mul(Decoder &d);
void decode_integer_mad(Decoder &d);
void decode_integer_min_max(Decoder &d, bool maximum);
void decode_integer_abs(Decoder &d);
void decode_integer_neg(Decoder &d);
void decode_integer_div(Decoder &d);
// Their forms of f32 and f64; the type has been taken.
void decode_float_add(Decoder &d, ptx::Type type, bool subtract);
void decode_float_mul(Decoder &d, ptx::Type type);
void decode_float_fma(Decoder &d, ptx::Type type);
void decode_float_div(Decoder &d, ptx::Type type);
void decode_float_min_max(Decoder &d, ptx::Type type, bool maximum);
void decode_float_sign(Decoder &d, ptx::Type type, bool negate);
// Their forms of f16, bf16 and pairs of them; the type has been taken.
enum class HalfOperation : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kMultiplyAdd,
  kMinimum,
  kMaximum,
  kAbsolute,
  kNegate
};
void decode_half_arithmetic(Decoder &d, ptx::Type type, HalfOperation operation);

} // namespace quaver::sim
