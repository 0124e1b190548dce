// QuantizeLinear and its kin.
#include "compiler/Import/Onnx/NodeImport.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::import {
namespace {

bool isFp8(Type t) { return isa<FloatType>(t) && t.getIntOrFloatBitWidth() == 8; }

/// A zero point that matters; of FP8 it only names the type and must be 0.
Value zeroPoint(NodeImport &n, size_t i) {
  if (!n.has(i) || isFp8(n.g.element(n.in(i))))
    return {};
  return n.in(i);
}
/// An axis is read where the scale has a dimension; a scalar or one element is for the whole tensor.
int64_t quantAxis(NodeImport &n, Value x, Value scale) {
  int64_t rank = n.g.rank(x), given = n.i("axis", 1);
  if (n.failed() || n.g.rank(scale) == 0 || n.g.shapes.numElements(scale) == DimExpr(1))
    return 0;
  return n.axis(given, rank);
}

void quantize(NodeImport &n) {
  Value x = n.in(0), scale = n.in(1);
  Type out = n.has(2)                 ? n.g.element(n.in(2))
             : n.i("output_dtype", 0) ? n.type(n.i("output_dtype", 0))
                                      : Type(n.g.b.getIntegerType(8, false));
  Type compute = n.i("precision", 0) ? n.type(n.i("precision", 0)) : n.g.element(x);
  if (!isa<FloatType>(compute))
    compute = n.g.b.getF32Type();
  if (isFp8(n.g.element(scale)) && !n.i("precision", 0) && !isa<FloatType>(n.g.element(x)))
    compute = n.g.b.getF32Type();
  n.set(n.g.make<QuantizeOp>(out, x, scale, zeroPoint(n, 2), quantAxis(n, x, scale), n.i("block_size", 0),
                             n.i("saturate", 1) != 0, compute));
}
void dequantize(NodeImport &n) {
  Value x = n.in(0), scale = n.in(1);
  Type out = n.i("output_dtype", 0) ? n.type(n.i("output_dtype", 0)) : n.g.element(scale);
  if (isFp8(out))
    out = n.g.b.getF32Type();
  n.set(n.g.make<DequantizeOp>(out, x, scale, zeroPoint(n, 2), quantAxis(n, x, scale), n.i("block_size", 0)));
}
void dynamicQuantize(NodeImport &n) {
  GraphBuilder &g = n.g;
  Value x = n.in(0);
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, g.rank(x)));
  Value zero = g.scalarLike(0, x), high = g.max(g.reduce(ReduceKind::max, x, all, false), zero),
        low = g.min(g.reduce(ReduceKind::min, x, all, false), zero);
  Value scale = g.div(g.sub(high, low), 255.0);
  Value z = g.unary<RoundOp>(g.min(g.max(g.div(g.unary<NegOp>(low), scale), zero), g.scalarLike(255, x)));
  Type u8 = g.b.getIntegerType(8, false);
  Value zeroPoint = g.cast(z, u8);
  n.set(0, g.make<QuantizeOp>(u8, x, scale, zeroPoint, 0, 0, true, g.element(x)));
  n.set(1, scale);
  n.set(2, zeroPoint);
}
Value dequantized(NodeImport &n, size_t x, size_t scale, size_t zero, int64_t axis) {
  return n.g.make<DequantizeOp>(n.g.b.getF32Type(), n.in(x), n.in(scale), zeroPoint(n, zero), axis, 0);
}
void qlinearMatmul(NodeImport &n) {
  GraphBuilder &g = n.g;
  if (n.failed())
    return;
  Value a = dequantized(n, 0, 1, 2, std::max<int64_t>(0, g.rank(n.in(0)) - 2)),
        b = dequantized(n, 3, 4, 5, std::max<int64_t>(0, g.rank(n.in(3)) - 1));
  Value y = g.matmul(a, b);
  Type f32 = g.b.getF32Type();
  n.set(g.make<QuantizeOp>(g.element(n.in(7)), y, n.in(6), zeroPoint(n, 7), 0, 0, true, f32));
}
void qlinearConv(NodeImport &n) {
  GraphBuilder &g = n.g;
  Value x = dequantized(n, 0, 1, 2, 0), w = dequantized(n, 3, 4, 5, 0);
  if (n.failed())
    return;
  size_t spatial = g.rank(x) - 2;
  SmallVector<int64_t> ones(spatial, 1), zeros(2 * spatial, 0);
  Value y = g.make<ConvOp>(g.b.getF32Type(), x, w, n.ints("strides", ones), n.ints("pads", zeros),
                           n.ints("dilations", ones), n.i("group", 1));
  if (n.has(8)) { // the bias is in units of both scales
    Value scale = g.mul(g.cast(n.in(1), g.b.getF32Type()), g.cast(n.in(4), g.b.getF32Type()));
    Value bias = g.mul(g.cast(n.in(8), g.b.getF32Type()), scale);
    y = g.add(y, g.expandDims(bias, llvm::to_vector(llvm::seq<int64_t>(1, int64_t(spatial) + 1))));
  }
  n.set(g.make<QuantizeOp>(g.element(n.in(7)), y, n.in(6), zeroPoint(n, 7), 0, 0, true, g.b.getF32Type()));
}

} // namespace

ArrayRef<HandlerRow> quantizationHandlers() {
  static const HandlerRow kRows[] = {
      {"", "QuantizeLinear", 10, 0, quantize},
      {"", "DequantizeLinear", 10, 0, dequantize},
      {"", "DynamicQuantizeLinear", 11, 0, dynamicQuantize},
      {"", "QLinearMatMul", 10, 0, qlinearMatmul},
      {"", "QLinearConv", 10, 0, qlinearConv},
  };
  return kRows;
}

} // namespace quaver::import
