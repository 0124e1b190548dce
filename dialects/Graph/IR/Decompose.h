// Composites taken apart, and what the decompositions share.
#pragma once
#include "dialects/Graph/IR/GraphBuilder.h"

namespace quaver::graph {

/// Replaces the composites below `root` that `which` selects, and those that their decompositions hold, by
/// what they mean. Returns how many.
mlir::FailureOr<int64_t> decomposeAll(mlir::Operation *root,
                                      llvm::function_ref<bool(mlir::Operation *)> which);

/// f16 and bf16 compute in f32; other types in themselves.
mlir::Type computeType(mlir::Type element);

mlir::FailureOr<llvm::SmallVector<mlir::Value>> finishDecomposition(mlir::Operation *op, GraphBuilder &g,
                                                                    llvm::ArrayRef<mlir::Value> values);

/// A builder for one op's decomposition: sizes are inferred from types alone.
struct Decomposition {
  Decomposition(mlir::Operation *op, mlir::OpBuilder &b) : op(op), g(b, op->getLoc(), shapes) {}
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> finish(llvm::ArrayRef<mlir::Value> values) {
    return finishDecomposition(op, g, values);
  }
  mlir::Operation *op;
  ShapeAnalysis shapes;
  GraphBuilder g;
};

} // namespace quaver::graph
