// Casts go where less data passes.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace quaver::precision {

/// Moves casts to bf16 before data movement whose every reader wants bf16, casts from bf16 or f16 to f32
/// behind it, cancels exact round trips, and lets quantization read the narrow value. Changes no value.
void moveCasts(mlir::func::FuncOp func);

} // namespace quaver::precision
