// Elementwise ops of one operand, select. Floats narrower than 32 bits are computed in f32 and rounded once;
// functions that are not exact are computed in double and rounded once.
#include "compiler/Interpreter/Eval.h"
#include "runtime/numerics/codec.h"
#include <cmath>

using namespace mlir;

namespace quaver::interpreter {
namespace {

LogicalResult unsupported(Eval &e) { return e.error() << "is not defined for " << e.operandTypes(); }

template <class F> LogicalResult mapNumber(Eval &e, F f) {
  Tensor x = e.in[0].widened();
  LogicalResult done = success();
  bool known = onNumber(x.type(), [&](auto zero) {
    using T = decltype(zero);
    Tensor out = Tensor::make(x.type(), x.shape());
    const T *from = x.as<T>();
    T *to = out.mutableAs<T>();
    for (int64_t i = 0, n = x.size(); i < n; ++i)
      to[i] = T(f(from[i]));
    done = e.give(out.to(e.in[0].type()));
  });
  return known ? done : unsupported(e);
}

template <double (*F)(double)> LogicalResult mapFloat(Eval &e) {
  Tensor x = e.in[0].widened();
  if (!is_float(x.type()))
    return unsupported(e);
  Tensor out = Tensor::make(x.type(), x.shape());
  auto loop = [&](auto zero) {
    using T = decltype(zero);
    const T *from = x.as<T>();
    T *to = out.mutableAs<T>();
    for (int64_t i = 0, n = x.size(); i < n; ++i)
      to[i] = T(F(double(from[i])));
  };
  x.type() == ElementType::F64 ? loop(double{}) : loop(float{});
  return e.give(out.to(e.in[0].type()));
}

#define FLOAT_FUNCTION(name, expression)                                                                     \
  double name(double x) { return expression; }
FLOAT_FUNCTION(ceilOf, std::ceil(x))
FLOAT_FUNCTION(floorOf, std::floor(x))
FLOAT_FUNCTION(roundOf, std::nearbyint(x))
FLOAT_FUNCTION(truncOf, std::trunc(x))
FLOAT_FUNCTION(sqrtOf, std::sqrt(x))
FLOAT_FUNCTION(rsqrtOf, 1.0 / std::sqrt(x))
FLOAT_FUNCTION(reciprocalOf, 1.0 / x)
FLOAT_FUNCTION(expOf, std::exp(x))
FLOAT_FUNCTION(logOf, std::log(x))
FLOAT_FUNCTION(sinOf, std::sin(x))
FLOAT_FUNCTION(cosOf, std::cos(x))
FLOAT_FUNCTION(tanOf, std::tan(x))
FLOAT_FUNCTION(asinOf, std::asin(x))
FLOAT_FUNCTION(acosOf, std::acos(x))
FLOAT_FUNCTION(atanOf, std::atan(x))
FLOAT_FUNCTION(sinhOf, std::sinh(x))
FLOAT_FUNCTION(coshOf, std::cosh(x))
FLOAT_FUNCTION(tanhOf, std::tanh(x))
FLOAT_FUNCTION(asinhOf, std::asinh(x))
FLOAT_FUNCTION(acoshOf, std::acosh(x))
FLOAT_FUNCTION(atanhOf, std::atanh(x))
FLOAT_FUNCTION(erfOf, std::erf(x))
FLOAT_FUNCTION(sigmoidOf, 1.0 / (1.0 + std::exp(-x)))

LogicalResult evalNeg(Eval &e) {
  return mapNumber(e, [](auto x) {
    using T = decltype(x);
    if constexpr (std::is_integral_v<T>)
      return T(0 - std::make_unsigned_t<T>(x));
    else
      return T(-x);
  });
}
LogicalResult evalAbs(Eval &e) {
  return mapNumber(e, [](auto x) {
    using T = decltype(x);
    if constexpr (std::is_unsigned_v<T>)
      return x;
    else if constexpr (std::is_integral_v<T>)
      return x < 0 ? T(0 - std::make_unsigned_t<T>(x)) : x;
    else
      return std::fabs(x);
  });
}
LogicalResult evalSign(Eval &e) {
  return mapNumber(e, [](auto x) {
    using T = decltype(x);
    if (x != x)
      return x;
    return T(int(x > T(0)) - (std::is_signed_v<T> ? int(x < T(0)) : 0));
  });
}

LogicalResult evalNot(Eval &e) {
  Tensor out = Tensor::make(ElementType::BOOL, e.in[0].shape());
  for (int64_t i = 0; i < out.size(); ++i)
    out.mutableAs<uint8_t>()[i] = !e.in[0].as<uint8_t>()[i];
  return e.give(out);
}
LogicalResult evalBitwiseNot(Eval &e) {
  const Tensor &x = e.in[0];
  Tensor out = Tensor::make(x.type(), x.shape());
  for (int64_t i = 0, n = x.bytes(); i < n; ++i)
    out.mutableData()[i] = char(~x.data()[i]);
  return e.give(out);
}

template <class F> LogicalResult classify(Eval &e, F f) {
  Tensor x = e.in[0].widened(), out = Tensor::make(ElementType::BOOL, x.shape());
  if (!is_float(x.type()))
    return unsupported(e);
  for (int64_t i = 0, n = x.size(); i < n; ++i)
    out.mutableAs<uint8_t>()[i] =
        f(x.type() == ElementType::F64 ? x.as<double>()[i] : double(x.as<float>()[i]));
  return e.give(out);
}
LogicalResult evalIsNan(Eval &e) {
  return classify(e, [](double x) { return std::isnan(x); });
}
LogicalResult evalIsInf(Eval &e) {
  auto op = cast<graph::IsInfOp>(e.op);
  bool positive = op.getDetectPositive(), negative = op.getDetectNegative();
  return classify(e, [&](double x) { return std::isinf(x) && (x > 0 ? positive : negative); });
}

LogicalResult evalSelect(Eval &e) {
  auto shape = broadcastShapes({e.in[0].shape(), e.in[1].shape(), e.in[2].shape()});
  if (!shape)
    return e.error() << "cannot broadcast " << e.operandTypes();
  Tensor out = Tensor::make(e.in[1].type(), *shape);
  onWidth(out.elementBytes(), [&](auto zero) {
    using T = decltype(zero);
    std::array<Strides, 4> strides{broadcastStrides(e.in[0].shape(), *shape),
                                   broadcastStrides(e.in[1].shape(), *shape),
                                   broadcastStrides(e.in[2].shape(), *shape), stridesOf(*shape)};
    walkRows<4>(*shape, strides, [&](auto at, auto step, int64_t n) {
      const uint8_t *c = e.in[0].as<uint8_t>() + at[0];
      const T *x = e.in[1].as<T>() + at[1], *y = e.in[2].as<T>() + at[2];
      T *to = out.mutableAs<T>() + at[3];
      for (int64_t i = 0; i < n; ++i)
        to[i] = c[i * step[0]] ? x[i * step[1]] : y[i * step[2]];
    });
  });
  return e.give(out);
}

} // namespace

void addElementwise(EvalTable &t) {
  add<graph::NegOp>(t, evalNeg);
  add<graph::AbsOp>(t, evalAbs);
  add<graph::SignOp>(t, evalSign);
  add<graph::CeilOp>(t, mapFloat<ceilOf>);
  add<graph::FloorOp>(t, mapFloat<floorOf>);
  add<graph::RoundOp>(t, mapFloat<roundOf>);
  add<graph::TruncOp>(t, mapFloat<truncOf>);
  add<graph::SqrtOp>(t, mapFloat<sqrtOf>);
  add<graph::RsqrtOp>(t, mapFloat<rsqrtOf>);
  add<graph::ReciprocalOp>(t, mapFloat<reciprocalOf>);
  add<graph::ExpOp>(t, mapFloat<expOf>);
  add<graph::LogOp>(t, mapFloat<logOf>);
  add<graph::SinOp>(t, mapFloat<sinOf>);
  add<graph::CosOp>(t, mapFloat<cosOf>);
  add<graph::TanOp>(t, mapFloat<tanOf>);
  add<graph::AsinOp>(t, mapFloat<asinOf>);
  add<graph::AcosOp>(t, mapFloat<acosOf>);
  add<graph::AtanOp>(t, mapFloat<atanOf>);
  add<graph::SinhOp>(t, mapFloat<sinhOf>);
  add<graph::CoshOp>(t, mapFloat<coshOf>);
  add<graph::TanhOp>(t, mapFloat<tanhOf>);
  add<graph::AsinhOp>(t, mapFloat<asinhOf>);
  add<graph::AcoshOp>(t, mapFloat<acoshOf>);
  add<graph::AtanhOp>(t, mapFloat<atanhOf>);
  add<graph::ErfOp>(t, mapFloat<erfOf>);
  add<graph::SigmoidOp>(t, mapFloat<sigmoidOf>);
  add<graph::NotOp>(t, evalNot);
  add<graph::BitwiseNotOp>(t, evalBitwiseNot);
  add<graph::IsNanOp>(t, evalIsNan);
  add<graph::IsInfOp>(t, evalIsInf);
  add<graph::SelectOp>(t, evalSelect);
}

} // namespace quaver::interpreter
