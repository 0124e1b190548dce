// Elementwise ops on integers and booleans.
#include "compiler/Codegen/Common/Emitter.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::codegen {

using IP = arith::CmpIPredicate;

// x / 0 = 0, the lowest / -1 wraps: neither may trap, and to LLVM both are undefined.
Value Emitter::divide(Value x, Value y, bool isUnsigned, bool remainder) {
  Type t = x.getType();
  Value zero = intConst(t, 0), one = intConst(t, 1);
  Value byZero = arith::CmpIOp::create(b, loc, IP::eq, y, zero);
  Value r;
  if (isUnsigned) {
    Value d = arith::SelectOp::create(b, loc, byZero, one, y);
    r = remainder ? Value(arith::RemUIOp::create(b, loc, x, d)) : Value(arith::DivUIOp::create(b, loc, x, d));
  } else {
    Value byMinus = arith::CmpIOp::create(b, loc, IP::eq, y, intConst(t, -1));
    Value d = arith::SelectOp::create(b, loc, arith::OrIOp::create(b, loc, byZero, byMinus), one, y);
    r = remainder ? Value(arith::RemSIOp::create(b, loc, x, d)) : Value(arith::DivSIOp::create(b, loc, x, d));
    r = arith::SelectOp::create(b, loc, byMinus,
                                remainder ? zero : Value(arith::SubIOp::create(b, loc, zero, x)), r);
  }
  return arith::SelectOp::create(b, loc, byZero, zero, r);
}

Value Emitter::integerOp(Operation *op, ArrayRef<Value> in) {
  Value x = in[0], y = in.size() > 1 ? in[1] : Value();
  Type t = x.getType(), e = element(op->getOperand(0));
  bool u = isUnsigned(e);
  auto c = [&](int64_t v) { return intConst(t, v); };
  auto shift = [&](bool left) -> Value {
    unsigned bits = getElementTypeOrSelf(t).getIntOrFloatBitWidth();
    Value tooFar = arith::CmpIOp::create(b, loc, IP::uge, y, c(bits));
    Value n = arith::SelectOp::create(b, loc, tooFar, u || left ? c(0) : c(bits - 1), y);
    Value r = left ? Value(arith::ShLIOp::create(b, loc, x, n))
              : u  ? Value(arith::ShRUIOp::create(b, loc, x, n))
                   : Value(arith::ShRSIOp::create(b, loc, x, n));
    return u || left ? Value(arith::SelectOp::create(b, loc, tooFar, c(0), r)) : r;
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<AddOp>([&](auto) -> Value { return arith::AddIOp::create(b, loc, x, y); })
      .Case<SubOp>([&](auto) -> Value { return arith::SubIOp::create(b, loc, x, y); })
      .Case<MulOp>([&](auto) -> Value { return arith::MulIOp::create(b, loc, x, y); })
      .Case<DivOp>([&](auto) { return divide(x, y, u, false); })
      .Case<RemOp>([&](RemOp r) -> Value {
        Value m = divide(x, y, u, true);
        if (u || r.getTruncated())
          return m;
        Value mixed = arith::CmpIOp::create(b, loc, IP::slt, arith::XOrIOp::create(b, loc, m, y), c(0));
        mixed = arith::AndIOp::create(b, loc, mixed, arith::CmpIOp::create(b, loc, IP::ne, m, c(0)));
        return arith::SelectOp::create(b, loc, mixed, arith::AddIOp::create(b, loc, m, y), m);
      })
      .Case<MaxOp>([&](auto) { return maxOf(x, y, e, true); })
      .Case<MinOp>([&](auto) { return maxOf(x, y, e, false); })
      .Case<NegOp>([&](auto) -> Value { return arith::SubIOp::create(b, loc, c(0), x); })
      .Case<AbsOp>([&](auto) -> Value {
        if (u)
          return x;
        return arith::SelectOp::create(b, loc, arith::CmpIOp::create(b, loc, IP::slt, x, c(0)),
                                       arith::SubIOp::create(b, loc, c(0), x), x);
      })
      .Case<SignOp>([&](auto) -> Value {
        Value positive = arith::SelectOp::create(
            b, loc, arith::CmpIOp::create(b, loc, u ? IP::ugt : IP::sgt, x, c(0)), c(1), c(0));
        if (u)
          return positive;
        return arith::SelectOp::create(b, loc, arith::CmpIOp::create(b, loc, IP::slt, x, c(0)), c(-1),
                                       positive);
      })
      .Case<CeilOp, FloorOp, RoundOp, TruncOp>([&](auto) { return x; })
      .Case<NotOp, BitwiseNotOp>([&](auto) -> Value { return arith::XOrIOp::create(b, loc, x, c(-1)); })
      .Case<AndOp, BitwiseAndOp>([&](auto) -> Value { return arith::AndIOp::create(b, loc, x, y); })
      .Case<OrOp, BitwiseOrOp>([&](auto) -> Value { return arith::OrIOp::create(b, loc, x, y); })
      .Case<XorOp, BitwiseXorOp>([&](auto) -> Value { return arith::XOrIOp::create(b, loc, x, y); })
      .Case<ShiftLeftOp>([&](auto) { return shift(true); })
      .Case<ShiftRightOp>([&](auto) { return shift(false); })
      .Default([&](Operation *o) { return fail(o, "the op is not defined on integers"); });
}

} // namespace quaver::codegen
