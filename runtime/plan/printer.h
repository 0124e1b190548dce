// A plan as a person reads it (`quaver inspect`), and as JSON. All of them want a valid plan.
#pragma once
#include "runtime/plan/artifact.h"
#include <string>

namespace quaver::plan {

/// Dimensions, weights in sum, targets, entries with inputs, outputs and peak memory; with `instructions`,
/// also kernels, buffers with their lifetimes (numbers of the first and last instruction that use them), and
/// the whole program.
std::string print_plan(const Plan &plan, bool instructions);
/// The same after a line about the file.
std::string print_artifact(const Artifact &artifact, bool instructions);
/// The weights, one a line: name, type, shape, storage, recipe, bytes, program.
std::string print_weights(const Plan &plan);

/// The same facts as one JSON object; sizes are formulas of the dimensions, as text.
std::string plan_json(const Plan &plan);
/// With the file's path, size and archive entries.
std::string print_json(const Artifact &artifact);

/// `f32[batch, 64]`.
std::string print_tensor_type(const Plan &plan, const TensorType &type);
/// arena, input, ...
const char *memory_name(Buffer::Memory memory);

} // namespace quaver::plan
