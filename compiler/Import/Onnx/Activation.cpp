// Activations, composed from elementwise ops.
#include "compiler/Import/Onnx/NodeImport.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::import {
namespace {

Value zero(NodeImport &n, Value x) { return n.g.scalarLike(0, x); }
Value whereLess(NodeImport &n, Value x, double limit, Value below, Value otherwise) {
  return n.g.select(n.g.compare(CompareKind::lt, x, n.g.scalarLike(limit, x)), below, otherwise);
}
Value softplusOf(NodeImport &n, Value x) { // log(1 + e^x) without overflow: max(x, 0) + log(1 + e^-|x|)
  Value e = n.g.exp(n.g.unary<NegOp>(n.g.unary<AbsOp>(x)));
  return n.g.add(n.g.max(x, zero(n, x)), n.g.log(n.g.add(e, 1.0)));
}

void relu(NodeImport &n) { n.set(n.g.max(n.in(0), zero(n, n.in(0)))); }
void leakyRelu(NodeImport &n) {
  Value x = n.in(0);
  n.set(whereLess(n, x, 0, n.g.mul(x, n.f("alpha", 0.01)), x));
}
void prelu(NodeImport &n) {
  Value x = n.in(0);
  n.set(n.g.select(n.g.compare(CompareKind::lt, x, zero(n, x)), n.g.mul(x, n.in(1)), x));
}
Value eluOf(NodeImport &n, Value x, double alpha) {
  return whereLess(n, x, 0, n.g.mul(n.g.add(n.g.exp(n.g.min(x, zero(n, x))), -1.0), alpha), x);
}
void elu(NodeImport &n) { n.set(eluOf(n, n.in(0), n.f("alpha", 1))); }
void selu(NodeImport &n) {
  n.set(n.g.mul(eluOf(n, n.in(0), n.f("alpha", 1.67326319217681884765625)),
                n.f("gamma", 1.05070102214813232421875)));
}
void celu(NodeImport &n) {
  Value x = n.in(0);
  double alpha = n.f("alpha", 1);
  Value negative = n.g.mul(n.g.add(n.g.exp(n.g.div(n.g.min(x, zero(n, x)), alpha)), -1.0), alpha);
  n.set(n.g.add(n.g.max(x, zero(n, x)), n.g.min(negative, zero(n, x))));
}
void gelu(NodeImport &n) {
  Value x = n.in(0), inner;
  if (n.s("approximate", "none") == "tanh") {
    Value cube = n.g.mul(n.g.mul(x, x), x);
    inner =
        n.g.unary<TanhOp>(n.g.mul(n.g.add(x, n.g.mul(cube, 0.044715)), 0.7978845608028654)); // sqrt(2 / pi)
  } else {
    inner = n.g.unary<ErfOp>(n.g.mul(x, 0.7071067811865476)); // 1 / sqrt(2)
  }
  n.set(n.g.mul(n.g.mul(x, 0.5), n.g.add(inner, 1.0)));
}
void hardSigmoid(NodeImport &n) {
  Value x = n.in(0), y = n.g.add(n.g.mul(x, n.f("alpha", 0.2)), n.f("beta", 0.5));
  n.set(n.g.min(n.g.max(y, zero(n, x)), n.g.scalarLike(1, x)));
}
void hardSwish(NodeImport &n) {
  Value x = n.in(0), y = n.g.add(n.g.mul(x, 1.0 / 6), 0.5);
  n.set(n.g.mul(x, n.g.min(n.g.max(y, zero(n, x)), n.g.scalarLike(1, x))));
}
void softplus(NodeImport &n) { n.set(softplusOf(n, n.in(0))); }
void softsign(NodeImport &n) { n.set(n.g.div(n.in(0), n.g.add(n.g.unary<AbsOp>(n.in(0)), 1.0))); }
void mish(NodeImport &n) { n.set(n.g.mul(n.in(0), n.g.unary<TanhOp>(softplusOf(n, n.in(0))))); }
void swish(NodeImport &n) {
  n.set(n.g.mul(n.in(0), n.g.unary<SigmoidOp>(n.g.mul(n.in(0), n.f("alpha", 1)))));
}
void thresholdedRelu(NodeImport &n) {
  Value x = n.in(0);
  n.set(n.g.select(n.g.compare(CompareKind::gt, x, n.g.scalarLike(n.f("alpha", 1), x)), x, zero(n, x)));
}
void shrink(NodeImport &n) {
  Value x = n.in(0);
  double lambda = n.f("lambd", 0.5), bias = n.f("bias", 0);
  Value above = n.g.compare(CompareKind::gt, x, n.g.scalarLike(lambda, x)),
        y = n.g.select(above, n.g.add(x, -bias), zero(n, x));
  n.set(whereLess(n, x, -lambda, n.g.add(x, bias), y));
}

/// Softmax below opset 13 flattens the dimensions from `axis` on into one.
template <class Op> void softmax(NodeImport &n) {
  Value x = n.in(0);
  int64_t rank = n.g.rank(x), axis = n.axis(n.i("axis", n.opset < 13 ? 1 : -1), std::max<int64_t>(rank, 1));
  if (n.opset >= 13 || axis + 1 == rank)
    return n.set(n.g.make<Op>(n.g.element(x), x, axis));
  Value sizes = n.g.concat({n.g.shapeOf(x, 0, axis), n.g.ints({-1})}, 0);
  Value flat = n.g.reshape(x, axis == 0 ? n.g.ints({-1}) : sizes);
  n.set(n.g.reshape(n.g.make<Op>(n.g.element(x), flat, axis), n.g.shapeOf(x)));
}
void hardmax(NodeImport &n) {
  Value x = n.in(0);
  int64_t rank = n.g.rank(x), axis = n.axis(n.i("axis", n.opset < 13 ? 1 : -1), rank);
  Value flat = x;
  if (n.opset < 13 && axis + 1 != rank)
    flat =
        n.g.reshape(x, axis == 0 ? n.g.ints({-1}) : n.g.concat({n.g.shapeOf(x, 0, axis), n.g.ints({-1})}, 0));
  Value best = n.g.make<ArgReduceOp>(n.g.b.getI64Type(), flat, ReduceKind::max, axis, true, false);
  SmallVector<int64_t> others;
  for (int64_t d = 0; d < n.g.rank(flat); ++d)
    if (d != axis)
      others.push_back(d);
  Value position = n.g.expandDims(n.g.iota(n.g.dim(flat, axis)), others);
  Value hot = n.g.select(n.g.compare(CompareKind::eq, position, best), n.g.scalarLike(1, x), zero(n, x));
  n.set(flat == x ? hot : n.g.reshape(hot, n.g.shapeOf(x)));
}

} // namespace

ArrayRef<HandlerRow> activationHandlers() {
  static const HandlerRow kRows[] = {
      {"", "Relu", 1, 0, relu},
      {"", "LeakyRelu", 1, 0, leakyRelu},
      {"", "PRelu", 7, 0, prelu},
      {"", "Elu", 1, 0, elu},
      {"", "Selu", 1, 0, selu},
      {"", "Celu", 12, 0, celu},
      {"", "Gelu", 20, 0, gelu},
      {"", "HardSigmoid", 1, 0, hardSigmoid},
      {"", "HardSwish", 14, 0, hardSwish},
      {"", "Softplus", 1, 0, softplus},
      {"", "Softsign", 1, 0, softsign},
      {"", "Mish", 18, 0, mish},
      {"", "Swish", 24, 0, swish},
      {"", "ThresholdedRelu", 10, 0, thresholdedRelu},
      {"", "Shrink", 9, 0, shrink},
      {"", "Softmax", 1, 0, softmax<SoftmaxOp>},
      {"", "LogSoftmax", 1, 0, softmax<LogSoftmaxOp>},
      {"", "Hardmax", 1, 0, hardmax},
  };
  return kRows;
}

} // namespace quaver::import
