// What an op means to the forming of dispatches.
#pragma once
#include "dialects/Graph/Analysis/ShapeAnalysis.h"
#include "dialects/Graph/IR/GraphDialect.h"

namespace quaver::dispatch {

enum class OpClass {
  Outside,     // stays where it is: weights, states, control flow, returns
  Literal,     // constants and sizes: copied to where they are used
  Alias,       // the same bytes under another type
  Elementwise, // one element out of one element of each operand
  Movement,    // elements elsewhere: transpose, slice, concat, gather, range, ...
  Reduce,      // graph.reduce and graph.arg_reduce
  Window,      // pool: one element out of many, no reuse of rows
  Contraction, // matmul, conv: has kernels of its own, takes an epilogue
  Loop,        // alone in its dispatch: top_k, scatter, cumulative, ...
};
OpClass classify(mlir::Operation *op);

/// Costs tens of instructions an element: not worth computing twice.
bool isTranscendental(mlir::Operation *op);
/// Constants that code holds itself (one number, or few) rather than reads from a weight buffer.
bool isInlineConstant(mlir::Operation *op);
/// Operands that give sizes, and must be known before a launch: reshape's shape, slice's starts, range's
/// limits, top_k's k.
bool isSizeOperand(mlir::OpOperand &use);

using Dims = llvm::SmallVector<graph::DimExpr, 4>;
graph::DimExpr product(llvm::ArrayRef<graph::DimExpr> dims);

} // namespace quaver::dispatch
