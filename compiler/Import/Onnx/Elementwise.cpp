// Arithmetic, comparison, logic, casts.
#include "compiler/Import/Onnx/NodeImport.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::import {
namespace {

/// Opsets below 7 aligned a smaller second operand by `axis` when `broadcast` was set.
Value aligned(NodeImport &n, Value x, Value y) {
  if (n.opset >= 7 || !n.i("broadcast", 0) || !n.hasAttr("axis"))
    return y;
  int64_t missing = n.g.rank(x) - n.axis(n.i("axis", 0), n.g.rank(x)) - n.g.rank(y);
  SmallVector<int64_t> axes;
  for (int64_t k = 0; k < missing; ++k)
    axes.push_back(n.g.rank(y) + k);
  return n.g.expandDims(y, axes);
}

template <class Op> void unary(NodeImport &n) { n.set(n.g.unary<Op>(n.in(0))); }
template <class Op> void binary(NodeImport &n) {
  Value x = n.in(0);
  n.set(n.g.binary<Op>(x, aligned(n, x, n.in(1))));
}
template <CompareKind kind> void compare(NodeImport &n) {
  Value x = n.in(0);
  n.set(n.g.compare(kind, x, aligned(n, x, n.in(1))));
}
template <class Op> void variadic(NodeImport &n) {
  Value r = n.in(0);
  for (size_t i = 1; i < n.inputCount(); ++i)
    r = n.g.binary<Op>(r, n.in(i));
  n.set(r);
}

void pow(NodeImport &n) { n.set(n.g.make<PowOp>(n.g.element(n.in(0)), n.in(0), n.in(1))); }
void mean(NodeImport &n) {
  Value r = n.in(0);
  for (size_t i = 1; i < n.inputCount(); ++i)
    r = n.g.add(r, n.in(i));
  n.set(n.g.div(r, double(n.inputCount())));
}
void mod(NodeImport &n) {
  bool truncated = n.i("fmod", 0);
  if (!truncated && isa<FloatType>(n.g.element(n.in(0))))
    return n.error("floats need fmod = 1");
  n.set(n.g.make<RemOp>(n.g.element(n.in(0)), n.in(0), n.in(1), truncated));
}
void bitShift(NodeImport &n) {
  std::string direction = n.s("direction", "");
  if (direction == "LEFT")
    n.set(n.g.binary<ShiftLeftOp>(n.in(0), n.in(1)));
  else if (direction == "RIGHT")
    n.set(n.g.binary<ShiftRightOp>(n.in(0), n.in(1)));
  else
    n.error("direction is \"", direction, "\", expected LEFT or RIGHT");
}
void isInf(NodeImport &n) {
  n.set(n.g.make<IsInfOp>(n.g.b.getI1Type(), n.in(0), n.i("detect_positive", 1) != 0,
                          n.i("detect_negative", 1) != 0));
}
void isNan(NodeImport &n) { n.set(n.g.make<IsNanOp>(n.g.b.getI1Type(), n.in(0))); }
void where(NodeImport &n) { n.set(n.g.select(n.in(0), n.in(1), n.in(2))); }

RoundMode roundMode(NodeImport &n) {
  std::string mode = n.s("round_mode", "up");
  if (mode == "up")
    return RoundMode::up;
  if (mode == "down")
    return RoundMode::down;
  if (mode != "nearest")
    n.error("round_mode is \"", mode, "\", expected up, down or nearest");
  return RoundMode::nearest;
}
void castTo(NodeImport &n, Type to) {
  Value x = n.in(0);
  if (n.g.element(x) == to)
    return n.set(x);
  // Inf into a FNUZ type: NaN up to opset 23, the largest value from 24.
  n.set(n.g.make<CastOp>(to, x, n.i("saturate", 1) != 0, n.opset < 24,
                         isa<Float8E8M0FNUType>(to) ? roundMode(n) : RoundMode::nearest));
}
void cast(NodeImport &n) {
  if (n.opset < 6)
    return n.error("opsets below 6 name the type by a string; export with opset 6 or newer");
  castTo(n, n.type(n.i("to", 0)));
}
void castLike(NodeImport &n) { castTo(n, n.g.element(n.in(1))); }
// A bool is a byte of 0 or 1 in memory, one bit in its type.
void bitCast(NodeImport &n) {
  GraphBuilder &g = n.g;
  Value x = n.in(0);
  Type to = n.type(n.i("to", 0)), byte = IntegerType::get(g.b.getContext(), 8, IntegerType::Unsigned);
  if (g.failed() || !to)
    return;
  if (g.element(x).isInteger(1))
    x = g.cast(x, byte);
  if (to.isInteger(1))
    return n.set(g.cast(g.make<BitcastOp>(byte, x), to));
  n.set(g.element(x) == to ? x : g.make<BitcastOp>(to, x));
}

Value bound(NodeImport &n, Value x, double v) { return n.g.scalarLike(v, x); }
void clip(NodeImport &n) {
  Value x = n.in(0);
  Value low = n.opset < 11 ? (n.hasAttr("min") ? bound(n, x, n.f("min", 0)) : Value()) : n.optional(1);
  Value high = n.opset < 11 ? (n.hasAttr("max") ? bound(n, x, n.f("max", 0)) : Value()) : n.optional(2);
  if (low)
    x = n.g.max(x, low);
  if (high)
    x = n.g.min(x, high);
  n.set(x);
}
void identity(NodeImport &n) {
  n.outputs[0] = n.items.empty() ? Item{} : n.items[0];
  if (!n.outputs[0].value && !n.outputs[0].sequence)
    n.in(0);
}
void dropout(NodeImport &n) {
  if (n.opset >= 12 && n.has(2) && n.g.constants(n.in(2)).value_or(SmallVector<int64_t>{1})[0])
    return n.error("training mode draws random numbers, which inference does not have: export for inference");
  n.set(0, n.in(0));
  if (n.wants(1)) {
    Type mask = n.opset < 10 ? n.g.element(n.in(0)) : Type(n.g.b.getI1Type());
    n.set(1, n.g.expand(n.g.scalar(1, mask), n.g.shapeOf(n.in(0))));
  }
}

} // namespace

