// Concat, pad, range, shape: values that depend on where the index lies.
#include "compiler/Codegen/Common/Emitter.h"

using namespace mlir;

namespace quaver::codegen {

using P = arith::CmpIPredicate;

Value Emitter::concat(graph::ConcatOp op, ArrayRef<Index> given) {
  int64_t axis = op.getAxis();
  Indices idx(given);
  split(idx, dims(op.getResult()), [&](int64_t i) { return i != axis && i + 1 != axis; });
  std::function<Value(size_t, DimExpr)> from = [&](size_t part, DimExpr offset) -> Value {
    Value in = op.getInputs()[part];
    Indices at0 = idx;
    at0[axis] = plus(idx[axis], scalar(size(DimExpr(0) - offset)));
    if (part + 1 == op.getInputs().size())
      return at(in, at0);
    DimExpr end = offset + dims(in)[axis];
    Value inside =
        compare(P::slt, valueOf(idx[axis]), isVector(valueOf(idx[axis])) ? splat(size(end)) : size(end));
    return choose(inside, [&] { return at(in, at0); }, [&] { return from(part + 1, end); });
  };
  return from(0, DimExpr(0));
}

Value Emitter::pad(graph::PadOp op, ArrayRef<Index> given) {
  auto axes = op.getAxes();
  Indices idx(given);
  split(idx, dims(op.getResult()),
        [&](int64_t i) { return !llvm::is_contained(axes, i) && !llvm::is_contained(axes, i + 1); });
  const Dims &in = dims(op.getInput());
  Value inside;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    Value before = elementOf(op.getPads(), i), n = size(in[axis]);
    if (matchPattern(before, m_Zero()) && dims(op.getResult())[axis] == in[axis])
      continue;
    Index moved = plus(idx[axis], scalar(sub(num(0), before)));
    Value p = valueOf(moved);
    auto c = [&](Value x) { return isVector(p) ? splat(x) : x; };
    switch (op.getMode()) {
    case graph::PadMode::constant:
      inside = both(inside, both(compare(P::sge, p, c(num(0))), compare(P::slt, p, c(n))));
      break;
    case graph::PadMode::edge:
      moved = indexOf(arith(Arith::MaxS, arith(Arith::MinS, p, c(sub(n, num(1)))), c(num(0))));
      break;
    case graph::PadMode::wrap: {
      Value m = c(arith(Arith::MaxS, n, num(1)));
      p = arith::RemSIOp::create(b, loc, p, m);
      moved = indexOf(select(compare(P::slt, p, c(num(0))), arith(Arith::Add, p, m), p));
      break;
    }
    case graph::PadMode::reflect: {
      Value period = c(arith(Arith::MaxS, mul(num(2), sub(n, num(1))), num(1)));
      p = arith::RemSIOp::create(b, loc, p, period);
      p = select(compare(P::slt, p, c(num(0))), arith(Arith::Add, p, period), p);
      moved = indexOf(select(compare(P::sge, p, c(n)), arith(Arith::Sub, period, p), p));
      break;
    }
    }
    idx[axis] = moved;
  }
  if (!inside)
    return at(op.getInput(), idx);
  return choose(inside, [&] { return at(op.getInput(), idx); }, [&] { return at(op.getValue(), {}); });
}

Value Emitter::range(graph::RangeOp op, ArrayRef<Index> idx) {
  Type e = element(op.getResult());
  Value i = convert(valueOf(idx[0]), b.getI64Type(), computeType(e));
  Value v[] = {toCompute(at(op.getStart(), {}), e), toCompute(at(op.getDelta(), {}), e), i};
  unify(v);
  if (isa<FloatType>(e))
    return fromCompute(arith::AddFOp::create(b, loc, v[0], arith::MulFOp::create(b, loc, v[1], v[2])), e);
  return arith::AddIOp::create(b, loc, v[0], arith::MulIOp::create(b, loc, v[1], v[2]));
}

Value Emitter::shapeElement(graph::ShapeOp op, ArrayRef<Index> idx) {
  const Dims &d = dims(op.getInput());
  Value which = valueOf(idx[0]), v = num(0);
  for (int64_t i = op.getStart(); i < int64_t(op.getEnd()); ++i) {
    Value at = num(i - op.getStart());
    v = select(compare(P::eq, which, isVector(which) ? splat(at) : at), size(d[i]), v);
  }
  return v;
}

} // namespace quaver::codegen
