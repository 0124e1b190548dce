// f16, bf16 and the 8-bit floats, by their bits.
#include "compiler/Codegen/Common/Emitter.h"

using namespace mlir;

namespace quaver::codegen {

using IP = arith::CmpIPredicate;

namespace {
struct SmallFormat {
  int mantissa, bias, largest, overflow, nan;
  bool fnuz;
};
SmallFormat formatOf(Type t) {
  if (isa<Float8E4M3FNType>(t))
    return {3, 7, 0x7E, 0x7F, 0x7F, false};
  if (isa<Float8E5M2Type>(t))
    return {2, 15, 0x7B, 0x7C, 0x7F, false};
  if (isa<Float8E4M3FNUZType>(t))
    return {3, 8, 0x7F, 0x80, 0x80, true};
  return {2, 16, 0x7F, 0x80, 0x80, true};
}
} // namespace

Value Emitter::decodeSmall(Value v, Type format) {
  Type i32 = like(v.getType(), b.getI32Type()), f32 = like(v.getType(), b.getF32Type());
  auto c = [&](int64_t n) { return intConst(i32, n); };
  auto asFloat = [&](Value x) -> Value { return arith::BitcastOp::create(b, loc, f32, x); };
  auto shl = [&](Value x, int n) -> Value {
    return arith::ShLIOp::create(b, loc, x, intConst(x.getType(), n));
  };
  if (isa<Float16Type, Float8E5M2Type>(format)) {
    Value h = v;
    if (!isa<Float16Type>(format))
      h = shl(arith::ExtUIOp::create(b, loc, like(v.getType(), b.getIntegerType(16)), v), 8);
    Value half = arith::BitcastOp::create(b, loc, like(v.getType(), b.getF16Type()), h);
    return arith::ExtFOp::create(b, loc, f32, half);
  }
  Value x = arith::ExtUIOp::create(b, loc, i32, v);
  if (isa<BFloat16Type>(format))
    return asFloat(shl(x, 16));
  Value nan = floatConst(f32, std::numeric_limits<double>::quiet_NaN());
  if (isa<Float8E8M0FNUType>(format)) {
    Value f = asFloat(arith::SelectOp::create(b, loc, arith::CmpIOp::create(b, loc, IP::eq, x, c(0)),
                                              c(0x00400000), shl(x, 23)));
    return math.select(arith::CmpIOp::create(b, loc, IP::eq, x, c(0xFF)), nan, f);
  }
  SmallFormat s = formatOf(format);
  // The code's exponent and mantissa as those of an f32, then scaled: exact, subnormals too.
  Value magnitude = arith::AndIOp::create(b, loc, x, c(0x7F)),
        sign = shl(arith::AndIOp::create(b, loc, x, c(0x80)), 24);
  Value f =
      math.mul(asFloat(shl(magnitude, 23 - s.mantissa)), floatConst(f32, std::ldexp(1.0, 127 - s.bias)));
  Value isNan = arith::CmpIOp::create(b, loc, IP::eq, s.fnuz ? x : magnitude, c(s.nan));
  f = math.select(isNan, nan, f);
  return asFloat(arith::OrIOp::create(b, loc, math.bits(f), sign));
}

Value Emitter::encodeSmall(Value x, Type format, CastRule rule) {
  if (isa<Float8E8M0FNUType>(format))
    return encodeE8M0(x, rule);
  Type i32 = like(x.getType(), b.getI32Type()), out = like(x.getType(), registerType(format));
  auto c = [&](int64_t n) { return intConst(i32, n); };
  auto both = [&](Value p, Value q) -> Value { return arith::AndIOp::create(b, loc, p, q); };
  auto either = [&](Value p, Value q) -> Value { return arith::OrIOp::create(b, loc, p, q); };
  auto plus = [&](Value p, Value q) -> Value { return arith::AddIOp::create(b, loc, p, q); };
  auto minus = [&](Value p, Value q) -> Value { return arith::SubIOp::create(b, loc, p, q); };
  auto shifted = [&](Value p, int n) -> Value { return arith::ShRUIOp::create(b, loc, p, c(n)); };
  Value bits = math.bits(x), magnitude = both(bits, c(0x7FFFFFFF));
  Value sign = minus(bits, magnitude); // bit 31
  Value isNan = arith::CmpIOp::create(b, loc, IP::ugt, magnitude, c(0x7F800000));
  auto pick = [&](Value cond, Value p, Value q) -> Value {
    return arith::SelectOp::create(b, loc, cond, p, q);
  };
  auto finish = [&](Value code) -> Value { return arith::TruncIOp::create(b, loc, out, code); };
  if (isa<Float16Type>(format)) {
    Type f16 = like(x.getType(), b.getF16Type());
    Value half = arith::TruncFOp::create(b, loc, f16, x);
    Value h = arith::BitcastOp::create(b, loc, out, half);
    return pick(isNan, finish(either(shifted(sign, 16), c(0x7E00))), h);
  }
  // Nearest even: half of the last kept bit, less one, plus that bit.
  auto nearest = [&](int dropped) {
    Value last = both(shifted(magnitude, dropped), c(1));
    return shifted(plus(magnitude, plus(last, c((1 << (dropped - 1)) - 1))), dropped);
  };
  if (isa<BFloat16Type>(format))
    return finish(either(pick(isNan, c(0x7FC0), nearest(16)), shifted(sign, 16)));
  SmallFormat s = formatOf(format);
  Value normal = minus(nearest(23 - s.mantissa), c(int64_t(127 - s.bias) << s.mantissa));
  // Below the smallest normal: a float addition rounds to the subnormal grid.
  double grid = std::ldexp(1.0, 1 - s.bias - s.mantissa + 23);
  Value a = math.fromBits(magnitude, x), g = math.c(x, grid);
  Value subnormal = minus(math.bits(math.add(a, g)), math.bits(g));
  Value code = pick(math.lt(a, math.c(x, std::ldexp(1.0, 1 - s.bias))), subnormal, normal);
  Value tooLarge = arith::CmpIOp::create(b, loc, IP::sgt, code, c(s.largest));
  Value infinite = arith::CmpIOp::create(b, loc, IP::eq, magnitude, c(0x7F800000));
  code = pick(tooLarge, c(rule.saturate ? s.largest : s.overflow), code);
  if (rule.saturate && rule.fnuzInfToNan && s.fnuz)
    code = pick(infinite, c(s.nan), code);
  code = pick(isNan, c(s.nan), code);
  Value withSign = either(code, shifted(sign, 24));
  if (s.fnuz)
    withSign = pick(arith::CmpIOp::create(b, loc, IP::eq, code, c(0)), c(0), withSign);
  return finish(withSign);
}

Value Emitter::encodeE8M0(Value x, CastRule rule) {
  Type i32 = like(x.getType(), b.getI32Type());
  auto c = [&](int64_t n) { return intConst(i32, n); };
  auto cmp = [&](IP p, Value l, Value r) -> Value { return arith::CmpIOp::create(b, loc, p, l, r); };
  auto pick = [&](Value cond, Value p, Value q) -> Value {
    return arith::SelectOp::create(b, loc, cond, p, q);
  };
  Value a = arith::AndIOp::create(b, loc, math.bits(x), c(0x7FFFFFFF));
  Value exponent = arith::ShRUIOp::create(b, loc, a, c(23)),
        fraction = arith::AndIOp::create(b, loc, a, c(0x7FFFFF));
  // Code 0 is 2^-127, which f32 writes as the subnormal 0x400000: there the step is counted from that.
  Value zero = cmp(IP::eq, exponent, c(0));
  Value up;
  if (rule.e8m0 == graph::RoundMode::up)
    up = pick(zero, cmp(IP::ugt, fraction, c(0x400000)), cmp(IP::ne, fraction, c(0)));
  else if (rule.e8m0 == graph::RoundMode::nearest)
    up = pick(zero, cmp(IP::uge, fraction, c(0x600000)), cmp(IP::uge, fraction, c(0x400000)));
  else
    up = intConst(zero.getType(), 0);
  Value code = arith::AddIOp::create(b, loc, exponent, arith::ExtUIOp::create(b, loc, i32, up));
  Value large = cmp(IP::ugt, a, c(0x7F000000)), small = cmp(IP::ult, a, c(0x400000));
  if (rule.saturate) {
    code = pick(cmp(IP::ugt, code, c(0xFE)), c(0xFE), code);
    code = pick(small, c(0), code);
  } else {
    code = pick(arith::OrIOp::create(b, loc, large, small), c(0xFF), code);
  }
  code = pick(cmp(IP::ugt, a, c(0x7F800000)), c(0xFF), code);
  return arith::TruncIOp::create(b, loc, like(x.getType(), b.getI8Type()), code);
}

} // namespace quaver::codegen