ArrayRef<HandlerRow> elementwiseHandlers() {
  static const HandlerRow kRows[] = {
      {"", "Abs", 1, 0, unary<AbsOp>},
      {"", "Neg", 1, 0, unary<NegOp>},
      {"", "Sign", 9, 0, unary<SignOp>},
      {"", "Ceil", 1, 0, unary<CeilOp>},
      {"", "Floor", 1, 0, unary<FloorOp>},
      {"", "Round", 11, 0, unary<RoundOp>},
      {"", "Sqrt", 1, 0, unary<SqrtOp>},
      {"", "Reciprocal", 1, 0, unary<ReciprocalOp>},
      {"", "Exp", 1, 0, unary<ExpOp>},
      {"", "Log", 1, 0, unary<LogOp>},
      {"", "Sin", 7, 0, unary<SinOp>},
      {"", "Cos", 7, 0, unary<CosOp>},
      {"", "Tan", 7, 0, unary<TanOp>},
      {"", "Asin", 7, 0, unary<AsinOp>},
      {"", "Acos", 7, 0, unary<AcosOp>},
      {"", "Atan", 7, 0, unary<AtanOp>},
      {"", "Sinh", 9, 0, unary<SinhOp>},
      {"", "Cosh", 9, 0, unary<CoshOp>},
      {"", "Tanh", 1, 0, unary<TanhOp>},
      {"", "Asinh", 9, 0, unary<AsinhOp>},
      {"", "Acosh", 9, 0, unary<AcoshOp>},
      {"", "Atanh", 9, 0, unary<AtanhOp>},
      {"", "Erf", 9, 0, unary<ErfOp>},
      {"", "Sigmoid", 1, 0, unary<SigmoidOp>},
      {"", "Not", 1, 0, unary<NotOp>},
      {"", "BitwiseNot", 18, 0, unary<BitwiseNotOp>},
      {"", "Add", 1, 0, binary<AddOp>},
      {"", "Sub", 1, 0, binary<SubOp>},
      {"", "Mul", 1, 0, binary<MulOp>},
      {"", "Div", 1, 0, binary<DivOp>},
      {"", "Pow", 1, 0, pow},
      {"", "Mod", 10, 0, mod},
      {"", "Max", 6, 0, variadic<MaxOp>},
      {"", "Min", 6, 0, variadic<MinOp>},
      {"", "Sum", 6, 0, variadic<AddOp>},
      {"", "Mean", 6, 0, mean},
      {"", "And", 1, 0, binary<AndOp>},
      {"", "Or", 1, 0, binary<OrOp>},
      {"", "Xor", 1, 0, binary<XorOp>},
      {"", "BitwiseAnd", 18, 0, binary<BitwiseAndOp>},
      {"", "BitwiseOr", 18, 0, binary<BitwiseOrOp>},
      {"", "BitwiseXor", 18, 0, binary<BitwiseXorOp>},
      {"", "BitShift", 11, 0, bitShift},
      {"", "Equal", 1, 0, compare<CompareKind::eq>},
      {"", "Less", 1, 0, compare<CompareKind::lt>},
      {"", "LessOrEqual", 12, 0, compare<CompareKind::le>},
      {"", "Greater", 1, 0, compare<CompareKind::gt>},
      {"", "GreaterOrEqual", 12, 0, compare<CompareKind::ge>},
      {"", "IsInf", 10, 0, isInf},
      {"", "IsNaN", 9, 0, isNan},
      {"", "Where", 9, 0, where},
      {"", "Cast", 1, 0, cast},
      {"", "CastLike", 15, 0, castLike},
      {"", "BitCast", 26, 0, bitCast},
      {"", "Clip", 1, 0, clip},
      {"", "Identity", 1, 0, identity},
      {"", "Dropout", 7, 0, dropout},
  };
  return kRows;
}

} // namespace quaver::import
