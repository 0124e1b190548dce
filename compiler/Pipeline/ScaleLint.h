// What is suspicious about scales that are known when a model is compiled: warnings, never errors.
#pragma once
#include "compiler/Interpreter/Tensor.h"
#include "compiler/Weights/WeightStore.h"
#include "mlir/IR/BuiltinOps.h"

namespace quaver::pipeline {

/// Warns of blocks of a weight that its FP8 codes render badly: a NaN or Inf inside, or most values rounded
/// to zero beside one that is far larger. `blocks` as in graph.dynamic_quantize; one warning per kind and
/// weight, naming the worst block.
void lintQuantizedWeight(mlir::Operation *op, llvm::StringRef weight, const interpreter::Tensor &values,
                         const interpreter::Tensor &codes, llvm::ArrayRef<int64_t> blocks);

/// Warns of scales that the file gives to quantize and dequantize and that cannot be meant: 0, NaN, Inf,
/// negative, subnormal.
void lintGivenScales(mlir::ModuleOp module, const WeightStore &weights);

} // namespace quaver::pipeline
