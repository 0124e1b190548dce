// Operands of a product that are read in place: views with strides, so that no launch copies them.
#pragma once
#include "compiler/Dispatch/OpClass.h"
#include "llvm/ADT/DenseSet.h"

namespace quaver::dispatch {

/// Sizes and strides (in elements) of a tensor that lies inside another one. Stride 0 repeats; no stride: the
/// place along that dimension is computed (heads that are repeated and then counted as one: h / group).
struct StridedView {
  Dims dims;
  llvm::SmallVector<std::optional<graph::DimExpr>, 4> strides;
  static StridedView contiguous(llvm::ArrayRef<graph::DimExpr> dims);
  /// Can a product read it in place? Rows and columns need strides; its leading dimensions may be computed.
  bool isMatrix() const;
};

/// The view that `op` (transpose, expand, expand_dims, squeeze, reshape) makes of `in`; nullopt for other
/// ops, and where sizes do not say which dimensions a reshape splits and joins. A dequantize is a view of its
/// codes: products read codes and scales themselves.
std::optional<StridedView> viewThrough(mlir::Operation *op, const StridedView &in,
                                       graph::ShapeAnalysis &shapes);

/// May operand `i` of a contraction be a strided view? Matmul of two computed tensors: both. By a weight: the
/// weight (its layout is the packing's choice), and codes with scales on the left.
bool acceptsView(mlir::Operation *contraction, unsigned i);

/// The ops of `block` that are only ever read as such views. They are copied into the products' regions.
llvm::DenseSet<mlir::Operation *> findViews(mlir::Block &block, graph::ShapeAnalysis &shapes);

} // namespace quaver::dispatch
