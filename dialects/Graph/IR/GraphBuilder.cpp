#include "dialects/Graph/IR/GraphBuilder.h"

using namespace mlir;

namespace quaver::graph {

Operation *GraphBuilder::finish(Operation *op) {
  if (!hasFailed && llvm::failed(shapes.visit(op)))
    hasFailed = true;
  return op;
}

// After a failure: something of the right element type, so that handlers need not check at every step.
Value GraphBuilder::bogus(Type element) {
  auto type = RankedTensorType::get({}, element);
  return UnrealizedConversionCastOp::create(b, loc, TypeRange{type}, ValueRange{}).getResult(0);
}

std::optional<SmallVector<int64_t>> GraphBuilder::constants(Value v) {
  if (hasFailed || !shapes.get(v).elements) {
    auto c = v.getDefiningOp<ConstantOp>();
    auto dense = c ? dyn_cast<DenseIntElementsAttr>(c.getValue()) : DenseIntElementsAttr();
    if (!dense)
      return std::nullopt;
    return llvm::map_to_vector(dense.getValues<APInt>(), [](const APInt &x) { return x.getSExtValue(); });
  }
  SmallVector<int64_t> out;
  for (const DimExpr &e : *shapes.get(v).elements) {
    auto c = e.getConstant();
    if (!c)
      return std::nullopt;
    out.push_back(*c);
  }
  return out;
}

Value GraphBuilder::ints(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({int64_t(values.size())}, b.getI64Type());
  return make<ConstantOp>(b.getI64Type(), DenseElementsAttr::get(type, values));
}
Value GraphBuilder::intScalar(int64_t v, Type element) {
  if (!element)
    element = b.getI64Type();
  auto type = RankedTensorType::get({}, element);
  return make<ConstantOp>(element,
                          DenseElementsAttr::get(type, APInt(element.getIntOrFloatBitWidth(), v,
                                                             /*isSigned=*/true, /*implicitTrunc=*/true)));
}
Value GraphBuilder::scalar(double v, Type element) {
  auto f = dyn_cast<FloatType>(element);
  if (!f)
    return intScalar(int64_t(v), element);
  APFloat value(v);
  bool lost;
  value.convert(f.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
  return make<ConstantOp>(element, DenseElementsAttr::get(RankedTensorType::get({}, element), value));
}

Value GraphBuilder::compare(CompareKind kind, Value x, Value y) {
  return make<CompareOp>(b.getI1Type(), x, y, kind);
}

Value GraphBuilder::cast(Value x, Type to, bool saturate) {
  if (element(x) == to)
    return x;
  return make<CastOp>(to, x, saturate, /*fnuz_inf_to_nan=*/false, RoundMode::nearest);
}

Value GraphBuilder::expandDims(Value x, ArrayRef<int64_t> axes) {
  return axes.empty() ? x : make<ExpandDimsOp>(element(x), x, axes);
}
Value GraphBuilder::squeeze(Value x, ArrayRef<int64_t> axes) {
  return axes.empty() ? x : make<SqueezeOp>(element(x), x, axes);
}
Value GraphBuilder::transpose(Value x, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return x;
  return make<TransposeOp>(element(x), x, permutation);
}
Value GraphBuilder::slice(Value x, int64_t axis, Value start, Value end, int64_t step) {
  return make<SliceOp>(element(x), x, start, end, ints({step}), ArrayRef<int64_t>{axis});
}
Value GraphBuilder::slice(Value x, int64_t axis, int64_t start, int64_t end, int64_t step) {
  return slice(x, axis, ints({start}), ints({end}), step);
}
Value GraphBuilder::concat(ValueRange parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : make<ConcatOp>(element(parts[0]), parts, axis);
}
Value GraphBuilder::shapeOf(Value x, int64_t start, int64_t end) {
  return make<ShapeOp>(b.getI64Type(), x, start, end < 0 ? rank(x) : end);
}
Value GraphBuilder::iota(Value n) {
  if (rank(n) == 1)
    n = squeeze(n, {0});
  return make<RangeOp>(b.getI64Type(), intScalar(0), n, intScalar(1));
}
Value GraphBuilder::reduce(ReduceKind kind, Value x, ArrayRef<int64_t> axes, bool keepDims) {
  return make<ReduceOp>(element(x), x, kind, axes, keepDims);
}
Value GraphBuilder::matmul(Value x, Value y, Type to) { return make<MatmulOp>(to ? to : element(x), x, y); }

} // namespace quaver::graph
