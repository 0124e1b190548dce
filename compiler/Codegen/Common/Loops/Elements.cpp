// What the bits of an element mean.
#include "compiler/Codegen/Common/Loops/LoopBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace quaver::codegen {

static bool isUnsigned(Type t) { return t.isUnsignedInteger() || t.isInteger(1); }
static Value wide(LoopBuilder &l, Value bits) {
  return bits.getType().isInteger(64)
             ? bits
             : arith::ExtUIOp::create(l.b, l.loc, l.b.getI64Type(), bits).getResult();
}

Value LoopBuilder::key(Value bits, Type element) {
  if (isa<IntegerType>(element)) {
    if (element.isUnsignedInteger(64)) // signed comparison follows once the top bit is turned
      return arith::XOrIOp::create(b, loc, bits, num(INT64_MIN));
    if (isUnsigned(element) || bits.getType().isInteger(64))
      return wide(*this, bits);
    return arith::ExtSIOp::create(b, loc, b.getI64Type(), bits);
  }
  Value code = wide(*this, bits);
  unsigned width = element.getIntOrFloatBitWidth();
  if (isa<Float8E8M0FNUType>(element))
    return select(eq(code, num(0xFF)), num(INT64_MAX), code);
  int64_t magnitudeMask = width == 64 ? INT64_MAX : (int64_t(1) << (width - 1)) - 1;
  Value magnitude = both(code, num(magnitudeMask));
  Value negative = compare(Predicate::ne, code, magnitude);
  Value isNan;
  if (isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(element)) {
    isNan = eq(code, num(0x80));
  } else if (isa<Float8E4M3FNType>(element)) {
    isNan = eq(magnitude, num(0x7F));
  } else {
    APFloat inf = APFloat::getInf(cast<FloatType>(element).getFloatSemantics());
    isNan = lt(num(inf.bitcastToAPInt().getZExtValue()), magnitude);
  }
  return select(isNan, num(INT64_MAX), select(negative, sub(num(0), magnitude), magnitude));
}

Value LoopBuilder::isNonZero(Value bits, Type element) {
  if (isa<Float8E8M0FNUType>(element))
    return isTrue(true); // has no zero
  Value code = wide(*this, bits);
  if (isa<FloatType>(element) && !isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(element)) {
    unsigned width = element.getIntOrFloatBitWidth();
    code = both(code, num(width == 64 ? INT64_MAX : (int64_t(1) << (width - 1)) - 1)); // -0 is 0
  }
  return compare(Predicate::ne, code, num(0));
}

Type LoopBuilder::computeType(Type element) {
  if (isa<IntegerType>(element))
    return bitsType(element, b.getContext());
  return element.isF64() ? element : Type(b.getF32Type());
}

Value LoopBuilder::toCompute(Value bits, Type element) {
  if (isa<IntegerType>(element))
    return bits;
  if (element.isF32() || element.isF64())
    return arith::BitcastOp::create(b, loc, element, bits);
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  if (element.isBF16()) {
    Value v = arith::ExtUIOp::create(b, loc, i32, bits);
    v = arith::ShLIOp::create(b, loc, v, arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(16)));
    return arith::BitcastOp::create(b, loc, f32, v);
  }
  Value v = arith::BitcastOp::create(b, loc, element, bits);
  return arith::ExtFOp::create(b, loc, f32, v);
}

Value LoopBuilder::fromCompute(Value v, Type element) {
  if (isa<IntegerType>(element))
    return v;
  Type bits = bitsType(element, b.getContext());
  if (element.isF32() || element.isF64())
    return arith::BitcastOp::create(b, loc, bits, v);
  if (element.isBF16()) { // nearest even; NaN as 0x7FC0 with its sign
    Type i32 = b.getI32Type();
    auto c = [&](int32_t n) -> Value { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(n)); };
    Value code = arith::BitcastOp::create(b, loc, i32, v);
    Value high = arith::ShRUIOp::create(b, loc, code, c(16));
    Value odd = arith::AndIOp::create(b, loc, high, c(1));
    Value rounded = arith::ShRUIOp::create(
        b, loc, arith::AddIOp::create(b, loc, code, arith::AddIOp::create(b, loc, odd, c(0x7FFF))), c(16));
    Value nan = arith::OrIOp::create(b, loc, arith::AndIOp::create(b, loc, high, c(0x8000)), c(0x7FC0));
    Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, v, v);
    return arith::TruncIOp::create(b, loc, bits, select(isNan, nan, rounded));
  }
  Value narrow = arith::TruncFOp::create(b, loc, element, v);
  return arith::BitcastOp::create(b, loc, bits, narrow);
}

Value LoopBuilder::sum(Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::AddFOp::create(b, loc, x, y);
  return arith::AddIOp::create(b, loc, x, y);
}

Value LoopBuilder::product(Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::MulFOp::create(b, loc, x, y);
  return arith::MulIOp::create(b, loc, x, y);
}

Value LoopBuilder::larger(Value x, Value y, Type element, bool max) {
  if (isa<FloatType>(x.getType())) {
    if (max)
      return arith::MaximumFOp::create(b, loc, x, y);
    return arith::MinimumFOp::create(b, loc, x, y);
  }
  Predicate p =
      isUnsigned(element) ? (max ? Predicate::ugt : Predicate::ult) : (max ? Predicate::sgt : Predicate::slt);
  return select(compare(p, x, y), x, y);
}

Value LoopBuilder::index(Value base, Type element, Value offset, Value n, Value &inRange) {
  Value v = load(base, bitsType(element, b.getContext()), offset);
  if (!v.getType().isInteger(64)) {
    if (isUnsigned(element))
      v = arith::ExtUIOp::create(b, loc, b.getI64Type(), v);
    else
      v = arith::ExtSIOp::create(b, loc, b.getI64Type(), v);
  }
  v = select(lt(v, num(0)), add(v, n), v);
  inRange = compare(Predicate::ult, v, n);
  return v;
}

} // namespace quaver::codegen
