// Circular and hyperbolic functions, erf.
#include "compiler/Codegen/Common/Math.h"

using namespace mlir;

namespace quaver::codegen {

using V = Value;

// f32: a rational minimax form on [-4, 4], where erf reaches 1 - 2^-25.
V MathBuilder::erf(V x) {
  if (isDouble(x))
    return erfDouble(x);
  V hi = c(x, 4), lo = c(x, -4);
  V y = select(gt(x, hi), hi, select(lt(x, lo), lo, x)), z = mul(y, y);
  // Scaled so that x times the lowest coefficient keeps subnormal arguments.
  V p = mul(y, polynomial(z, {1.74473104512836e-08, -1.77323611197377e-06, 0.000134465537332805,
                              0.00364320409255901, 0.0470394003409187, 0.189094387746576, 1.03014613287946}));
  V q = polynomial(
      z, {0.000932228598175974, 0.0136559395378499, 0.10770092636045, 0.4718930667011, 0.91294329929081});
  return div(p, q);
}

// Below 2.5 the series erf(x) = 2/sqrt(pi) exp(-x^2) sum 2^n x^(2n+1) / (2n+1)!!, whose terms are all
// positive; above, erfc by its continued fraction.
V MathBuilder::erfDouble(V x) {
  V a = abs(x), z = mul(a, a), e = exp(sub(c(x, 0), z));
  V s = c(x, 1);
  for (int n = 50; n >= 1; --n)
    s = fma(s, mul(z, c(x, 2.0 / (2 * n + 1))), c(x, 1));
  V small = mul(mul(c(x, 1.1283791670955126), mul(a, e)), s);
  V far = select(gt(a, c(x, 7)), c(x, 7), select(lt(a, c(x, 2)), c(x, 2), a)), f = far;
  for (int n = 60; n >= 1; --n)
    f = add(far, div(c(x, 0.5 * n), f));
  V big = sub(c(x, 1), div(mul(e, c(x, 0.5641895835477563)), f));
  V r = select(lt(a, c(x, 2.5)), small, select(gt(a, c(x, 6)), c(x, 1), big));
  return select(isNan(x), x, withSign(r, x));
}

std::pair<V, V> MathBuilder::reduceQuarter(V x) {
  V magic = c(x, 6755399441055744.0);
  V t = fma(x, c(x, 0.63661977236758134), magic), n = sub(t, magic);
  V r = fma(n, c(x, -1.5707963267948966), x);
  r = fma(n, c(x, -6.123233995736766e-17), r);
  return {r, arith::SubIOp::create(b, loc, bits(t), bits(magic))};
}

V MathBuilder::sinCos(V x, int shift) {
  auto [r, q] = reduceQuarter(x);
  if (shift)
    q = arith::AddIOp::create(b, loc, q, ci(x, shift));
  V z = mul(r, r);
  V s = fma(mul(r, z),
            polynomial(z, {-7.6471637318198164759e-13, 1.6059043836821614599e-10, -2.5052108385441718775e-08,
                           2.7557319223985890653e-06, -1.9841269841269841270e-04, 8.3333333333333333333e-03,
                           -1.6666666666666666667e-01}),
            r);
  V k = fma(z,
            polynomial(z, {4.7794773323873852974e-14, -1.1470745597729724714e-11, 2.0876756987868098979e-09,
                           -2.7557319223985890653e-07, 2.4801587301587301587e-05, -1.3888888888888888889e-03,
                           4.1666666666666666667e-02, -0.5}),
            c(x, 1));
  auto bit = [&](int64_t m) {
    return V(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                   arith::AndIOp::create(b, loc, q, ci(x, m)), ci(x, 0)));
  };
  V v = select(bit(1), k, s);
  v = select(bit(2), sub(c(x, 0), v), v);
  double inf = std::numeric_limits<double>::infinity();
  return select(lt(abs(x), c(x, inf)), v, c(x, std::numeric_limits<double>::quiet_NaN()));
}

