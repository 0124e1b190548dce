// Attention-23/24 and RotaryEmbedding-23.
#include "compiler/Import/Onnx/NodeImport.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::import {
namespace {

/// [b, s, heads * d] -> [b, heads, s, d]; 4-D inputs stay.
Value splitHeads(NodeImport &n, Value x, int64_t heads) {
  if (n.failed() || n.g.rank(x) == 4)
    return x;
  if (n.g.rank(x) != 3 || heads < 1)
    return n.error("3-D inputs need q_num_heads and kv_num_heads"), x;
  Value y = n.g.reshape(x, n.g.concat({n.g.shapeOf(x, 0, 2), n.g.ints({heads, -1})}, 0));
  return n.g.transpose(y, {0, 2, 1, 3});
}
Value joinHeads(NodeImport &n, Value x) {
  Value y = n.g.transpose(x, {0, 2, 1, 3});
  return n.g.reshape(y, n.g.concat({n.g.shapeOf(y, 0, 2), n.g.ints({-1})}, 0));
}

/// What the second form of the product asks for (qk_matmul_output): composed step by step.
void composed(NodeImport &n, Value q, Value k, Value v, Value mask, Value offset, bool causal, double scale,
              double cap, bool is3d) {
  GraphBuilder &g = n.g;
  Type element = g.element(q);
  Value hq = g.dim(q, 1);
  auto repeat = [&](Value x) {
    if (g.failed() || g.shapes.dim(x, 1) == g.shapes.dim(q, 1))
      return x;
    Value hkv = g.dim(x, 1);
    Value wide =
        g.expand(g.expandDims(x, {2}), g.concat({g.dim(x, 0), hkv, g.div(hq, hkv), g.shapeOf(x, 2)}, 0));
    return g.reshape(wide, g.concat({g.dim(x, 0), hq, g.shapeOf(x, 2)}, 0));
  };
  Value scores = g.mul(g.matmul(q, g.transpose(repeat(k), {0, 1, 3, 2})), scale), raw = scores;
  Value minusInf = g.scalarLike(-std::numeric_limits<double>::infinity(), scores),
        zero = g.scalarLike(0, scores);
  Value bias = mask;
  if (mask && !g.failed() && g.element(mask).isInteger(1))
    bias = g.select(mask, zero, minusInf);
  if (causal) {
    Value row = g.expandDims(g.iota(g.dim(q, 2)), {1}), column = g.expandDims(g.iota(g.dim(k, 2)), {0});
    Value kept = g.compare(CompareKind::le, column, g.add(row, offset));
    Value c = g.select(kept, zero, minusInf);
    bias = bias ? g.add(g.cast(bias, element), c) : c;
  }
  if (cap > 0)
    scores = g.mul(g.unary<TanhOp>(g.div(scores, cap)), cap);
  Value capped = scores;
  if (bias)
    scores = g.add(scores, g.cast(bias, element));
  Value p = g.make<SoftmaxOp>(element, scores, 3);
  int64_t mode = n.i("qk_matmul_output_mode", 0);
  // The order of the operator's own reference and node data: product, cap, mask, softmax.
  n.set(3, mode == 0 ? raw : mode == 1 ? capped : mode == 2 ? scores : p);
  Value y = g.matmul(p, repeat(v));
  n.set(0, is3d ? joinHeads(n, y) : y);
}

void attention(NodeImport &n) {
  GraphBuilder &g = n.g;
  Value q = n.in(0), k = n.in(1), v = n.in(2), mask = n.optional(3);
  bool is3d = g.rank(q) == 3;
  int64_t hq = n.i("q_num_heads", 0), hkv = n.i("kv_num_heads", 0);
  q = splitHeads(n, q, hq), k = splitHeads(n, k, hkv), v = splitHeads(n, v, hkv);
  if (n.has(4))
    k = g.concat({n.in(4), k}, 2);
  if (n.has(5))
    v = g.concat({n.in(5), v}, 2);
  n.set(1, k);
  n.set(2, v);
  auto headSize = g.failed() ? std::nullopt : g.shapes.dim(q, 3).getConstant();
  if (!n.hasAttr("scale") && !headSize)
    return n.error("needs the attribute scale: the head size is not known before the run");
  double scale = n.f("scale", 1 / std::sqrt(double(headSize.value_or(1)))), cap = n.f("softcap", 0);
  bool causal = n.i("is_causal", 0) != 0;
  Type i64 = g.b.getI64Type();
  if (mask && !g.failed() && !(g.shapes.dim(mask, g.rank(mask) - 1) == g.shapes.dim(k, 2)) &&
      g.shapes.dim(mask, g.rank(mask) - 1) != DimExpr(1)) {
    // A mask shorter than the keys forbids the rest.
    Value missing = g.sub(g.dim(k, 2), g.dim(mask, g.rank(mask) - 1));
    Value fill = g.element(mask).isInteger(1) ? g.scalar(0, g.b.getI1Type())
                                              : g.scalarLike(-std::numeric_limits<double>::infinity(), mask);
    mask = g.make<PadOp>(g.element(mask), mask, g.concat({g.ints({0}), missing}, 0), fill,
                         ArrayRef<int64_t>{g.rank(mask) - 1}, PadMode::constant);
  }
  Value offset;   // of query positions among keys
  if (n.has(6)) { // keys past each sequence's own length are padding
    Value length = g.cast(n.in(6), i64);
    Value kept = g.compare(CompareKind::lt, g.expandDims(g.iota(g.dim(k, 2)), {0, 1, 2}),
                           g.expandDims(length, {1, 2, 3}));
    if (!mask)
      mask = kept;
    else if (g.element(mask).isInteger(1))
      mask = g.make<AndOp>(g.b.getI1Type(), mask, kept);
    else
      mask = g.select(kept, mask, g.scalarLike(-std::numeric_limits<double>::infinity(), mask));
    offset = g.sub(length, g.dim(q, 2));
  }
  // The causal rule counts from the first key unless a past or a length says where the queries stand.
  Value past = n.has(4) ? g.dim(n.in(4), 2) : g.ints({0});
  if (causal && !offset)
    offset = g.expand(past, g.dim(q, 0));
  if (n.wants(3)) {
    Value o = offset ? g.expandDims(offset, {1, 2, 3}) : Value();
    return composed(n, q, k, v, mask, o, causal, scale, cap, is3d);
  }
  Value y = g.make<AttentionOp>(g.element(q), q, k, v, mask, Value(), causal ? offset : Value(), causal,
                                APFloat(scale), APFloat(cap), 0);
  n.set(0, is3d ? joinHeads(n, y) : y);
}

void rotaryEmbedding(NodeImport &n) {
  GraphBuilder &g = n.g;
  Value x = n.in(0), cos = n.in(1), sin = n.in(2);
  int64_t heads = n.i("num_heads", 0), rotary = n.i("rotary_embedding_dim", 0);
  bool is3d = g.rank(x) == 3;
  x = splitHeads(n, x, heads);
  if (n.has(3)) { // caches [positions, rotary / 2] are looked up
    cos = g.gather(cos, n.in(3), 0);
    sin = g.gather(sin, n.in(3), 0);
  }
  auto headSize = g.failed() ? std::nullopt : g.shapes.dim(x, 3).getConstant();
  if (rotary == 0) {
    if (!headSize)
      return n.error("needs rotary_embedding_dim: the head size is not known before the run");
    rotary = *headSize;
  }
  Type element = g.element(x);
  Value y = g.make<RotaryEmbeddingOp>(element, x, g.cast(cos, element), g.cast(sin, element),
                                      n.i("interleaved", 0) != 0, rotary);
  n.set(is3d ? joinHeads(n, y) : y);
}

} // namespace

ArrayRef<HandlerRow> attentionHandlers() {
  static const HandlerRow kRows[] = {{"", "Attention", 23, 0, attention},
                                     {"", "RotaryEmbedding", 23, 0, rotaryEmbedding}};
  return kRows;
}

} // namespace quaver::import
