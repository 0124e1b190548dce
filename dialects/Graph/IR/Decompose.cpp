// What composites mean in simpler ops: normalizations, rotary embedding, MoE. Attention and quantization have
// files of their own.
#include "dialects/Graph/IR/Decompose.h"

using namespace mlir;

namespace quaver::graph {

FailureOr<int64_t> decomposeAll(Operation *root, llvm::function_ref<bool(Operation *)> which) {
  int64_t count = 0;
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<DecomposeInterface> composites;
    root->walk([&](DecomposeInterface op) {
      if (which(op))
        composites.push_back(op);
    });
    for (DecomposeInterface op : composites) {
      OpBuilder b(op);
      auto values = op.decompose(b);
      if (failed(values))
        return failure();
      op->replaceAllUsesWith(*values);
      op->erase();
      ++count, changed = true;
    }
  }
  return count;
}

Type computeType(Type element) {
  bool isNarrow = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  return isNarrow ? Type(Float32Type::get(element.getContext())) : element;
}

FailureOr<SmallVector<Value>> finishDecomposition(Operation *op, GraphBuilder &g, ArrayRef<Value> values) {
  if (g.failed())
    return op->emitOpError() << "cannot be decomposed";
  for (auto [v, r] : llvm::zip(values, op->getResults()))
    Value(v).setType(r.getType()); // the op's own type may know more sizes
  return SmallVector<Value>(values);
}

static SmallVector<int64_t> axesFrom(int64_t first, int64_t rank) {
  return llvm::to_vector(llvm::seq(first, rank));
}

// e^(x - max), and its sum along the axis.
static std::pair<Value, Value> shiftedExp(GraphBuilder &g, Value x, int64_t axis, Value *shifted = nullptr) {
  Value s = g.sub(x, g.reduce(ReduceKind::max, x, {axis}));
  if (shifted)
    *shifted = s;
  Value e = g.exp(s);
  return {e, g.reduce(ReduceKind::sum, e, {axis})};
}

FailureOr<SmallVector<Value>> SoftmaxOp::decompose(OpBuilder &b) {
  Decomposition d(*this, b);
  Type element = d.g.element(getInput());
  auto [e, sum] = shiftedExp(d.g, d.g.cast(getInput(), computeType(element)), getAxis());
  return d.finish({d.g.cast(d.g.div(e, sum), element)});
}

FailureOr<SmallVector<Value>> LogSoftmaxOp::decompose(OpBuilder &b) {
  Decomposition d(*this, b);
  Type element = d.g.element(getInput());
  Value shifted;
  auto [e, sum] = shiftedExp(d.g, d.g.cast(getInput(), computeType(element)), getAxis(), &shifted);
  return d.finish({d.g.cast(d.g.sub(shifted, d.g.log(sum)), element)});
}

FailureOr<SmallVector<Value>> LayerNormOp::decompose(OpBuilder &b) {
  Decomposition d(*this, b);
  GraphBuilder &g = d.g;
  Type element = g.element(getInput()), compute = computeType(element);
  SmallVector<int64_t> axes = axesFrom(getAxis(), g.rank(getInput()));
  Value x = g.cast(getInput(), compute);
  Value centered = g.sub(x, g.reduce(ReduceKind::mean, x, axes));
  Value variance = g.reduce(ReduceKind::mean, g.mul(centered, centered), axes);
  Value y = g.mul(centered, g.unary<RsqrtOp>(g.add(variance, getEpsilon().convertToDouble())));
  if (getScale())
    y = g.mul(y, g.cast(getScale(), compute));
  if (getBias())
    y = g.add(y, g.cast(getBias(), compute));
  return d.finish({g.cast(y, element)});
}

