// Scalar loops with little ceremony. Shared by this folder's files only.
#pragma once
#include "compiler/Codegen/Common/KernelFunction.h"
#include "compiler/Codegen/Common/Loops/Loops.h"

namespace quaver::codegen {

using graph::DimExpr;
using Dims = llvm::SmallVector<DimExpr, 4>;
using Values = llvm::SmallVector<mlir::Value, 4>;

/// Elements are handled as integers of their bits (i1: a byte), offsets and counts as i64.
class LoopBuilder {
public:
  LoopBuilder(KernelFunction &k, graph::ShapeAnalysis &shapes, mlir::Operation *op)
      : k(k), shapes(shapes), op(op), b(k.b), loc(k.loc) {}

  KernelFunction &k;
  graph::ShapeAnalysis &shapes;
  mlir::Operation *op;
  mlir::OpBuilder &b;
  mlir::Location loc;

  // Sizes and arithmetic on i64.
  const Dims &dims(mlir::Value v) { return shapes.get(v).dims; }
  mlir::Value num(int64_t v) {
    // The kernel numbers its constants by a map that has no room for the two extremes.
    if (v == INT64_MAX || v == INT64_MIN)
      return mlir::arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(v));
    return k.number(v);
  }
  mlir::Value size(const DimExpr &e) { return k.size(e); }
  mlir::Value add(mlir::Value x, mlir::Value y) { return mlir::arith::AddIOp::create(b, loc, x, y); }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return mlir::arith::SubIOp::create(b, loc, x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return mlir::arith::MulIOp::create(b, loc, x, y); }
  mlir::Value div(mlir::Value x, mlir::Value y) { return mlir::arith::DivUIOp::create(b, loc, x, y); }
  mlir::Value rem(mlir::Value x, mlir::Value y) { return mlir::arith::RemUIOp::create(b, loc, x, y); }
  mlir::Value min(mlir::Value x, mlir::Value y) { return mlir::arith::MinSIOp::create(b, loc, x, y); }
  mlir::Value max(mlir::Value x, mlir::Value y) { return mlir::arith::MaxSIOp::create(b, loc, x, y); }
  using Predicate = mlir::arith::CmpIPredicate;
  mlir::Value compare(Predicate p, mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpIOp::create(b, loc, p, x, y);
  }
  mlir::Value lt(mlir::Value x, mlir::Value y) { return compare(Predicate::slt, x, y); }
  mlir::Value eq(mlir::Value x, mlir::Value y) { return compare(Predicate::eq, x, y); }
  mlir::Value both(mlir::Value x, mlir::Value y) { return mlir::arith::AndIOp::create(b, loc, x, y); }
  mlir::Value either(mlir::Value x, mlir::Value y) { return mlir::arith::OrIOp::create(b, loc, x, y); }
  mlir::Value isTrue(bool v) { return mlir::arith::ConstantOp::create(b, loc, b.getBoolAttr(v)); }
  mlir::Value select(mlir::Value c, mlir::Value x, mlir::Value y) {
    return mlir::arith::SelectOp::create(b, loc, c, x, y);
  }

  // Control flow.
  using Body = llvm::function_ref<Values(mlir::Value, mlir::ValueRange)>;
  Values loop(mlir::Value from, mlir::Value to, mlir::Value step, mlir::ValueRange carried, Body body);
  void loop(mlir::Value from, mlir::Value to, llvm::function_ref<void(mlir::Value)> body);
  /// Runs body while go(carried) holds; returns the values that made it false.
  Values loopWhile(mlir::ValueRange carried, llvm::function_ref<mlir::Value(mlir::ValueRange)> go,
                   llvm::function_ref<Values(mlir::ValueRange)> body);
  void when(mlir::Value c, llvm::function_ref<void()> body);
  Values choose(mlir::Value c, llvm::function_ref<Values()> x, llvm::function_ref<Values()> y);

