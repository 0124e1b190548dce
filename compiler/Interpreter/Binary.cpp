// Elementwise ops of two broadcast operands, casts.
#include "compiler/Interpreter/Eval.h"
#include "runtime/numerics/codec.h"
#include <cmath>

using namespace mlir;

namespace quaver::interpreter {
namespace {

// One loop over two broadcast operands of type T giving R.
template <class T, class R, class F> void loop(const Tensor &x, const Tensor &y, Tensor &out, F f) {
  std::array<Strides, 3> strides{broadcastStrides(x.shape(), out.shape()),
                                 broadcastStrides(y.shape(), out.shape()), stridesOf(out.shape())};
  walkRows<3>(Shape(out.shape()), strides, [&](auto at, auto step, int64_t n) {
    const T *a = x.as<T>() + at[0], *b = y.as<T>() + at[1];
    R *to = out.mutableAs<R>() + at[2];
    if (step[0] == 1 && step[1] == 1)
      for (int64_t i = 0; i < n; ++i)
        to[i] = f(a[i], b[i]);
    else
      for (int64_t i = 0; i < n; ++i)
        to[i] = f(a[i * step[0]], b[i * step[1]]);
  });
}

template <class F> LogicalResult numbers(Eval &e, F f, bool compares = false) {
  auto shape = broadcastShapes({e.in[0].shape(), e.in[1].shape()});
  if (!shape)
    return e.error() << "cannot broadcast " << e.operandTypes();
  Tensor x = e.in[0].widened(), y = e.in[1].widened();
  if (x.type() != y.type())
    return e.error() << "needs operands of one type, got " << e.operandTypes();
  if (x.type() == ElementType::BOOL)
    x = x.bitcast(ElementType::U8), y = y.bitcast(ElementType::U8); // i1 compares as 0 and 1
  Tensor out;
  bool known = onNumber(x.type(), [&](auto zero) {
    using T = decltype(zero);
    using R = decltype(f(zero, zero));
    out = Tensor::make(compares ? ElementType::BOOL : x.type(), *shape);
    loop<T, R>(x, y, out, f);
  });
  if (!known)
    return e.error() << "is not defined for " << e.operandTypes();
  return e.give(compares ? out : out.to(e.in[0].type()));
}

// Wrapping arithmetic: in unsigned numbers of at least 32 bits (narrower ones would promote to int).
template <class T>
using Wrap = std::conditional_t<(sizeof(T) < 4), uint32_t,
                                std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int>>>;
template <class T> inline constexpr bool isInt = std::is_integral_v<T>;

LogicalResult evalAdd(Eval &e) {
  return numbers(e, [](auto x, auto y) {
    using T = decltype(x);
    if constexpr (isInt<T>)
      return T(Wrap<T>(x) + Wrap<T>(y));
    else
      return x + y;
  });
}
LogicalResult evalSub(Eval &e) {
  return numbers(e, [](auto x, auto y) {
    using T = decltype(x);
    if constexpr (isInt<T>)
      return T(Wrap<T>(x) - Wrap<T>(y));
    else
      return x - y;
  });
}
LogicalResult evalMul(Eval &e) {
  return numbers(e, [](auto x, auto y) {
    using T = decltype(x);
    if constexpr (isInt<T>)
      return T(Wrap<T>(x) * Wrap<T>(y));
    else
      return x * y;
  });
}
LogicalResult evalDiv(Eval &e) {
  return numbers(e, [](auto x, auto y) {
    using T = decltype(x);
    if constexpr (isInt<T>) {
      if (y == 0)
        return T(0);
      if constexpr (std::is_signed_v<T>)
        if (y == T(-1))
          return T(0 - Wrap<T>(x)); // the lowest value wraps
      return T(x / y);
    } else {
      return x / y;
    }
  });
}
LogicalResult evalRem(Eval &e) {
  bool truncated = cast<graph::RemOp>(e.op).getTruncated();
  return numbers(e, [truncated](auto x, auto y) {
    using T = decltype(x);
    T r;
    if constexpr (isInt<T>) {
      if (y == 0)
        return T(0);
      if constexpr (std::is_signed_v<T>)
        if (y == T(-1))
          return T(0);
      r = T(x % y);
    } else {
      r = std::fmod(x, y);
    }
    if (!truncated && r != T(0) && (r < T(0)) != (y < T(0)))
      r = T(r + y);
    return r;
  });
}
template <bool Largest, class T> T extreme(T x, T y) {
  if (x != x)
    return x;
  if (y != y)
    return y;
  return (Largest ? x < y : y < x) ? y : x;
}
LogicalResult evalMax(Eval &e) {
  return numbers(e, [](auto x, auto y) { return extreme<true>(x, y); });
}
LogicalResult evalMin(Eval &e) {
  return numbers(e, [](auto x, auto y) { return extreme<false>(x, y); });
}

template <class T> T integerPower(T base, T exponent) {
  if (exponent < T(0))
    return base == T(1) ? T(1) : base == T(-1) ? (exponent % T(2) ? base : T(1)) : T(0);
  Wrap<T> result = 1, factor = Wrap<T>(base);
  for (; exponent; exponent = T(exponent >> 1), factor *= factor)
    if (exponent & 1)
      result *= factor;
  return T(result);
}
LogicalResult evalPow(Eval &e) {
  auto shape = broadcastShapes({e.in[0].shape(), e.in[1].shape()});
  if (!shape)
    return e.error() << "cannot broadcast " << e.operandTypes();
  ElementType type = e.in[0].type();
  if (!is_float(type) && !is_float(e.in[1].type())) { // exact
    Tensor x = e.in[0].to(ElementType::I64), y = e.in[1].to(ElementType::I64),
           out = Tensor::make(ElementType::I64, *shape);
    loop<int64_t, int64_t>(x, y, out, integerPower<int64_t>);
    return e.give(out.to(type));
  }
  Tensor x = e.in[0].to(ElementType::F64), y = e.in[1].to(ElementType::F64),
         out = Tensor::make(ElementType::F64, *shape);
  loop<double, double>(x, y, out, [](double a, double b) { return std::pow(a, b); });
  return e.give(out.to(type));
}

template <class F> LogicalResult bools(Eval &e, F f) {
  auto shape = broadcastShapes({e.in[0].shape(), e.in[1].shape()});
  if (!shape)
    return e.error() << "cannot broadcast " << e.operandTypes();
  Tensor out = Tensor::make(ElementType::BOOL, *shape);
  loop<uint8_t, uint8_t>(e.in[0], e.in[1], out, f);
  return e.give(out);
}
LogicalResult evalAnd(Eval &e) {
  return bools(e, [](uint8_t x, uint8_t y) { return uint8_t(x & y); });
}
LogicalResult evalOr(Eval &e) {
  return bools(e, [](uint8_t x, uint8_t y) { return uint8_t(x | y); });
}
LogicalResult evalXor(Eval &e) {
  return bools(e, [](uint8_t x, uint8_t y) { return uint8_t(x ^ y); });
}

template <class F> LogicalResult integers(Eval &e, F f) {
  if (!is_integer(e.in[0].type()))
    return e.error() << "is not defined for " << e.operandTypes();
  return numbers(e, [f](auto x, auto y) {
    using T = decltype(x);
    if constexpr (isInt<T>)
      return T(f(x, y));
    else
      return x; // never reached: refused above
  });
}
LogicalResult evalBitwiseAnd(Eval &e) {
  return integers(e, [](auto x, auto y) { return x & y; });
}
LogicalResult evalBitwiseOr(Eval &e) {
  return integers(e, [](auto x, auto y) { return x | y; });
}
LogicalResult evalBitwiseXor(Eval &e) {
  return integers(e, [](auto x, auto y) { return x ^ y; });
}
LogicalResult evalShiftLeft(Eval &e) {
  return integers(e, [](auto x, auto y) {
    using T = decltype(x);
    return uint64_t(y) >= sizeof(T) * 8 ? T(0) : T(Wrap<T>(x) << y);
  });
}
LogicalResult evalShiftRight(Eval &e) {
  return integers(e, [](auto x, auto y) {
    using T = decltype(x);
    if (uint64_t(y) >= sizeof(T) * 8)
      return x < T(0) ? T(-1) : T(0);
    return T(x >> y);
  });
}

LogicalResult evalCompare(Eval &e) {
  using graph::CompareKind;
  switch (cast<graph::CompareOp>(e.op).getKind()) {
  case CompareKind::eq:
    return numbers(e, [](auto x, auto y) { return uint8_t(x == y); }, true);
  case CompareKind::ne:
    return numbers(e, [](auto x, auto y) { return uint8_t(x != y); }, true);
  case CompareKind::lt:
    return numbers(e, [](auto x, auto y) { return uint8_t(x < y); }, true);
  case CompareKind::le:
    return numbers(e, [](auto x, auto y) { return uint8_t(x <= y); }, true);
  case CompareKind::gt:
    return numbers(e, [](auto x, auto y) { return uint8_t(x > y); }, true);
  case CompareKind::ge:
    return numbers(e, [](auto x, auto y) { return uint8_t(x >= y); }, true);
  }
  llvm_unreachable("a kind of comparison");
}

LogicalResult evalCast(Eval &e) {
  auto op = cast<graph::CastOp>(e.op);
  CastPolicy policy;
  policy.overflow = op.getSaturate() ? Overflow::Saturate : Overflow::Propagate;
  policy.fnuz_inf = op.getFnuzInfToNan() ? FnuzInf::NaN : FnuzInf::Max;
  switch (op.getRoundMode()) {
  case graph::RoundMode::nearest:
    policy.e8m0 = E8m0Rounding::Nearest;
    break;
  case graph::RoundMode::up:
    policy.e8m0 = E8m0Rounding::Up;
    break;
  case graph::RoundMode::down:
    policy.e8m0 = E8m0Rounding::Down;
    break;
  }
  const Tensor &x = e.in[0];
  Tensor out = Tensor::make(e.resultType(), x.shape());
  convert(x.type(), x.data(), out.type(), out.mutableData(), size_t(x.size()), policy);
  return e.give(out);
}
LogicalResult evalBitcast(Eval &e) { return e.give(e.in[0].bitcast(e.resultType())); }

} // namespace

void addBinary(EvalTable &t) {
  add<graph::AddOp>(t, evalAdd);
  add<graph::SubOp>(t, evalSub);
  add<graph::MulOp>(t, evalMul);
  add<graph::DivOp>(t, evalDiv);
  add<graph::RemOp>(t, evalRem);
  add<graph::PowOp>(t, evalPow);
  add<graph::MaxOp>(t, evalMax);
  add<graph::MinOp>(t, evalMin);
  add<graph::AndOp>(t, evalAnd);
  add<graph::OrOp>(t, evalOr);
  add<graph::XorOp>(t, evalXor);
  add<graph::BitwiseAndOp>(t, evalBitwiseAnd);
  add<graph::BitwiseOrOp>(t, evalBitwiseOr);
  add<graph::BitwiseXorOp>(t, evalBitwiseXor);
  add<graph::ShiftLeftOp>(t, evalShiftLeft);
  add<graph::ShiftRightOp>(t, evalShiftRight);
  add<graph::CompareOp>(t, evalCompare);
}

void addCasts(EvalTable &t) {
  add<graph::CastOp>(t, evalCast);
  add<graph::BitcastOp>(t, evalBitcast);
}

} // namespace quaver::interpreter