FailureOr<SmallVector<Value>> RmsNormOp::decompose(OpBuilder &b) {
  Decomposition d(*this, b);
  GraphBuilder &g = d.g;
  Type element = g.element(getInput()), compute = computeType(element);
  Value x = g.cast(getInput(), compute);
  Value meanSquare = g.reduce(ReduceKind::mean, g.mul(x, x), axesFrom(getAxis(), g.rank(getInput())));
  Value y = g.mul(x, g.unary<RsqrtOp>(g.add(meanSquare, getEpsilon().convertToDouble())));
  if (getScale())
    y = g.mul(y, g.cast(getScale(), compute));
  return d.finish({g.cast(y, element)});
}

FailureOr<SmallVector<Value>> RotaryEmbeddingOp::decompose(OpBuilder &b) {
  Decomposition d(*this, b);
  GraphBuilder &g = d.g;
  int64_t rotary = getRotaryDim(), half = rotary / 2;
  constexpr int64_t kEnd = INT64_MAX;
  Value x = g.slice(getInput(), 3, 0, rotary);
  Value first = getInterleaved() ? g.slice(x, 3, 0, kEnd, 2) : g.slice(x, 3, 0, half);
  Value second = getInterleaved() ? g.slice(x, 3, 1, kEnd, 2) : g.slice(x, 3, half, rotary);
  Value cos = g.expandDims(getCos(), {1}), sin = g.expandDims(getSin(), {1}); // one for all heads
  Value real = g.sub(g.mul(first, cos), g.mul(second, sin)),
        imaginary = g.add(g.mul(first, sin), g.mul(second, cos));
  Value y;
  if (getInterleaved()) {
    Value pairs = g.concat({g.expandDims(real, {4}), g.expandDims(imaginary, {4})}, 4);
    y = g.reshape(pairs, g.shapeOf(x));
  } else {
    y = g.concat({real, imaginary}, 3);
  }
  Value rest = g.slice(getInput(), 3, rotary, kEnd);
  bool isWhole = g.shapes.dim(getInput(), 3) == DimExpr(rotary);
  return d.finish({isWhole ? y : g.concat({y, rest}, 3)});
}

FailureOr<SmallVector<Value>> RouteOp::decompose(OpBuilder &b) {
  Decomposition d(*this, b);
  GraphBuilder &g = d.g;
  Type element = g.element(getLogits());
  Value scores = getScoring() == "softmax" ? g.make<SoftmaxOp>(element, getLogits(), 1)
                                           : g.unary<SigmoidOp>(getLogits());
  Value choice = getBias() ? g.add(scores, g.cast(getBias(), element)) : scores;
  auto topK = [&](Value x, int64_t k, int64_t axis) {
    auto op = TopKOp::create(
        b, g.loc, TypeRange{UnrankedTensorType::get(g.element(x)), UnrankedTensorType::get(b.getI64Type())},
        x, g.ints({k}), axis, true);
    g.finish(op);
    return std::pair(op.getValues(), op.getIndices());
  };
  if (getGroups() > 1) {
    auto experts = cast<RankedTensorType>(getLogits().getType()).getDimSize(1);
    if (ShapedType::isDynamic(experts) || experts % getGroups())
      return emitOpError() << "needs a number of experts that its " << getGroups() << " groups divide";
    Value grouped = g.reshape(choice, {-1, int64_t(getGroups()), experts / int64_t(getGroups())});
    Value groupScore = g.reduce(ReduceKind::sum, topK(grouped, 2, 2).first, {2}, false);
    Value best = topK(groupScore, getTopGroups(), 1).second;
    Value ones = g.expand(g.scalar(1, b.getI32Type()), g.shapeOf(best));
    Value kept = g.make<ScatterElementsOp>(b.getI32Type(),
                                           g.expand(g.scalar(0, b.getI32Type()), g.shapeOf(groupScore)), best,
                                           ones, 1, ScatterKind::none);
    Value mask = g.compare(CompareKind::ne, g.expandDims(kept, {2}), g.scalar(0, b.getI32Type()));
    Value masked = g.select(mask, grouped, g.scalar(-std::numeric_limits<double>::infinity(), element));
    choice = g.reshape(masked, g.shapeOf(choice));
  }
  Value experts = topK(choice, getK(), 1).second;
  Value weights = g.make<GatherElementsOp>(element, scores, experts, 1);
  if (getNormalize())
    weights = g.div(weights, g.reduce(ReduceKind::sum, weights, {1}));
  double factor = getRouteScale().convertToDouble();
  if (factor != 1)
    weights = g.mul(weights, factor);
  return d.finish({weights, experts});
}

