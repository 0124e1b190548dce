// Operands of a product that are read in place: views with strides, so that no launch copies them.
#pragma once
#include "compiler/Dispatch/OpClass.h"
#include "llvm/ADT/DenseSet.h"

namespace quaver::dispatch {

/// Sizes and strides (in elements) of a tensor that lies inside another one; stride 0 repeats.
struct StridedView {
  Dims dims, strides;
  static StridedView contiguous(llvm::ArrayRef<graph::DimExpr> dims);
};

/// The view that `op` (transpose, expand, expand_dims, squeeze, reshape) makes of `in`; nullopt where strides
/// cannot say it.
std::optional<StridedView> viewThrough(mlir::Operation *op, const StridedView &in,
                                       graph::ShapeAnalysis &shapes);

/// May operand `i` of a contraction be a strided view? Matmul of two computed tensors: both. By a weight: the
/// weight alone (its layout is the packing's choice).
bool acceptsView(mlir::Operation *contraction, unsigned i);

/// The ops of `block` that are only ever read as such views. They are copied into the products' regions.
llvm::DenseSet<mlir::Operation *> findViews(mlir::Block &block, graph::ShapeAnalysis &shapes);

} // namespace quaver::dispatch
