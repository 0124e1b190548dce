// The rules of ShapeAnalysis, one function a kind of op. Shared by its source files only.
#pragma once
#include "dialects/Graph/Analysis/ShapeAnalysis.h"
#include "dialects/Graph/IR/GraphDialect.h"

namespace quaver::graph {

class ShapeRules {
public:
  explicit ShapeRules(ShapeAnalysis &a) : a(a) {}
  /// Infers and records the results of one op.
  mlir::LogicalResult visit(mlir::Operation *op);

private:
  using Dims = llvm::SmallVector<DimExpr, 4>;
  using Elements = std::optional<llvm::SmallVector<DimExpr>>;
  mlir::LogicalResult set(mlir::Value result, Dims dims, Elements elements = std::nullopt);
  const Dims &dims(mlir::Value v) { return a.get(v).dims; }
  mlir::FailureOr<Dims> broadcastAll(mlir::Operation *op, mlir::ValueRange operands);
  mlir::LogicalResult equal(mlir::Operation *op, const DimExpr &x, const DimExpr &y, const char *what);

  mlir::LogicalResult elementwise(mlir::Operation *op);
  Elements elementwiseElements(mlir::Operation *op, const Dims &result);
  mlir::LogicalResult constant(ConstantOp op);
  mlir::LogicalResult movement(mlir::Operation *op);
  mlir::LogicalResult reshape(ReshapeOp op);
  mlir::LogicalResult expand(ExpandOp op);
  mlir::LogicalResult slice(SliceOp op);
  mlir::LogicalResult concat(ConcatOp op);
  mlir::LogicalResult gather(GatherOp op);
  mlir::LogicalResult gatherNd(GatherNdOp op);
  mlir::LogicalResult range(RangeOp op);
  mlir::LogicalResult transpose(TransposeOp op);
  mlir::LogicalResult reduce(ReduceOp op);
  mlir::LogicalResult reductions(mlir::Operation *op);
  mlir::LogicalResult resize(ResizeOp op);
  mlir::LogicalResult matmul(MatmulOp op);
  mlir::LogicalResult windows(mlir::Operation *op);
  mlir::LogicalResult composites(mlir::Operation *op);
  mlir::LogicalResult control(mlir::Operation *op);
  mlir::LogicalResult block(mlir::Block &b);
  mlir::LogicalResult dispatch(mlir::Operation *op);

  ShapeAnalysis &a;
};

/// Number of elements if all dims are constant and the product is at most ShapeAnalysis::kMaxElements.
std::optional<int64_t> smallCount(llvm::ArrayRef<DimExpr> dims);

} // namespace quaver::graph