FailureOr<SmallVector<Value>> DispatchTokensOp::decompose(OpBuilder &b) {
  Decomposition d(*this, b);
  GraphBuilder &g = d.g;
  Value flat = g.reshape(getExperts(), {-1});
  // A stable sort by expert: the smallest first, ties by position.
  auto sorted = TopKOp::create(
      b, g.loc, TypeRange{UnrankedTensorType::get(b.getI64Type()), UnrankedTensorType::get(b.getI64Type())},
      flat, g.dim(flat, 0), 0, false);
  g.finish(sorted);
  Value source = sorted.getIndices();
  Value perToken = g.dimScalar(getExperts(), 1);
  Value rows = g.gather(getInput(), g.div(source, perToken), 0);
  // offsets[i] = rows of experts below i.
  Value ids = g.expandDims(g.iota(g.ints({int64_t(getNumExperts()) + 1})), {1});
  Value below = g.cast(g.compare(CompareKind::lt, g.expandDims(g.cast(flat, b.getI64Type()), {0}), ids),
                       b.getI64Type());
  Value offsets = g.reduce(ReduceKind::sum, below, {1}, false);
  return d.finish({rows, offsets, source});
}

FailureOr<SmallVector<Value>> GroupedMatmulOp::decompose(OpBuilder &b) {
  Decomposition d(*this, b);
  GraphBuilder &g = d.g;
  int64_t experts = cast<RankedTensorType>(getWeights().getType()).getDimSize(0);
  if (ShapedType::isDynamic(experts))
    return emitOpError() << "needs a static number of experts";
  // Every expert on all rows, then each row keeps its own expert's: right for any routing, at e times the
  // work.
  Value row = g.iota(g.dim(getRows(), 0)), result;
  for (int64_t e = 0; e < experts; ++e) {
    Value y = g.matmul(getRows(), g.squeeze(g.slice(getWeights(), 0, e, e + 1), {0}));
    Value begin = g.slice(getOffsets(), 0, e, e + 1), end = g.slice(getOffsets(), 0, e + 1, e + 2);
    Value mine = g.make<AndOp>(b.getI1Type(), g.compare(CompareKind::ge, row, begin),
                               g.compare(CompareKind::lt, row, end));
    Value kept = g.select(g.expandDims(mine, {1}), y, g.scalarLike(0, y));
    result = result ? g.add(result, kept) : kept;
  }
  return d.finish({result});
}

FailureOr<SmallVector<Value>> CombineTokensOp::decompose(OpBuilder &b) {
  Decomposition d(*this, b);
  GraphBuilder &g = d.g;
  // Row i belongs at position source[i]: undo the sort, then sum the k rows of each token.
  Value back = g.make<ScatterElementsOp>(b.getI64Type(), getSource(), getSource(),
                                         g.iota(g.dim(getSource(), 0)), 0, ScatterKind::none);
  Value ordered = g.gather(getRows(), back, 0);
  Value shape = g.concat({g.shapeOf(getWeights()), g.dim(getRows(), 1)}, 0);
  Value perToken = g.reshape(ordered, shape);
  Value weighted = g.mul(perToken, g.expandDims(g.cast(getWeights(), g.element(perToken)), {2}));
  return d.finish({g.reduce(ReduceKind::sum, weighted, {1}, false)});
}

} // namespace quaver::graph
