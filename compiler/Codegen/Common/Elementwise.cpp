// Elementwise ops on registers.
#include "compiler/Codegen/Common/Emitter.h"
#include "compiler/Codegen/Common/OpKinds.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::codegen {

using FP = arith::CmpFPredicate;
using IP = arith::CmpIPredicate;

Value Emitter::elementwise(Operation *op, ArrayRef<Value> given) {
  Type out = element(op->getResult(0));
  SmallVector<Value, 3> in(given);
  if (auto s = dyn_cast<SelectOp>(op))
    return select(in[0], in[1], in[2]);
  if (auto c = dyn_cast<CastOp>(op))
    return convert(in[0], element(c.getInput()), out,
                   {c.getSaturate(), c.getFnuzInfToNan(), c.getRoundMode()});
  if (auto c = dyn_cast<BitcastOp>(op)) {
    Type t = like(in[0].getType(), registerType(out));
    return t == in[0].getType() ? in[0] : Value(arith::BitcastOp::create(b, loc, t, in[0]));
  }
  if (auto p = dyn_cast<PowOp>(op))
    return power(p, in[0], in[1]);
  Type e = element(op->getOperand(0));
  bool isFloat = isa<FloatType>(e);
  for (auto [v, operand] : llvm::zip(in, op->getOperands()))
    v = toCompute(v, element(operand));
  unify(in);
  if (auto c = dyn_cast<CompareOp>(op))
    return compareOp(c, in[0], in[1]);
  if (!isFloat)
    return integerOp(op, in);
  Value v = floatOp(op, in);
  return out.isInteger(1) ? v : fromCompute(v, out);
}

Value Emitter::compareOp(CompareOp op, Value x, Value y) {
  Type e = element(op.getLhs());
  static const FP floats[] = {FP::OEQ, FP::UNE, FP::OLT, FP::OLE, FP::OGT, FP::OGE};
  static const IP sints[] = {IP::eq, IP::ne, IP::slt, IP::sle, IP::sgt, IP::sge};
  static const IP uints[] = {IP::eq, IP::ne, IP::ult, IP::ule, IP::ugt, IP::uge};
  unsigned i = unsigned(op.getKind());
  if (isa<FloatType>(e))
    return arith::CmpFOp::create(b, loc, floats[i], x, y);
  return arith::CmpIOp::create(b, loc, isUnsigned(e) ? uints[i] : sints[i], x, y);
}

Value Emitter::maxOf(Value x, Value y, Type element, bool max) {
  if (isa<FloatType>(element)) {
    Value best = math.select(math.cmp(max ? FP::OGT : FP::OLT, x, y), x, y); // y where one is a NaN
    return math.select(math.isNan(x), x, best);
  }
  IP p = isUnsigned(element) ? (max ? IP::ugt : IP::ult) : (max ? IP::sgt : IP::slt);
  return arith::SelectOp::create(b, loc, arith::CmpIOp::create(b, loc, p, x, y), x, y);
}