V MathBuilder::sin(V x) {
  return inDouble(x, [&](V y) { return select(lt(abs(y), c(y, 1e-8)), y, sinCos(y, 0)); });
}
V MathBuilder::cos(V x) {
  return inDouble(x, [&](V y) { return sinCos(y, 1); });
}
V MathBuilder::tan(V x) {
  return inDouble(x, [&](V y) { return select(lt(abs(y), c(y, 1e-8)), y, div(sinCos(y, 0), sinCos(y, 1))); });
}

V MathBuilder::atanDouble(V x) {
  V a = abs(x), inverse = gt(a, c(x, 1));
  V w = select(inverse, div(c(x, 1), a), a);
  for (int i = 0; i < 2; ++i)
    w = div(w, add(c(x, 1), sqrt(fma(w, w, c(x, 1)))));
  V z = mul(w, w);
  double p[16];
  for (int i = 0; i < 16; ++i)
    p[15 - i] = (i % 2 ? -1.0 : 1.0) / (2 * i + 1);
  V r = mul(mul(w, c(x, 4)), polynomial(z, p));
  return withSign(select(inverse, sub(c(x, 1.5707963267948966), r), r), x);
}
V MathBuilder::atan(V x) {
  return inDouble(x, [&](V y) { return atanDouble(y); });
}
V MathBuilder::asin(V x) {
  return inDouble(x, [&](V y) { return atanDouble(div(y, sqrt(mul(sub(c(y, 1), y), add(c(y, 1), y))))); });
}
V MathBuilder::acos(V x) {
  return inDouble(x,
                  [&](V y) { return mul(c(y, 2), atanDouble(sqrt(div(sub(c(y, 1), y), add(c(y, 1), y))))); });
}
V MathBuilder::sinh(V x) {
  return inDouble(x, [&](V y) {
    V a = abs(y), e = expm1(select(gt(a, c(y, 40)), c(y, 40), a));
    V near = mul(c(y, 0.5), add(e, div(e, add(e, c(y, 1)))));
    V h = exp(mul(a, c(y, 0.5)));
    return select(isNan(y), y, withSign(select(gt(a, c(y, 40)), mul(mul(c(y, 0.5), h), h), near), y));
  });
}
V MathBuilder::cosh(V x) {
  return inDouble(x, [&](V y) {
    V a = abs(y), h = exp(mul(a, c(y, 0.5)));
    return fma(mul(c(y, 0.5), h), h, div(c(y, 0.5), mul(h, h)));
  });
}
V MathBuilder::asinh(V x) {
  return inDouble(x, [&](V y) {
    V a = abs(y), big = gt(a, c(y, 1e150)), s = select(big, c(y, 1), a);
    V r = log1p(add(s, div(mul(s, s), add(c(y, 1), sqrt(fma(s, s, c(y, 1)))))));
    return withSign(select(big, add(log(a), c(y, 0.6931471805599453)), r), y);
  });
}
V MathBuilder::acosh(V x) {
  return inDouble(x, [&](V y) {
    V big = gt(y, c(y, 1e150)), t = sub(select(big, c(y, 2), y), c(y, 1));
    V r = log1p(add(t, sqrt(fma(t, t, add(t, t)))));
    r = select(big, add(log(y), c(y, 0.6931471805599453)), r);
    return select(lt(y, c(y, 1)), c(y, std::numeric_limits<double>::quiet_NaN()), r);
  });
}
V MathBuilder::atanh(V x) {
  return inDouble(x, [&](V y) {
    V a = abs(y);
    V r = mul(c(y, 0.5), log1p(div(add(a, a), sub(c(y, 1), a))));
    return withSign(select(gt(a, c(y, 1)), c(y, std::numeric_limits<double>::quiet_NaN()), r), y);
  });
}

} // namespace quaver::codegen
