// A plan as a person reads it (`quaver inspect`), and as JSON.
#pragma once
#include "runtime/plan/artifact.h"
#include <string>

namespace quaver::plan {

/// Inputs, outputs, dimensions, targets, memory (peak and buffers with lifetimes) and, with `instructions`,
/// the whole program.
std::string print_artifact(const Artifact &artifact, bool instructions);
/// The weights as a table: name, type, shape, storage, recipe, bytes, program.
std::string print_weights(const Plan &plan);
/// The same facts as one JSON object.
std::string print_json(const Artifact &artifact);

} // namespace quaver::plan
