// Cheap producers that every reader computes for itself.
#pragma once
#include "compiler/Dispatch/OpClass.h"
#include "llvm/ADT/DenseSet.h"

namespace quaver::dispatch {

/// The ops of `block` whose value costs a reader little more than reading it would: broadcasts, ranges,
/// comparisons of ranges, masks made of smaller tensors. No transcendental functions, no gathers, at most
/// kMaxCost simple ops and three loads an element.
llvm::DenseSet<mlir::Operation *> findRecomputed(mlir::Block &block, graph::ShapeAnalysis &shapes);
inline constexpr int kMaxRecomputeCost = 12;

} // namespace quaver::dispatch