Value Emitter::floatOp(Operation *op, ArrayRef<Value> in) {
  Value x = in[0], y = in.size() > 1 ? in[1] : Value();
  double inf = std::numeric_limits<double>::infinity();
  auto c = [&](double v) { return math.c(x, v); };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<AddOp>([&](auto) { return math.add(x, y); })
      .Case<SubOp>([&](auto) { return math.sub(x, y); })
      .Case<MulOp>([&](auto) { return math.mul(x, y); })
      .Case<DivOp>([&](auto) { return math.div(x, y); })
      .Case<RemOp>([&](RemOp r) {
        // x - y * trunc(x / y) is not exact for large quotients, so the remainder is peeled off by fma in two
        // steps.
        Value q = math::TruncOp::create(b, loc, math.div(x, y));
        Value rest = math.fma(math.sub(c(0), q), y, x);
        Value q2 = math::TruncOp::create(b, loc, math.div(rest, y));
        rest = math.fma(math.sub(c(0), q2), y, rest);
        // The quotient may have been rounded up: the remainder then has the wrong sign.
        Value wrong = math.lt(math.mul(math.withSign(c(1), rest), math.withSign(c(1), x)), c(0));
        wrong = arith::AndIOp::create(b, loc, wrong, math.cmp(FP::ONE, rest, c(0)));
        rest = math.select(wrong, math.add(rest, math.withSign(math.abs(y), x)), rest);
        Value infinite =
            arith::AndIOp::create(b, loc, math.eq(math.abs(y), c(inf)), math.lt(math.abs(x), c(inf)));
        rest = math.select(infinite, x, rest);
        if (r.getTruncated())
          return math.withSign(rest, x);
        Value other =
            arith::AndIOp::create(b, loc, math.cmp(FP::ONE, rest, c(0)),
                                  math.lt(math.mul(math.withSign(c(1), rest), math.withSign(c(1), y)), c(0)));
        return math.select(other, math.add(rest, y), rest);
      })
      .Case<MaxOp>(
          [&](auto) { return maxOf(x, y, x.getType().isF64() ? b.getF64Type() : b.getF32Type(), true); })
      .Case<MinOp>([&](auto) { return maxOf(x, y, b.getF32Type(), false); })
      .Case<NegOp>([&](auto) -> Value { return arith::NegFOp::create(b, loc, x); })
      .Case<AbsOp>([&](auto) { return math.abs(x); })
      .Case<SignOp>([&](auto) {
        Value s = math.select(math.gt(x, c(0)), c(1), math.select(math.lt(x, c(0)), c(-1), c(0)));
        return math.select(math.isNan(x), x, s);
      })
      .Case<CeilOp>([&](auto) -> Value { return math::CeilOp::create(b, loc, x); })
      .Case<FloorOp>([&](auto) -> Value { return math::FloorOp::create(b, loc, x); })
      .Case<RoundOp>([&](auto) -> Value { return math::RoundEvenOp::create(b, loc, x); })
      .Case<TruncOp>([&](auto) -> Value { return math::TruncOp::create(b, loc, x); })
      .Case<SqrtOp>([&](auto) { return math.sqrt(x); })
      .Case<RsqrtOp>([&](auto) { return math.div(c(1), math.sqrt(x)); })
      .Case<ReciprocalOp>([&](auto) { return math.div(c(1), x); })
      .Case<ExpOp>([&](auto) { return math.exp(x); })
      .Case<LogOp>([&](auto) { return math.log(x); })
      .Case<SinOp>([&](auto) { return math.sin(x); })
      .Case<CosOp>([&](auto) { return math.cos(x); })
      .Case<TanOp>([&](auto) { return math.tan(x); })
      .Case<AsinOp>([&](auto) { return math.asin(x); })
      .Case<AcosOp>([&](auto) { return math.acos(x); })
      .Case<AtanOp>([&](auto) { return math.atan(x); })
      .Case<SinhOp>([&](auto) { return math.sinh(x); })
      .Case<CoshOp>([&](auto) { return math.cosh(x); })
      .Case<TanhOp>([&](auto) { return math.tanh(x); })
      .Case<AsinhOp>([&](auto) { return math.asinh(x); })
      .Case<AcoshOp>([&](auto) { return math.acosh(x); })
      .Case<AtanhOp>([&](auto) { return math.atanh(x); })
      .Case<ErfOp>([&](auto) { return math.erf(x); })
      .Case<SigmoidOp>([&](auto) { return math.sigmoid(x); })
      .Case<IsNanOp>([&](auto) { return math.isNan(x); })
      .Case<IsInfOp>([&](IsInfOp i) {
        Value no = intConst(like(x.getType(), b.getI1Type()), 0);
        Value p = i.getDetectPositive() ? math.eq(x, c(inf)) : no,
              n = i.getDetectNegative() ? math.eq(x, c(-inf)) : no;
        return arith::OrIOp::create(b, loc, p, n).getResult();
      })
      .Default([&](Operation *o) { return fail(o, "the op is not defined on floats"); });
}

Value Emitter::power(PowOp op, Value x, Value y) {
  Type e = element(op.getLhs()), ey = element(op.getRhs());
  auto k = op.getRhs().getDefiningOp<ConstantOp>();
  std::optional<double> exponent;
  if (auto d = k ? dyn_cast<DenseElementsAttr>(k.getValue()) : DenseElementsAttr(); d && d.isSplat()) {
    if (auto f = dyn_cast<FloatAttr>(d.getSplatValue<Attribute>()))
      exponent = f.getValueAsDouble();
    else if (auto i = dyn_cast<IntegerAttr>(d.getSplatValue<Attribute>()))
      exponent = double(i.getInt());
  }
  if (!isa<FloatType>(e)) {
    // Integers: square and multiply over the bits of the exponent; a negative one gives 1, -1 or 0.
    Value v[] = {x, convert(y, ey, e)};
    unify(v);
    Type t = v[0].getType();
    Value r = intConst(t, 1), base = v[0], n = v[1];
    unsigned bits = getElementTypeOrSelf(t).getIntOrFloatBitWidth();
    for (unsigned i = 0; i < std::min(bits, 64u); ++i) {
      Value on = arith::CmpIOp::create(
          b, loc, IP::ne, arith::AndIOp::create(b, loc, n, intConst(t, int64_t(uint64_t(1) << i))),
          intConst(t, 0));
      if (i < 6 || i < bits)
        r = arith::SelectOp::create(b, loc, on, arith::MulIOp::create(b, loc, r, base), r);
      base = arith::MulIOp::create(b, loc, base, base);
    }
    if (isUnsigned(e))
      return r;
    Value isOne = arith::CmpIOp::create(b, loc, IP::eq, v[0], intConst(t, 1)),
          isMinus = arith::CmpIOp::create(b, loc, IP::eq, v[0], intConst(t, -1));
    Value odd = arith::CmpIOp::create(b, loc, IP::ne, arith::AndIOp::create(b, loc, n, intConst(t, 1)),
                                      intConst(t, 0));
    Value small = arith::SelectOp::create(
        b, loc, isOne, intConst(t, 1),
        arith::SelectOp::create(b, loc, isMinus,
                                arith::SelectOp::create(b, loc, odd, intConst(t, -1), intConst(t, 1)),
                                intConst(t, 0)));
    return arith::SelectOp::create(b, loc, arith::CmpIOp::create(b, loc, IP::slt, n, intConst(t, 0)), small,
                                   r);
  }
  Value f = toCompute(x, e);
  if (exponent == 2.0)
    return fromCompute(math.mul(f, f), e);
  if (exponent == 3.0)
    return fromCompute(math.mul(math.mul(f, f), f), e);
  if (exponent == 1.0)
    return x;
  Value v[] = {f, convert(y, ey, computeType(e))};
  unify(v);
  return fromCompute(math.pow(v[0], v[1]), e);
}

} // namespace quaver::codegen
