// From graph ops on tensors to plan.dispatch regions: one region, one launch.
#pragma once
#include "dialects/Graph/Analysis/ShapeAnalysis.h"
#include "dialects/Plan/IR/PlanDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace quaver::dispatch {

struct FormOptions {
  bool fuse = true;     // false: every op is a dispatch of its own
  bool explain = false; // a remark on every op that could not join its producer's dispatch, with the reason
};

/// Puts every op of an entry that computes or moves data into a plan.dispatch; expects composites decomposed
/// (dequantize and dynamic_quantize may be left: a product reads codes with their scales itself) and shape
/// chains folded (graph.sizes). What stays outside: views of whole values (reshape, expand_dims,
/// squeeze, bitcast), weights, constants that are read as buffers, sizes that views name, states, graph.if
/// and graph.while (their regions are formed too), returns. A non_zero or unique dispatch has a last result
/// tensor<1xi64>, the count. Sizes are read from `shapes`, which is void afterwards: run a new analysis.
mlir::LogicalResult formDispatches(mlir::func::FuncOp func, graph::ShapeAnalysis &shapes,
                                   const FormOptions &options = {});

#define GEN_PASS_DECL
#include "compiler/Dispatch/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/Dispatch/Passes.h.inc"

} // namespace quaver::dispatch
