// Reductions, selections, scans, pooling, resizing, losses built on them.
#include "compiler/Import/Onnx/Importer.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::import {
namespace {

/// The axes of a Reduce node: an attribute up to opset 12 (ReduceSum) or 17 (the others), then an input.
/// False: no reduction at all.
bool reduceAxes(NodeImport &n, SmallVector<int64_t> &axes) {
  int64_t rank = n.g.rank(n.in(0));
  bool asInput = n.opset >= (n.node.op_type() == "ReduceSum" ? 13 : 18);
  bool given = asInput ? n.has(1) : n.hasAttr("axes");
  SmallVector<int64_t> values;
  if (given)
    values = asInput ? n.constantInts(1) : n.ints("axes");
  if (values.empty()) {
    if (n.i("noop_with_empty_axes", 0))
      return false;
    axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    return true;
  }
  axes = n.axes(values, rank);
  return true;
}

using Step = Value (*)(GraphBuilder &g, Value x);
Value same(GraphBuilder &, Value x) { return x; }
Value square(GraphBuilder &g, Value x) { return g.mul(x, x); }
Value absolute(GraphBuilder &g, Value x) { return g.unary<AbsOp>(x); }
Value root(GraphBuilder &g, Value x) {
  if (isa<FloatType>(g.element(x)))
    return g.unary<SqrtOp>(x);
  return g.cast(g.unary<SqrtOp>(g.cast(x, g.b.getF64Type())), g.element(x));
}
Value logarithm(GraphBuilder &g, Value x) {
  if (isa<FloatType>(g.element(x)))
    return g.log(x);
  return g.cast(g.log(g.cast(x, g.b.getF64Type())), g.element(x));
}

template <ReduceKind kind, Step before, Step after> void reduce(NodeImport &n) {
  SmallVector<int64_t> axes;
  Value x = before(n.g, n.in(0));
  bool isBool = n.g.element(x).isInteger(1); // min and max of booleans
  if (isBool)
    x = n.g.cast(x, n.g.b.getIntegerType(8, false));
  bool reduces = reduceAxes(n, axes);
  Value y = reduces && !axes.empty() ? n.g.reduce(kind, x, axes, n.i("keepdims", 1) != 0) : x;
  y = reduces || before != same ? after(n.g, y) : y;
  n.set(isBool ? n.g.cast(y, n.g.b.getI1Type()) : y);
}
void reduceLogSumExp(NodeImport &n) {
  SmallVector<int64_t> axes;
  Value x = n.in(0);
  if (!reduceAxes(n, axes))
    return n.set(x);
  bool keep = n.i("keepdims", 1) != 0;
  Value top = n.g.reduce(ReduceKind::max, x, axes);
  // An infinite maximum would give Inf - Inf.
  Value finite = n.g.select(n.g.compare(CompareKind::lt, n.g.unary<AbsOp>(top),
                                        n.g.scalarLike(std::numeric_limits<double>::infinity(), top)),
                            top, n.g.scalarLike(0, top));
  Value sum = n.g.add(n.g.log(n.g.reduce(ReduceKind::sum, n.g.exp(n.g.sub(x, finite)), axes)), finite);
  n.set(keep ? sum : n.g.squeeze(sum, axes));
}
template <ReduceKind kind> void argReduce(NodeImport &n) {
  n.set(n.g.make<ArgReduceOp>(n.g.b.getI64Type(), n.in(0), kind, n.axis(n.i("axis", 0), n.g.rank(n.in(0))),
                              n.i("keepdims", 1) != 0, n.i("select_last_index", 0) != 0));
}
template <ReduceKind kind> void cumulative(NodeImport &n) {
  n.set(n.g.make<CumulativeOp>(n.g.element(n.in(0)), n.in(0), kind,
                               n.axis(n.constantInt(1), n.g.rank(n.in(0))), n.i("exclusive", 0) != 0,
                               n.i("reverse", 0) != 0));
}
void topK(NodeImport &n) {
  Value x = n.in(0), k = n.opset < 10 ? n.g.ints({n.i("k", 0)}) : n.in(1);
  if (n.failed())
    return;
  auto op = TopKOp::create(
      n.g.b, n.g.loc,
      TypeRange{UnrankedTensorType::get(n.g.element(x)), UnrankedTensorType::get(n.g.b.getI64Type())}, x, k,
      n.axis(n.i("axis", -1), n.g.rank(x)), n.i("largest", 1) != 0);
  n.g.finish(op);
  n.set(0, op.getValues());
  n.set(1, op.getIndices());
}
void nonZero(NodeImport &n) { n.set(n.g.make<NonZeroOp>(n.g.b.getI64Type(), n.in(0))); }
void unique(NodeImport &n) {
  Value x = n.in(0);
  Type i64 = n.g.b.getI64Type();
  if (n.failed())
    return;
  IntegerAttr axis;
  if (n.hasAttr("axis"))
    axis = n.g.b.getI64IntegerAttr(n.axis(n.i("axis", 0), n.g.rank(x)));
  auto unranked = [](Type t) { return UnrankedTensorType::get(t); };
  auto op = UniqueOp::create(n.g.b, n.g.loc,
                             TypeRange{unranked(n.g.element(x)), unranked(i64), unranked(i64), unranked(i64)},
                             x, axis, n.g.b.getBoolAttr(n.i("sorted", 1) != 0));
  n.g.finish(op);
  for (unsigned k = 0; k < 4; ++k)
    n.set(k, op->getResult(k));
}

/// Pads of a window op: explicit, or from auto_pad (which needs static spatial sizes for SAME).
SmallVector<int64_t> windowPads(NodeImport &n, ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                                ArrayRef<int64_t> dilations) {
  size_t spatial = kernel.size();
  std::string mode = n.s("auto_pad", "NOTSET");
  SmallVector<int64_t> pads = n.ints("pads", SmallVector<int64_t>(2 * spatial, 0));
  if (mode == "NOTSET" || mode.empty())
    return pads;
  pads.assign(2 * spatial, 0);
  if (mode == "VALID")
    return pads;
  for (size_t i = 0; i < spatial && !n.failed(); ++i) {
    auto size = n.g.shapes.dim(n.in(0), i + 2).getConstant();
    if (!size && strides[i] != 1)
      n.error("auto_pad ", mode, " with a stride needs a static size along spatial dimension ", i);
    int64_t reach = dilations[i] * (kernel[i] - 1) + 1, in = size.value_or(1),
            outSize = (in + strides[i] - 1) / strides[i];
    int64_t total = std::max<int64_t>(0, (outSize - 1) * strides[i] + reach - in);
    pads[i] = mode == "SAME_LOWER" ? total - total / 2 : total / 2;
    pads[i + spatial] = total - pads[i];
  }
  return pads;
}

void pool(NodeImport &n, PoolKind kind) {
  Value x = n.in(0);
  SmallVector<int64_t> kernel = n.ints("kernel_shape"), ones(kernel.size(), 1);
  SmallVector<int64_t> strides = n.ints("strides", ones), dilations = n.ints("dilations", ones);
  if (n.wants(1))
    return n.error("the positions of the maxima (second output) are not supported");
  SmallVector<int64_t> pads = windowPads(n, kernel, strides, dilations);
  n.set(
      n.g.make<PoolOp>(n.g.element(x), x, kind, kernel, strides, pads, dilations, n.i("ceil_mode", 0) != 0));
}
void maxPool(NodeImport &n) { pool(n, PoolKind::max); }
void averagePool(NodeImport &n) {
  pool(n, n.i("count_include_pad", 0) ? PoolKind::average_with_padding : PoolKind::average);
}
template <ReduceKind kind> void globalPool(NodeImport &n) {
  n.set(n.g.reduce(kind, n.in(0), llvm::to_vector(llvm::seq<int64_t>(2, n.g.rank(n.in(0))))));
}
void lpPool(NodeImport &n) { // (sum |x|^p)^(1/p): the average times the window's size
  Value x = n.in(0);
  double p = double(n.i("p", 2));
  SmallVector<int64_t> kernel = n.ints("kernel_shape"), ones(kernel.size(), 1);
  SmallVector<int64_t> strides = n.ints("strides", ones), dilations = n.ints("dilations", ones);
  SmallVector<int64_t> pads = windowPads(n, kernel, strides, dilations);
  double size = 1;
  for (int64_t k : kernel)
    size *= double(k);
  Value power = n.g.pow(n.g.unary<AbsOp>(x), n.g.scalarLike(p, x));
  Value mean = n.g.make<PoolOp>(n.g.element(x), power, PoolKind::average_with_padding, kernel, strides, pads,
                                dilations, n.i("ceil_mode", 0) != 0);
  n.set(n.g.pow(n.g.mul(mean, size), n.g.scalarLike(1 / p, x)));
}
void globalLpPool(NodeImport &n) {
  Value x = n.in(0);
  double p = double(n.i("p", 2));
  Value sum = n.g.reduce(ReduceKind::sum, n.g.pow(n.g.unary<AbsOp>(x), n.g.scalarLike(p, x)),
                         llvm::to_vector(llvm::seq<int64_t>(2, n.g.rank(x))));
  n.set(n.g.pow(sum, n.g.scalarLike(1 / p, x)));
}

void resize(NodeImport &n) {
  Value x = n.in(0);
  int64_t rank = n.g.rank(x);
  Type f32 = n.g.b.getF32Type();
  size_t scalesAt = n.opset < 11 ? 1 : 2;
  auto emptyFloats = [&] {
    return n.g.make<ConstantOp>(f32,
                                DenseElementsAttr::get(RankedTensorType::get({0}, f32), ArrayRef<float>()));
  };
  auto isGiven = [&](size_t i) { return n.has(i) && n.g.shapes.numElements(n.in(i)) != DimExpr(0); };
  bool bySizes = n.opset >= 11 && isGiven(3);
  if (!bySizes && !isGiven(scalesAt))
    return n.error("has neither scales nor sizes");
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (n.hasAttr("axes")) {
    axes = n.ints("axes");
    for (int64_t &a : axes)
      a = n.axis(a, rank);
  }
  if (n.s("keep_aspect_ratio_policy", "stretch") != "stretch")
    return n.error("keep_aspect_ratio_policy is not supported; compute the sizes beforehand");
  Value scales = emptyFloats(), sizes = n.g.ints({}), roi = emptyFloats();
  if (bySizes) {
    sizes = n.in(3);
    if (n.hasAttr("axes")) { // the other dimensions keep their sizes
      SmallVector<Value> all;
      for (int64_t d = 0; d < rank; ++d) {
        auto it = llvm::find(axes, d);
        int64_t k = it - axes.begin();
        all.push_back(it == axes.end() ? n.g.dim(x, d) : n.g.slice(sizes, 0, k, k + 1));
      }
      sizes = n.g.concat(all, 0);
    }
  } else {
    auto c = n.in(scalesAt).getDefiningOp<ConstantOp>();
    auto dense = c ? dyn_cast<DenseFPElementsAttr>(c.getValue()) : DenseFPElementsAttr();
    if (!dense || size_t(dense.getNumElements()) != axes.size())
      return n.error("scales must be constant, one per axis");
    SmallVector<float> all(rank, 1);
    for (auto [axis, v] : llvm::zip(axes, dense.getValues<float>()))
      all[axis] = v;
    scales = n.g.make<ConstantOp>(
        f32, DenseElementsAttr::get(RankedTensorType::get({rank}, f32), ArrayRef<float>(all)));
  }
  std::string coordinates = n.s("coordinate_transformation_mode", n.opset < 11 ? "asymmetric" : "half_pixel");
  if (coordinates == "tf_crop_and_resize") {
    if (n.hasAttr("axes"))
      return n.error("tf_crop_and_resize with axes is not supported");
    roi = n.g.cast(n.in(1), f32);
  }
  n.set(n.g.make<ResizeOp>(n.g.element(x), x, roi, scales, sizes, StringRef(n.s("mode", "nearest")),
                           StringRef(coordinates),
                           StringRef(n.s("nearest_mode", n.opset < 11 ? "floor" : "round_prefer_floor")),
                           APFloat(n.f("cubic_coeff_a", -0.75)), n.i("exclude_outside", 0) != 0,
                           n.i("antialias", 0) != 0, APFloat(n.f("extrapolation_value", 0))));
}

/// The weighted negative log likelihood of [n, c, d...] log probabilities and [n, d...] classes.
void nllLoss(NodeImport &n, Value logp, Value target, Value weight) {
  Value loss = n.g.unary<NegOp>(logp), chosen = target;
  Type element = n.g.element(logp);
  Value ignored;
  if (n.hasAttr("ignore_index")) {
    ignored = n.g.compare(CompareKind::eq, target, n.g.scalarLike(double(n.i("ignore_index", 0)), target));
    chosen = n.g.select(ignored, n.g.scalarLike(0, target), target);
  }
  Value picked = n.g.squeeze(n.g.make<GatherElementsOp>(element, loss, n.g.expandDims(chosen, {1}), 1), {1});
  Value w = weight ? n.g.gather(weight, chosen, 0) : Value();
  if (ignored)
    w = n.g.select(ignored, n.g.scalar(0, element), w ? w : n.g.scalar(1, element));
  if (w)
    picked = n.g.mul(picked, w);
  std::string reduction = n.s("reduction", "mean");
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, n.g.rank(picked)));
  if (reduction == "none")
    return n.set(picked);
  Value sum = n.g.reduce(ReduceKind::sum, picked, all, false);
  if (reduction == "sum")
    return n.set(sum);
  Value total = w ? n.g.reduce(ReduceKind::sum, n.g.expand(w, n.g.shapeOf(picked)), all, false) : Value();
  n.set(total ? n.g.div(sum, total) : n.g.reduce(ReduceKind::mean, picked, all, false));
}
void negativeLogLikelihood(NodeImport &n) { nllLoss(n, n.in(0), n.in(1), n.optional(2)); }
void softmaxCrossEntropy(NodeImport &n) {
  Value logp = n.g.make<LogSoftmaxOp>(n.g.element(n.in(0)), n.in(0), 1);
  n.set(1, logp);
  nllLoss(n, logp, n.in(1), n.optional(2));
}

} // namespace

