// Evaluates what depends on constants alone, at compile time.
#pragma once
#include "compiler/Weights/WeightStore.h"
#include "mlir/IR/BuiltinOps.h"

namespace quaver::pipeline {

/// Replaces every pure op whose operands are weights or constants by its value, computed by the interpreter,
/// unless the value would be larger than what it is made of: a dequantized or expanded weight is never stored
/// wide. Weights that nothing reads any more leave the module and the store.
mlir::LogicalResult foldWeights(mlir::ModuleOp module, WeightStore &weights);

} // namespace quaver::pipeline
