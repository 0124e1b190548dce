// Elementary functions as MLIR arithmetic on scalars or vectors of f32 or f64: no table, no libm.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace quaver::codegen {

/// Bounds are against the exact value, measured in test/codegen over the whole range (in ulp of the type
/// unless said otherwise). NaN gives NaN; infinities, zeros and subnormals are right.
class MathBuilder {
public:
  MathBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}
  using V = mlir::Value;

  V exp(V x);     // f32 2 ulp, f64 2 ulp
  V log(V x);     // f32 2 ulp, f64 4 ulp
  V tanh(V x);    // f32 4 ulp, f64 1e-14 relative
  V erf(V x);     // f32 8 ulp, f64 1e-14 absolute
  V sigmoid(V x); // f32 4 ulp
  // These compute f32 in f64: 1 ulp in f32, 1e-12 relative in f64 (sin, cos, tan: for |x| < 1e8, absolute).
  V sin(V x);
  V cos(V x);
  V tan(V x);
  V asin(V x);
  V acos(V x);
  V atan(V x);
  V sinh(V x);
  V cosh(V x);
  V asinh(V x);
  V acosh(V x);
  V atanh(V x);
  V pow(V x, V y);

  // Small words that the functions are written in.
  V c(V like, double v);
  V ci(V like, int64_t v); // an integer of the width of `like`'s elements
  V add(V x, V y) { return mlir::arith::AddFOp::create(b, loc, x, y); }
  V sub(V x, V y) { return mlir::arith::SubFOp::create(b, loc, x, y); }
  V mul(V x, V y) { return mlir::arith::MulFOp::create(b, loc, x, y); }
  V div(V x, V y) { return mlir::arith::DivFOp::create(b, loc, x, y); }
  V fma(V x, V y, V z) { return mlir::math::FmaOp::create(b, loc, x, y, z); }
  V sqrt(V x) { return mlir::math::SqrtOp::create(b, loc, x); }
  V abs(V x) { return mlir::math::AbsFOp::create(b, loc, x); }
  V withSign(V magnitude, V sign) { return mlir::math::CopySignOp::create(b, loc, magnitude, sign); }
  V cmp(mlir::arith::CmpFPredicate p, V x, V y) { return mlir::arith::CmpFOp::create(b, loc, p, x, y); }
  V lt(V x, V y) { return cmp(mlir::arith::CmpFPredicate::OLT, x, y); }
  V gt(V x, V y) { return cmp(mlir::arith::CmpFPredicate::OGT, x, y); }
  V eq(V x, V y) { return cmp(mlir::arith::CmpFPredicate::OEQ, x, y); }
  V isNan(V x) { return cmp(mlir::arith::CmpFPredicate::UNO, x, x); }
  V select(V cond, V x, V y) { return mlir::arith::SelectOp::create(b, loc, cond, x, y); }
  V bits(V x);
  V fromBits(V x, V like);
  /// Highest power first.
  V polynomial(V x, mlir::ArrayRef<double> coefficients);

private:
  bool isDouble(V x) { return mlir::getElementTypeOrSelf(x.getType()).isF64(); }
  V widened(V x);
  V narrowed(V x, V like);
  template <class Fn> V inDouble(V x, Fn fn) { return isDouble(x) ? fn(x) : narrowed(fn(widened(x)), x); }
  V expm1(V x);
  V log1p(V x);
  V atanDouble(V x);
  V erfDouble(V x);
  std::pair<V, V> reduceQuarter(V x); // remainder, quadrant as an integer
  V sinCos(V x, int shift);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace quaver::codegen
