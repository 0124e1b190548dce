// Normalizations.
#include "compiler/Import/Onnx/NodeImport.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::import {
namespace {

/// A per-channel parameter [c] as [c, 1, ...], to meet [n, c, spatial...].
Value perChannel(NodeImport &n, Value parameter, Value like) {
  if (n.failed())
    return parameter;
  return n.g.expandDims(parameter,
                        llvm::to_vector(llvm::seq<int64_t>(1, std::max<int64_t>(1, n.g.rank(like) - 1))));
}
SmallVector<int64_t> axesFrom(NodeImport &n, int64_t first) {
  return llvm::to_vector(llvm::seq<int64_t>(first, std::max(first, n.g.rank(n.in(0)))));
}

void batchNorm(NodeImport &n) {
  Value x = n.in(0);
  if (n.i("training_mode", 0) || n.wants(1))
    return n.error("training mode is not supported here: export for inference");
  double epsilon = n.f("epsilon", 1e-5);
  Value mean = perChannel(n, n.in(3), x), variance = perChannel(n, n.in(4), x),
        scale = perChannel(n, n.in(1), x), bias = perChannel(n, n.in(2), x);
  Type element = n.g.element(x), stats = n.g.element(mean);
  // Parameters first: with constant ones this is one multiplication and one addition per element.
  Value factor = n.g.div(n.g.cast(scale, stats), n.g.unary<SqrtOp>(n.g.add(variance, epsilon)));
  Value shift = n.g.sub(n.g.cast(bias, stats), n.g.mul(mean, factor));
  n.set(n.g.cast(n.g.add(n.g.mul(n.g.cast(x, stats), factor), shift), element));
}

/// (x - mean) / sqrt(var + epsilon) over the axes.
Value standardized(NodeImport &n, Value x, ArrayRef<int64_t> axes, double epsilon, Value *meanOut = nullptr,
                   Value *inverseOut = nullptr) {
  Value mean = n.g.reduce(ReduceKind::mean, x, axes), centered = n.g.sub(x, mean);
  Value inverse =
      n.g.unary<RsqrtOp>(n.g.add(n.g.reduce(ReduceKind::mean, n.g.mul(centered, centered), axes), epsilon));
  if (meanOut)
    *meanOut = mean;
  if (inverseOut)
    *inverseOut = inverse;
  return n.g.mul(centered, inverse);
}

void instanceNorm(NodeImport &n) {
  Value x = n.in(0), y = standardized(n, x, axesFrom(n, 2), n.f("epsilon", 1e-5));
  n.set(n.g.add(n.g.mul(y, perChannel(n, n.in(1), x)), perChannel(n, n.in(2), x)));
}
void groupNorm(NodeImport &n) {
  Value x = n.in(0);
  int64_t groups = n.i("num_groups", 1);
  Type element = n.g.element(x),
       compute = element.getIntOrFloatBitWidth() < 32 ? Type(n.g.b.getF32Type()) : element;
  Value grouped = n.g.reshape(n.g.cast(x, compute), n.g.concat({n.g.dim(x, 0), n.g.ints({groups, -1})}, 0));
  Value y = n.g.reshape(standardized(n, grouped, {2}, n.f("epsilon", 1e-5)), n.g.shapeOf(x));
  auto parameter = [&](size_t i) { // up to opset 20 one per group, from 21 one per channel
    Value p = n.g.cast(n.in(i), compute);
    if (n.opset < 21 && !n.failed()) {
      Value each = n.g.div(n.g.dim(x, 1), n.g.ints({groups}));
      p = n.g.reshape(n.g.expand(n.g.expandDims(p, {1}), n.g.concat({n.g.ints({groups}), each}, 0)), {-1});
    }
    return perChannel(n, p, x);
  };
  n.set(n.g.cast(n.g.add(n.g.mul(y, parameter(1)), parameter(2)), element));
}
void layerNorm(NodeImport &n) {
  Value x = n.in(0);
  int64_t axis = n.axis(n.i("axis", -1), n.g.rank(x));
  double epsilon = n.f("epsilon", 1e-5);
  n.set(0, n.g.make<LayerNormOp>(n.g.element(x), x, n.in(1), n.optional(2), axis, APFloat(epsilon)));
  if (!n.wants(1) && !n.wants(2))
    return;
  Value mean, inverse;
  standardized(n, n.g.cast(x, n.type(n.i("stash_type", 1))), axesFrom(n, axis), epsilon, &mean, &inverse);
  n.set(1, mean);
  n.set(2, inverse);
}
void rmsNorm(NodeImport &n) {
  Value x = n.in(0);
  n.set(n.g.make<RmsNormOp>(n.g.element(x), x, n.in(1), n.axis(n.i("axis", -1), n.g.rank(x)),
                            APFloat(n.f("epsilon", 1e-5))));
}
void lpNorm(NodeImport &n) {
  Value x = n.in(0);
  int64_t axis = n.axis(n.i("axis", -1), n.g.rank(x));
  Value length = n.i("p", 2) == 1 ? n.g.reduce(ReduceKind::sum, n.g.unary<AbsOp>(x), {axis})
                                  : n.g.unary<SqrtOp>(n.g.reduce(ReduceKind::sum, n.g.mul(x, x), {axis}));
  Value zero = n.g.scalarLike(0, x);
  n.set(n.g.select(n.g.compare(CompareKind::eq, length, zero), zero, n.g.div(x, length)));
}
void meanVarianceNorm(NodeImport &n) {
  Value x = n.in(0);
  SmallVector<int64_t> axes = n.axes(n.ints("axes", {0, 2, 3}), n.g.rank(x));
  Value centered = n.g.sub(x, n.g.reduce(ReduceKind::mean, x, axes));
  Value deviation = n.g.unary<SqrtOp>(n.g.reduce(ReduceKind::mean, n.g.mul(centered, centered), axes));
  n.set(n.g.div(centered, n.g.add(deviation, 1e-9)));
}
void localResponseNorm(NodeImport &n) {
  Value x = n.in(0);
  int64_t size = n.i("size", 1), rank = n.g.rank(x), before = (size - 1) / 2, after = size - 1 - before;
  double alpha = n.f("alpha", 1e-4), beta = n.f("beta", 0.75), bias = n.f("bias", 1);
  if (rank < 2)
    return n.error("needs [n, c, ...], got rank ", rank);
  // Squares summed over a window of channels: padded, then added shifted.
  Value squares = n.g.mul(x, x);
  Value padded = n.g.make<PadOp>(n.g.element(x), squares, n.g.ints({before, after}), n.g.scalarLike(0, x),
                                 ArrayRef<int64_t>{1}, PadMode::constant);
  Value sum;
  for (int64_t k = 0; k < size; ++k) {
    Value begin = n.g.ints({k}), part = n.g.slice(padded, 1, begin, n.g.add(begin, n.g.dim(x, 1)));
    sum = sum ? n.g.add(sum, part) : part;
  }
  Value divisor = n.g.pow(n.g.add(n.g.mul(sum, alpha / double(size)), bias), n.g.scalarLike(beta, x));
  n.set(n.g.div(x, divisor));
}

} // namespace

ArrayRef<HandlerRow> normalizationHandlers() {
  static const HandlerRow kRows[] = {
      {"", "BatchNormalization", 7, 0, batchNorm},
      {"", "InstanceNormalization", 6, 0, instanceNorm},
      {"", "GroupNormalization", 18, 0, groupNorm},
      {"", "LayerNormalization", 17, 0, layerNorm},
      {"", "RMSNormalization", 23, 0, rmsNorm},
      {"", "LpNormalization", 1, 0, lpNorm},
      {"", "MeanVarianceNormalization", 9, 0, meanVarianceNorm},
      {"", "LRN", 1, 0, localResponseNorm},
  };
  return kRows;
}

} // namespace quaver::import