  // Memory. A tensor's elements are loaded as integers of their bits.
  static mlir::Type bitsType(mlir::Type element, mlir::MLIRContext *context);
  mlir::Type bitsOf(mlir::Value tensor) {
    return bitsType(mlir::getElementTypeOrSelf(tensor.getType()), b.getContext());
  }
  mlir::Value load(mlir::Value base, mlir::Type type, mlir::Value offset);
  void store(mlir::Value base, mlir::Value offset, mlir::Value v);
  /// The buffer of an operand of the op, or null for one that is not an operand of the dispatch.
  mlir::Value input(mlir::Value operand);
  /// The buffer of a result of the op; null when nobody needs it.
  mlir::Value output(mlir::Value result);
  /// Where a data-dependent count goes: the dispatch's last result.
  mlir::Value countOutput() {
    return k.binding(k.dispatch.getNumOperands() + k.dispatch.getNumResults() - 1);
  }
  /// The n-th i64 array of `length` elements in scratch.
  mlir::Value scratchArray(int64_t n, mlir::Value length);
  mlir::Value load64(mlir::Value base, mlir::Value i) { return load(base, b.getI64Type(), i); }

  // Elements. `bits` as loaded.
  /// An i64 that orders elements as numbers: -0 equals 0, NaN equals NaN and is larger than everything.
  mlir::Value key(mlir::Value bits, mlir::Type element);
  mlir::Value isNonZero(mlir::Value bits, mlir::Type element);
  /// The number in the type that the element computes in (f16, bf16: f32), and back. Floats of 8 bits do not
  /// compute.
  mlir::Type computeType(mlir::Type element);
  mlir::Value toCompute(mlir::Value bits, mlir::Type element);
  mlir::Value fromCompute(mlir::Value v, mlir::Type element);
  mlir::Value sum(mlir::Value x, mlir::Value y);
  mlir::Value product(mlir::Value x, mlir::Value y);
  mlir::Value larger(mlir::Value x, mlir::Value y, mlir::Type element, bool max);
  /// An index element as i64, sizes added to negative ones; `inRange` says whether it names a place.
  mlir::Value index(mlir::Value base, mlir::Type element, mlir::Value offset, mlir::Value n,
                    mlir::Value &inRange);

  /// Sizes before the axis, of it, after it.
  struct Split {
    DimExpr outer = 1, axis = 1, inner = 1;
  };
  Split splitAt(mlir::Value tensor, int64_t axis);

  /// Sorts the i64 positions 0 .. n - 1 by merging, stable; `before(x, y)`: must y come after x, strictly,
  /// although x stands behind y? Uses the arrays `from` and `to` of n elements; returns the one that holds
  /// the result.
  mlir::Value mergeSort(mlir::Value n, mlir::Value from, mlir::Value to,
                        llvm::function_ref<mlir::Value(mlir::Value x, mlir::Value y)> before);
};

// One function an op; each fills the launch. Diagnostics stand on the op.
mlir::LogicalResult emitTopK(LoopBuilder &l, graph::TopKOp op, KernelFunction::Launch &launch);
mlir::LogicalResult emitCumulative(LoopBuilder &l, graph::CumulativeOp op, KernelFunction::Launch &launch);
mlir::LogicalResult emitScatterElements(LoopBuilder &l, graph::ScatterElementsOp op,
                                        KernelFunction::Launch &launch);
mlir::LogicalResult emitScatterNd(LoopBuilder &l, graph::ScatterNdOp op, KernelFunction::Launch &launch);
mlir::LogicalResult emitNonZero(LoopBuilder &l, graph::NonZeroOp op, KernelFunction::Launch &launch);
mlir::LogicalResult emitUnique(LoopBuilder &l, graph::UniqueOp op, KernelFunction::Launch &launch);
mlir::LogicalResult emitResize(LoopBuilder &l, graph::ResizeOp op, KernelFunction::Launch &launch);

} // namespace quaver::codegen
