// Two-dimensional blocks of scales, as exporters have to spell them.
#pragma once
#include "compiler/Weights/WeightStore.h"
#include "mlir/IR/BuiltinOps.h"

namespace quaver::pipeline {

/// ONNX blocks one dimension only, so 128x128 scales are written as a Gather that repeats each row of scales
/// 128 times, then DequantizeLinear along the other dimension. Where the repeated positions are 0, .., 0, 1,
/// .., 1, .. the scales themselves are used, with both block sizes. Same products, no repeated scales.
/// Returns how many.
int64_t foldBlockScales(mlir::ModuleOp module, WeightStore &weights);

} // namespace quaver::pipeline
