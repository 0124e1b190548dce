// exp, log and what is made of them.
#include "compiler/Codegen/Common/Math.h"

using namespace mlir;

namespace quaver::codegen {

using V = Value;

V MathBuilder::c(V like, double v) {
  TypedAttr a = b.getFloatAttr(getElementTypeOrSelf(like.getType()), v);
  if (auto s = dyn_cast<ShapedType>(like.getType()))
    a = DenseElementsAttr::get(s, Attribute(a));
  return arith::ConstantOp::create(b, loc, a);
}

static Type intTypeLike(OpBuilder &b, Type t) {
  Type i = b.getIntegerType(getElementTypeOrSelf(t).getIntOrFloatBitWidth());
  auto v = dyn_cast<VectorType>(t);
  return v ? Type(VectorType::get(v.getShape(), i)) : i;
}

V MathBuilder::ci(V like, int64_t v) {
  Type t = intTypeLike(b, like.getType());
  TypedAttr a = b.getIntegerAttr(getElementTypeOrSelf(t), v);
  if (auto s = dyn_cast<ShapedType>(t))
    a = DenseElementsAttr::get(s, Attribute(a));
  return arith::ConstantOp::create(b, loc, a);
}

V MathBuilder::bits(V x) { return arith::BitcastOp::create(b, loc, intTypeLike(b, x.getType()), x); }
V MathBuilder::fromBits(V x, V like) { return arith::BitcastOp::create(b, loc, like.getType(), x); }

V MathBuilder::polynomial(V x, ArrayRef<double> p) {
  V r = c(x, p[0]);
  for (double k : p.drop_front())
    r = fma(r, x, c(x, k));
  return r;
}

V MathBuilder::widened(V x) {
  auto v = dyn_cast<VectorType>(x.getType());
  return arith::ExtFOp::create(b, loc,
                               v ? Type(VectorType::get(v.getShape(), b.getF64Type())) : b.getF64Type(), x);
}
V MathBuilder::narrowed(V x, V like) { return arith::TruncFOp::create(b, loc, like.getType(), x); }

// x = n ln 2 + r; 2^n is applied in two factors, so that subnormal results round once, in the last product.
V MathBuilder::exp(V x) {
  bool d = isDouble(x);
  V hi = c(x, d ? 710.0 : 89.0), lo = c(x, d ? -746.0 : -104.0);
  V y = select(gt(x, hi), hi, select(lt(x, lo), lo, x));
  V magic = c(x, d ? 6755399441055744.0 : 12582912.0);
  V t = fma(y, c(x, 1.4426950408889634), magic);
  V n = sub(t, magic);
  V i = arith::SubIOp::create(b, loc, bits(t), bits(magic));
  V r = fma(n, c(x, d ? -6.93147180369123816490e-01 : -0.693359375), y);
  r = fma(n, c(x, d ? -1.90821492927058770002e-10 : 2.12194440e-4), r);
  V p;
  if (d) {
    double f[14], k = 1;
    for (int j = 0; j < 14; ++j)
      f[13 - j] = 1 / k, k *= j + 1;
    p = polynomial(r, f);
  } else {
    V q = polynomial(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1,
                         5.0000001201e-1});
    p = add(fma(q, mul(r, r), r), c(x, 1));
  }
  V one = ci(x, 1), bias = ci(x, d ? 1023 : 127), shift = ci(x, d ? 52 : 23);
  V half = arith::ShRSIOp::create(b, loc, i, one), rest = arith::SubIOp::create(b, loc, i, half);
  auto power = [&](V e) {
    return fromBits(arith::ShLIOp::create(b, loc, arith::AddIOp::create(b, loc, e, bias), shift), x);
  };
  return mul(mul(p, power(half)), power(rest));
}

