// attention and latent_attention in simpler ops.
#include "dialects/Graph/IR/Decompose.h"

using namespace mlir;

namespace quaver::graph {

// Which key each query keeps, i1 [sq, skv] or [b, 1, sq, skv]; null where all are kept.
static Value keptKeys(GraphBuilder &g, AttentionOp op) {
  if (!op.getCausal() && op.getWindow() == 0)
    return {};
  Value sq = g.dim(op.getQuery(), 2), skv = g.dim(op.getKey(), 2);
  Value query = g.expandDims(g.iota(sq), {1}), key = g.expandDims(g.iota(skv), {0});
  Value offset = op.getCausalOffset();
  if (offset)
    offset = g.expandDims(offset, {1, 2, 3});
  else
    offset = g.sub(skv, sq);
  Value position = g.add(query, offset); // of the query among the keys
  Type i1 = g.b.getI1Type();
  Value kept;
  if (op.getCausal())
    kept = g.compare(CompareKind::le, key, position);
  if (op.getWindow() > 0) {
    Value near = g.compare(CompareKind::lt, g.sub(position, key), g.intScalar(op.getWindow()));
    kept = kept ? g.make<AndOp>(i1, kept, near) : near;
  }
  return kept;
}

// Key or value heads repeated so that query head h meets head h / (hq / hkv).
static Value repeatHeads(GraphBuilder &g, Value x, Value like) {
  if (g.shapes.dim(x, 1) == g.shapes.dim(like, 1))
    return x;
  Value hkv = g.dim(x, 1), hq = g.dim(like, 1);
  Value wide = g.expandDims(x, {2});
  Value shape = g.concat({g.dim(x, 0), hkv, g.div(hq, hkv), g.shapeOf(x, 2)}, 0);
  return g.reshape(g.expand(wide, shape), g.concat({g.dim(x, 0), hq, g.shapeOf(x, 2)}, 0));
}

FailureOr<SmallVector<Value>> AttentionOp::decompose(OpBuilder &b) {
  Decomposition d(*this, b);
  GraphBuilder &g = d.g;
  Type element = g.element(getQuery()), compute = computeType(element);
  Value key = repeatHeads(g, getKey(), getQuery()), value = repeatHeads(g, getValue(), getQuery());
  Value scores = g.matmul(getQuery(), g.transpose(key, {0, 1, 3, 2}), compute);
  scores = g.mul(scores, getScale().convertToDouble());
  if (double cap = getSoftCap().convertToDouble(); cap > 0)
    scores = g.mul(g.unary<TanhOp>(g.div(scores, cap)), cap);
  Value kept = keptKeys(g, *this);
  if (Value mask = getMask()) {
    if (g.element(mask).isInteger(1))
      kept = kept ? g.make<AndOp>(b.getI1Type(), kept, mask) : mask;
    else
      scores = g.add(scores, g.cast(mask, compute));
  }
  Value minusInf = g.scalar(-std::numeric_limits<double>::infinity(), compute), zero = g.scalar(0, compute);
  if (kept)
    scores = g.select(kept, scores, minusInf);
  // The maximum is 0 for a row that keeps nothing: e^(-inf - 0) = 0 everywhere, and its sum 0 becomes 1.
  Value top = g.reduce(ReduceKind::max, scores, {3});
  if (Value sinks = getSinks())
    top = g.max(top, g.expandDims(g.cast(sinks, compute), {0, 2, 3}));
  bool mayKeepNothing = kept || getMask();
  if (mayKeepNothing)
    top = g.select(g.compare(CompareKind::eq, top, minusInf), zero, top);
  Value e = g.exp(g.sub(scores, top));
  Value sum = g.reduce(ReduceKind::sum, e, {3});
  if (Value sinks = getSinks())
    sum = g.add(sum, g.exp(g.sub(g.expandDims(g.cast(sinks, compute), {0, 2, 3}), top)));
  if (mayKeepNothing)
    sum = g.select(g.compare(CompareKind::eq, sum, zero), g.scalar(1, compute), sum);
  Value p = g.cast(g.div(e, sum), g.element(value));
  return d.finish({g.cast(g.matmul(p, value, compute), element)});
}

FailureOr<SmallVector<Value>> LatentAttentionOp::decompose(OpBuilder &b) {
  Decomposition d(*this, b);
  GraphBuilder &g = d.g;
  Type element = g.element(getQNope());
  Value latent = g.expandDims(getLatent(), {1}); // [b, 1, skv, r]
  Value kNope = g.matmul(latent, getWUk());      // [b, h, skv, dn]
  Value value = g.matmul(latent, getWUv());      // [b, h, skv, dv]
  Value rope = g.expandDims(getKRope(), {1});
  Value shape = g.concat({g.shapeOf(kNope, 0, 3), g.dim(getKRope(), 2)}, 0);
  Value key = g.concat({kNope, g.expand(rope, shape)}, 3), query = g.concat({getQNope(), getQRope()}, 3);
  Value y = g.make<AttentionOp>(element, query, key, value, getMask(), Value(), Value(), getCausal(),
                                getScale(), APFloat(0.0), 0);
  return d.finish({y});
}

} // namespace quaver::graph
