//===- input_shapes.h - from input shapes to dimension symbols --------------===//
#pragma once

#include "runtime/base/status.h"
#include "runtime/executor/entry_program.h"
#include "runtime/executor/tensor.h"

#include <span>
#include <vector>

namespace quaver {

/// Puts `inputs` into the entry's order: out[i] is the tensor of input i. A missing, unknown or repeated name
/// is an error that lists what the entry takes.
Status match_inputs(const plan::Entry &entry, std::span<const RunInput> inputs,
                    std::vector<const TensorView *> *out_inputs);

/// Checks the number of dimensions of every input against the entry.
Status check_ranks(const plan::Entry &entry, std::span<const TensorView *const> inputs);

/// Checks element type, rank, bytes and alignment of every input against the entry.
Status check_inputs(const plan::Entry &entry, std::span<const TensorView *const> inputs);

/// Binds dimension symbols from the input shapes, checks their limits (min, max, multiple_of), evaluates all
/// sizes, and checks every other input dimension against its expression. Errors name input, dimension, got
/// and expected.
Status bind_input_shapes(const plan::Plan &plan, const EntryProgram &program,
                         std::span<const TensorView *const> inputs, SizeValues &values);

} // namespace quaver