V MathBuilder::log(V x) {
  bool d = isDouble(x);
  double inf = std::numeric_limits<double>::infinity();
  V tiny = lt(x, c(x, d ? 2.2250738585072014e-308 : 1.17549435e-38));
  V scaled = select(tiny, mul(x, c(x, d ? 18014398509481984.0 : 8388608.0)), x);
  V raw = bits(scaled);
  // sqrt(1/2) <= m < sqrt(2)
  V shift = ci(x, d ? 52 : 23), offset = ci(x, d ? 0x3fe6a09e667f3bcdLL : 0x3f3504f3);
  V e = arith::ShRSIOp::create(b, loc, arith::SubIOp::create(b, loc, raw, offset), shift);
  V m = fromBits(arith::SubIOp::create(b, loc, raw, arith::ShLIOp::create(b, loc, e, shift)), x);
  e = arith::SubIOp::create(b, loc, e, select(tiny, ci(x, d ? 54 : 23), ci(x, 0)));
  V n = arith::SIToFPOp::create(b, loc, x.getType(), e);
  V f = sub(m, c(x, 1)), r;
  if (d) {
    V s = div(f, add(m, c(x, 1))), z = mul(s, s);
    V p = polynomial(z, {2. / 25, 2. / 23, 2. / 21, 2. / 19, 2. / 17, 2. / 15, 2. / 13, 2. / 11, 2. / 9,
                         2. / 7, 2. / 5, 2. / 3});
    // log m = f - s * (f - z p), as fdlibm orders it
    r = sub(f, mul(s, sub(f, mul(z, p))));
    r = fma(n, c(x, 6.93147180369123816490e-01), fma(n, c(x, 1.90821492927058770002e-10), r));
  } else {
    V z = mul(f, f);
    V p =
        polynomial(f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                       -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
    r = mul(mul(f, z), p);
    r = fma(n, c(x, -2.12194440e-4), r);
    r = fma(z, c(x, -0.5), r);
    r = add(f, r);
    r = fma(n, c(x, 0.693359375), r);
  }
  r = select(eq(x, c(x, inf)), x, r);
  r = select(eq(x, c(x, 0)), c(x, -inf), r);
  return select(arith::OrIOp::create(b, loc, lt(x, c(x, 0)), isNan(x)),
                c(x, std::numeric_limits<double>::quiet_NaN()), r);
}

V MathBuilder::sigmoid(V x) {
  V e = exp(sub(c(x, 0), abs(x))), one = c(x, 1);
  return div(select(lt(x, c(x, 0)), e, one), add(e, one));
}

V MathBuilder::expm1(V x) {
  double f[18], k = 1;
  for (int j = 0; j < 18; ++j)
    k *= j + 1, f[17 - j] = 1 / k; // x^17/18! ... 1
  V small = mul(x, polynomial(x, f));
  return select(lt(abs(x), c(x, 0.5)), small, sub(exp(x), c(x, 1)));
}

V MathBuilder::log1p(V x) {
  V w = add(x, c(x, 1));
  V r = add(log(w), div(sub(x, sub(w, c(x, 1))), w));
  r = select(eq(w, c(x, 1)), x, r);
  r = select(eq(x, c(x, std::numeric_limits<double>::infinity())), x, r);
  return select(eq(x, c(x, -1)), c(x, -std::numeric_limits<double>::infinity()), r);
}

V MathBuilder::tanh(V x) {
  V a = abs(x);
  if (isDouble(x)) {
    V e = expm1(select(gt(a, c(x, 20)), c(x, 40), add(a, a)));
    return select(isNan(x), x, withSign(div(e, add(e, c(x, 2))), x));
  }
  V z = mul(x, x);
  V small = fma(mul(polynomial(z, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1,
                                   -3.33332819422e-1}),
                    z),
                x, x);
  V big = sub(c(x, 1), div(c(x, 2), add(exp(add(a, a)), c(x, 1))));
  return select(lt(a, c(x, 0.625)), small, withSign(big, x));
}

V MathBuilder::pow(V x, V y) {
  double inf = std::numeric_limits<double>::infinity();
  if (!isDouble(x))
    return narrowed(pow(widened(x), widened(y)), x);
  V a = abs(x);
  V r = exp(mul(y, log(a)));
  r = select(isNan(x), x, r);
  r = select(isNan(y), y, r);
  V whole = eq(math::FloorOp::create(b, loc, y), y);
  V half = mul(y, c(y, 0.5));
  V odd = arith::AndIOp::create(b, loc, whole,
                                cmp(arith::CmpFPredicate::ONE, math::FloorOp::create(b, loc, half), half));
  V negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, bits(x), ci(x, 0));
  V nan = c(x, std::numeric_limits<double>::quiet_NaN());
  V finite = arith::AndIOp::create(b, loc, lt(x, c(x, 0)), lt(a, c(x, inf)));
  V yFinite = lt(abs(y), c(y, inf));
  r = select(arith::AndIOp::create(
                 b, loc, finite,
                 arith::AndIOp::create(b, loc, yFinite,
                                       cmp(arith::CmpFPredicate::UNE, math::FloorOp::create(b, loc, y), y))),
             nan, r);
  r = select(arith::AndIOp::create(b, loc, negative, odd), sub(c(x, 0), r), r);
  r = select(
      eq(a, c(x, 1)),
      select(arith::AndIOp::create(b, loc, negative, odd), c(x, -1),
             select(arith::AndIOp::create(b, loc, lt(x, c(x, 0)),
                                          arith::AndIOp::create(b, loc, yFinite,
                                                                cmp(arith::CmpFPredicate::UNE,
                                                                    math::FloorOp::create(b, loc, y), y))),
                    nan, select(isNan(y), select(lt(x, c(x, 0)), y, c(x, 1)), c(x, 1)))),
      r);
  return select(eq(y, c(y, 0)), c(x, 1), r);
}

} // namespace quaver::codegen
