// The functions that a matrix kernel calls back: for its finished sums, and for where a matrix of a batch
// lies.
#pragma once
#include "compiler/Codegen/Common/KernelFunction.h"

namespace quaver::codegen {

/// Why the ops after `product` cannot be computed element by element from its sums (one clause); nullopt when
/// they can: every result comes from it by elementwise ops, transposes and reshapes.
std::optional<std::string> whyNotEpilogue(plan_ir::DispatchOp dispatch, mlir::Operation *product,
                                          graph::ShapeAnalysis &shapes);

/// What the batch, row and column of a kernel's sums count in the product's result.
enum class SumsLayout {
  Batched,    // the leading dimensions, the last but one, the last
  RowsMerged, // nothing, all but the last, the last
  Filters,    // a convolution: images and groups, filters of a group, all spatial dimensions
};

/// Factors of the sums' columns: f32, that of column j at j * stride.
struct ColumnScales {
  mlir::BlockArgument source;
  graph::DimExpr stride;
};

/// Fills `k`, a function (sums, batch, row, column, n, bindings, constants), with loads of sums (times
/// `scales`), the ops and stores of all results.
mlir::LogicalResult emitEpilogue(KernelFunction &k, mlir::Block *body, mlir::Operation *product,
                                 SumsLayout layout, const std::optional<ColumnScales> &scales,
                                 graph::ShapeAnalysis &shapes, const Target &target);

/// Fills `k`, a function (operand, batch, constants) -> i64, with the offset in elements of element (0, 0) of
/// matrix `batch` of the product's left (0) or right (1) operand, both views of block arguments. `batchDims`:
/// the product's leading dimensions, which batch counts in row-major order.
mlir::LogicalResult emitBatchOffset(KernelFunction &k, mlir::Block *body, graph::MatmulOp matmul,
                                    llvm::ArrayRef<graph::DimExpr> batchDims, graph::ShapeAnalysis &shapes,
                                    const Target &target);

} // namespace quaver::codegen
