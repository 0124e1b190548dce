// Conversions between element types, bit for bit as runtime/numerics does them.
#include "compiler/Codegen/Common/Emitter.h"

using namespace mlir;

namespace quaver::codegen {

using FP = arith::CmpFPredicate;
using IP = arith::CmpIPredicate;

Value Emitter::convert(Value v, Type from, Type to, CastRule rule) {
  if (from == to)
    return v;
  Type t = like(v.getType(), registerType(to)), f32 = b.getF32Type(), f64 = b.getF64Type();
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  bool smallFrom = fromFloat && from.getIntOrFloatBitWidth() < 32,
       smallTo = toFloat && to.getIntOrFloatBitWidth() < 32;
  if (smallFrom)
    return convert(decodeSmall(v, from), f32, to, rule);
  if (to.isInteger(1)) {
    if (fromFloat)
      return arith::CmpFOp::create(b, loc, FP::UNE, v, math.c(v, 0));
    return arith::CmpIOp::create(b, loc, IP::ne, v, intConst(v.getType(), 0));
  }
  if (from.isInteger(1)) {
    if (!toFloat)
      return arith::ExtUIOp::create(b, loc, t, v);
    Type wide = like(v.getType(), to.isF64() ? f64 : f32);
    Value f = arith::SelectOp::create(b, loc, v, floatConst(wide, 1), floatConst(wide, 0));
    return smallTo ? encodeSmall(f, to, rule) : f;
  }
  if (!fromFloat && !toFloat) {
    unsigned a = registerType(from).getIntOrFloatBitWidth(), z = registerType(to).getIntOrFloatBitWidth();
    if (a == z)
      return v;
    if (a > z)
      return arith::TruncIOp::create(b, loc, t, v);
    return isUnsigned(from) ? Value(arith::ExtUIOp::create(b, loc, t, v))
                            : Value(arith::ExtSIOp::create(b, loc, t, v));
  }
  if (!fromFloat) {
    Type wide = like(v.getType(), to.isF32() ? f32 : f64);
    Value f = isUnsigned(from) ? Value(arith::UIToFPOp::create(b, loc, wide, v))
                               : Value(arith::SIToFPOp::create(b, loc, wide, v));
    return smallTo ? encodeSmall(roundToOdd(f), to, rule) : f;
  }
  if (!toFloat)
    return floatToInt(v, to);
  if (smallTo)
    return encodeSmall(from.isF64() ? roundToOdd(v) : v, to, rule);
  return to.isF64() ? Value(arith::ExtFOp::create(b, loc, t, v))
                    : Value(arith::TruncFOp::create(b, loc, t, v));
}

// Toward zero, clamped to the integer's range, NaN gives 0.
Value Emitter::floatToInt(Value v, Type to) {
  unsigned bits = registerType(to).getIntOrFloatBitWidth();
  bool u = isUnsigned(to);
  if (getElementTypeOrSelf(v.getType()).isF32())
    v = arith::ExtFOp::create(b, loc, like(v.getType(), b.getF64Type()), v);
  Type t = like(v.getType(), registerType(to)),
       wide = like(v.getType(), b.getIntegerType(bits <= 32 ? 64 : bits));
  double top = std::ldexp(1.0, u ? int(bits) : int(bits) - 1), bottom = u ? 0 : -top;
  Value high = math.cmp(FP::OGE, v, math.c(v, top)), low = math.cmp(FP::OLE, v, math.c(v, bottom));
  Value ok = arith::XOrIOp::create(
      b, loc, arith::OrIOp::create(b, loc, arith::OrIOp::create(b, loc, high, low), math.isNan(v)),
      intConst(high.getType(), 1));
  Value safe = math.select(ok, v, math.c(v, 0));
  Value i = u && bits == 64 ? Value(arith::FPToUIOp::create(b, loc, wide, safe))
                            : Value(arith::FPToSIOp::create(b, loc, wide, safe));
  if (wide != t)
    i = arith::TruncIOp::create(b, loc, t, i);
  int64_t max =
      u ? (bits == 64 ? -1 : int64_t((uint64_t(1) << bits) - 1)) : int64_t((uint64_t(1) << (bits - 1)) - 1);
  APInt maxBits(bits, uint64_t(max), false, true),
      minBits = u ? APInt(bits, 0) : APInt::getSignedMinValue(bits);
  i = arith::SelectOp::create(b, loc, high, intConst(t, maxBits.getSExtValue()), i);
  return arith::SelectOp::create(b, loc, low, intConst(t, minBits.getSExtValue()), i);
}

// f64 -> f32 such that a second rounding, to a narrower format, rounds as if it had been the only one.
Value Emitter::roundToOdd(Value x) {
  if (!getElementTypeOrSelf(x.getType()).isF64())
    return x;
  Value t = arith::TruncFOp::create(b, loc, like(x.getType(), b.getF32Type()), x);
  Value back = arith::ExtFOp::create(b, loc, x.getType(), t);
  Value inexact = math.cmp(FP::ONE, back, x); // false for NaN
  Value bits = math.bits(t), one = math.ci(t, 1);
  Value even = arith::CmpIOp::create(b, loc, IP::eq, arith::AndIOp::create(b, loc, bits, one), math.ci(t, 0));
  Value larger = math.gt(math.abs(back), math.abs(x));
  Value odd = arith::SelectOp::create(b, loc, larger, arith::SubIOp::create(b, loc, bits, one),
                                      arith::AddIOp::create(b, loc, bits, one));
  return math.fromBits(
      arith::SelectOp::create(b, loc, arith::AndIOp::create(b, loc, inexact, even), odd, bits), t);
}

} // namespace quaver::codegen