ArrayRef<HandlerRow> reductionHandlers() {
  static const HandlerRow kRows[] = {
      {"", "ReduceSum", 1, 0, reduce<ReduceKind::sum, same, same>},
      {"", "ReduceMean", 1, 0, reduce<ReduceKind::mean, same, same>},
      {"", "ReduceMax", 1, 0, reduce<ReduceKind::max, same, same>},
      {"", "ReduceMin", 1, 0, reduce<ReduceKind::min, same, same>},
      {"", "ReduceProd", 1, 0, reduce<ReduceKind::prod, same, same>},
      {"", "ReduceL1", 1, 0, reduce<ReduceKind::sum, absolute, same>},
      {"", "ReduceL2", 1, 0, reduce<ReduceKind::sum, square, root>},
      {"", "ReduceLogSum", 1, 0, reduce<ReduceKind::sum, same, logarithm>},
      {"", "ReduceSumSquare", 1, 0, reduce<ReduceKind::sum, square, same>},
      {"", "ReduceLogSumExp", 1, 0, reduceLogSumExp},
      {"", "ArgMax", 1, 0, argReduce<ReduceKind::max>},
      {"", "ArgMin", 1, 0, argReduce<ReduceKind::min>},
      {"", "CumSum", 11, 0, cumulative<ReduceKind::sum>},
      {"", "CumProd", 26, 0, cumulative<ReduceKind::prod>},
      {"", "TopK", 1, 0, topK},
      {"", "NonZero", 9, 0, nonZero},
      {"", "Unique", 11, 0, unique},
      {"", "MaxPool", 1, 0, maxPool},
      {"", "AveragePool", 1, 0, averagePool},
      {"", "LpPool", 2, 0, lpPool},
      {"", "GlobalMaxPool", 1, 0, globalPool<ReduceKind::max>},
      {"", "GlobalAveragePool", 1, 0, globalPool<ReduceKind::mean>},
      {"", "GlobalLpPool", 2, 0, globalLpPool},
      {"", "Resize", 10, 0, resize},
      {"", "Upsample", 9, 9, resize},
      {"", "NegativeLogLikelihoodLoss", 12, 0, negativeLogLikelihood},
      {"", "SoftmaxCrossEntropyLoss", 12, 0, softmaxCrossEntropy},
  };
  return kRows;
}

} // namespace quaver::import
