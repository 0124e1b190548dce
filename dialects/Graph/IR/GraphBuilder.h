// Builds graph ops with inferred types. Used by decompositions and by the importer.
#pragma once
#include "dialects/Graph/Analysis/ShapeAnalysis.h"
#include "dialects/Graph/IR/GraphDialect.h"

namespace quaver::graph {

/// Creates ops at an OpBuilder's insertion point, infers their result types through a ShapeAnalysis, and
/// answers questions about values. An op whose shapes contradict its rules gets a diagnostic; the builder
/// then remembers the failure, and further results are of unranked types: check failed() once at the end.
class GraphBuilder {
public:
  GraphBuilder(mlir::OpBuilder &b, mlir::Location loc, ShapeAnalysis &shapes)
      : b(b), loc(loc), shapes(shapes) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  ShapeAnalysis &shapes;
  bool failed() const { return hasFailed; }
  void fail() { hasFailed = true; }

  /// An op of one result with the given element type.
  template <class Op, class... Args> mlir::Value make(mlir::Type element, Args &&...args) {
    if (hasFailed)
      return bogus(element);
    auto op = Op::create(b, loc, mlir::UnrankedTensorType::get(element), std::forward<Args>(args)...);
    return finish(op.getOperation())->getResult(0);
  }
  /// Infers the types of an op created with unranked results.
  mlir::Operation *finish(mlir::Operation *op);

  // Questions.
  mlir::Type element(mlir::Value v) { return mlir::getElementTypeOrSelf(v.getType()); }
  int64_t rank(mlir::Value v) {
    return hasFailed ? 0 : mlir::cast<mlir::RankedTensorType>(v.getType()).getRank();
  }
  /// Elements of an integer tensor if all are constants.
  std::optional<llvm::SmallVector<int64_t>> constants(mlir::Value v);

  // Constants. splat: rank 0.
  mlir::Value ints(llvm::ArrayRef<int64_t> values);          // i64 [n]
  mlir::Value intScalar(int64_t v, mlir::Type element = {}); // rank 0, i64 by default
  mlir::Value scalar(double v, mlir::Type element);          // rank 0, float, integer or i1
  mlir::Value scalarLike(double v, mlir::Value like) { return scalar(v, element(like)); }

  // Elementwise.
  template <class Op> mlir::Value unary(mlir::Value x) { return make<Op>(element(x), x); }
  template <class Op> mlir::Value binary(mlir::Value x, mlir::Value y) { return make<Op>(element(x), x, y); }
  mlir::Value add(mlir::Value x, mlir::Value y) { return binary<AddOp>(x, y); }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return binary<SubOp>(x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return binary<MulOp>(x, y); }
  mlir::Value div(mlir::Value x, mlir::Value y) { return binary<DivOp>(x, y); }
  mlir::Value max(mlir::Value x, mlir::Value y) { return binary<MaxOp>(x, y); }
  mlir::Value min(mlir::Value x, mlir::Value y) { return binary<MinOp>(x, y); }
  mlir::Value pow(mlir::Value x, mlir::Value y) { return binary<PowOp>(x, y); }
  mlir::Value add(mlir::Value x, double y) { return add(x, scalarLike(y, x)); }
  mlir::Value mul(mlir::Value x, double y) { return mul(x, scalarLike(y, x)); }
  mlir::Value div(mlir::Value x, double y) { return div(x, scalarLike(y, x)); }
  mlir::Value exp(mlir::Value x) { return unary<ExpOp>(x); }
  mlir::Value log(mlir::Value x) { return unary<LogOp>(x); }
  mlir::Value compare(CompareKind kind, mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value c, mlir::Value x, mlir::Value y) {
    return make<SelectOp>(element(x), c, x, y);
  }
  /// The value itself when it has the type already.
  mlir::Value cast(mlir::Value x, mlir::Type element, bool saturate = true);

  // Movement.
  mlir::Value reshape(mlir::Value x, mlir::Value shape) {
    return make<ReshapeOp>(element(x), x, shape, false);
  }
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape) { return reshape(x, ints(shape)); }
  mlir::Value expandDims(mlir::Value x, llvm::ArrayRef<int64_t> axes);
  mlir::Value squeeze(mlir::Value x, llvm::ArrayRef<int64_t> axes);
  mlir::Value expand(mlir::Value x, mlir::Value shape) { return make<ExpandOp>(element(x), x, shape); }
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  mlir::Value slice(mlir::Value x, int64_t axis, mlir::Value start, mlir::Value end, int64_t step = 1);
  mlir::Value slice(mlir::Value x, int64_t axis, int64_t start, int64_t end, int64_t step = 1);
  mlir::Value concat(mlir::ValueRange parts, int64_t axis);
  mlir::Value gather(mlir::Value data, mlir::Value indices, int64_t axis) {
    return make<GatherOp>(element(data), data, indices, axis);
  }
  /// Sizes [start, end) as i64 [n]; end = -1: to the last.
  mlir::Value shapeOf(mlir::Value x, int64_t start = 0, int64_t end = -1);
  mlir::Value dim(mlir::Value x, int64_t d) { return shapeOf(x, d, d + 1); }          // i64 [1]
  mlir::Value dimScalar(mlir::Value x, int64_t d) { return squeeze(dim(x, d), {0}); } // rank 0
  /// 0, 1, ... n - 1; n is i64 of one element.
  mlir::Value iota(mlir::Value n);

  // Reductions and contractions.
  mlir::Value reduce(ReduceKind kind, mlir::Value x, llvm::ArrayRef<int64_t> axes, bool keepDims = true);
  mlir::Value matmul(mlir::Value x, mlir::Value y, mlir::Type element = {});

private:
  mlir::Value bogus(mlir::Type element);
  bool hasFailed = false;
};

} // namespace quaver::graph
