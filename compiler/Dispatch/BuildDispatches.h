// Makes plan.dispatch regions of decided clusters.
#pragma once
#include "compiler/Dispatch/Clusters.h"

namespace quaver::dispatch {

/// Rewrites `block` as `clusters` says. Returns the number of dispatches made.
int buildDispatches(mlir::Block &block, Clusters &clusters, graph::ShapeAnalysis &shapes);

/// Names of the source nodes of the ops, joined by " + "; more than four are counted.
std::string labelOf(llvm::ArrayRef<mlir::Operation *> ops);

} // namespace quaver::dispatch
