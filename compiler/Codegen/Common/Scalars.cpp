// Index arithmetic and constants.
#include "compiler/Codegen/Common/Emitter.h"

using namespace mlir;

namespace quaver::codegen {

bool allKnown(ArrayRef<Index> idx) {
  return llvm::all_of(idx, [](const Index &i) { return i.known(); });
}
bool allUniform(ArrayRef<Index> idx) {
  return llvm::all_of(idx, [](const Index &i) { return i.uniform(); });
}

static std::optional<int64_t> constantOf(Value v) {
  APInt c;
  return v && matchPattern(v, m_ConstantInt(&c)) ? std::optional<int64_t>(c.getSExtValue()) : std::nullopt;
}

Value Emitter::arith(Arith kind, Value x, Value y) {
  if (!x || !y)
    return {};
  if (isVector(x) != isVector(y))
    x = splat(x), y = splat(y);
  auto cx = constantOf(x), cy = constantOf(y);
  if (cx && cy && !isVector(x))
    switch (kind) {
    case Arith::Add:
      return num(*cx + *cy);
    case Arith::Sub:
      return num(*cx - *cy);
    case Arith::Mul:
      return num(*cx * *cy);
    case Arith::DivU:
      if (*cy > 0 && *cx >= 0)
        return num(*cx / *cy);
      break;
    case Arith::RemU:
      if (*cy > 0 && *cx >= 0)
        return num(*cx % *cy);
      break;
    case Arith::MinS:
      return num(std::min(*cx, *cy));
    case Arith::MaxS:
      return num(std::max(*cx, *cy));
    }
  bool sum = kind == Arith::Add || kind == Arith::Sub;
  if (cy == int64_t(0) && sum)
    return x;
  if (cx == int64_t(0) && kind == Arith::Add)
    return y;
  if (kind == Arith::Mul && cy == int64_t(1))
    return x;
  if (kind == Arith::Mul && cx == int64_t(1))
    return y;
  if (kind == Arith::Mul && (cx == int64_t(0) || cy == int64_t(0)) && !isVector(x))
    return num(0);
  if (kind == Arith::DivU && cy == int64_t(1))
    return x;
  if (kind == Arith::RemU && cy == int64_t(1) && !isVector(x))
    return num(0);
  ExprKey key{unsigned(kind), {x.getAsOpaquePointer(), y.getAsOpaquePointer()}};
  if (Value known = exprs.lookup(key))
    return known;
  Value v;
  switch (kind) {
  case Arith::Add:
    v = arith::AddIOp::create(b, loc, x, y);
    break;
  case Arith::Sub:
    v = arith::SubIOp::create(b, loc, x, y);
    break;
  case Arith::Mul:
    v = arith::MulIOp::create(b, loc, x, y);
    break;
  case Arith::DivU:
    v = arith::DivUIOp::create(b, loc, x, y);
    break;
  case Arith::RemU:
    v = arith::RemUIOp::create(b, loc, x, y);
    break;
  case Arith::MinS:
    v = arith::MinSIOp::create(b, loc, x, y);
    break;
  case Arith::MaxS:
    v = arith::MaxSIOp::create(b, loc, x, y);
    break;
  }
  exprs.insert(key, v);
  return v;
}

Value Emitter::splat(Value v) {
  if (isVector(v))
    return v;
  ExprKey key{100, {v.getAsOpaquePointer(), nullptr}};
  if (Value known = exprs.lookup(key))
    return known;
  Value s = vector::BroadcastOp::create(b, loc, VectorType::get(W, v.getType()), v);
  exprs.insert(key, s);
  return s;
}

void Emitter::unify(MutableArrayRef<Value> vs) {
  if (llvm::any_of(vs, [&](Value v) { return isVector(v); }))
    for (Value &v : vs)
      v = splat(v);
}

Type Emitter::like(Type shape, Type element) {
  auto v = dyn_cast<VectorType>(shape);
  return v ? Type(VectorType::get(v.getShape(), element)) : element;
}

Value Emitter::floatConst(Type type, double v) {
  TypedAttr a = b.getFloatAttr(getElementTypeOrSelf(type), v);
  if (auto s = dyn_cast<ShapedType>(type))
    a = DenseElementsAttr::get(s, Attribute(a));
  return arith::ConstantOp::create(b, loc, a);
}

Value Emitter::intConst(Type type, int64_t v) {
  TypedAttr a = b.getIntegerAttr(getElementTypeOrSelf(type), v);
  if (auto s = dyn_cast<ShapedType>(type))
    a = DenseElementsAttr::get(s, Attribute(a));
  return arith::ConstantOp::create(b, loc, a);
}

Index Emitter::plus(const Index &x, const Index &y) {
  if (!x.known() || !y.known())
    return {};
  if (x.lanes || y.lanes)
    return {{}, {}, arith(Arith::Add, valueOf(x), valueOf(y)), false};
  return {add(x.base, y.base),
          x.stride && y.stride ? add(x.stride, y.stride)
          : x.stride           ? x.stride
                               : y.stride,
          {},
          false};
}

Index Emitter::times(const Index &x, Value y) {
  if (!x.known())
    return {};
  if (x.lanes)
    return {{}, {}, arith(Arith::Mul, x.lanes, y), false};
  return {mul(x.base, y), x.stride ? mul(x.stride, y) : Value(), {}, false};
}

Value Emitter::valueOf(const Index &i) {
  if (i.lanes)
    return i.lanes;
  if (!i.stride)
    return i.base;
  ExprKey key{101, {i.base.getAsOpaquePointer(), i.stride.getAsOpaquePointer()}};
  if (Value known = exprs.lookup(key))
    return known;
  auto type = VectorType::get(W, b.getI64Type());
  Value iota = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, ArrayRef<int64_t>(llvm::to_vector(llvm::seq<int64_t>(0, W)))));
  Value v = iota;
  if (constantOf(i.stride) != int64_t(1))
    v = arith::MulIOp::create(b, loc, iota, splat(i.stride));
  v = arith::AddIOp::create(b, loc, v, splat(i.base));
  exprs.insert(key, v);
  return v;
}

Index Emitter::indexOf(Value v) {
  if (!v)
    return {};
  if (isVector(v))
    return {{}, {}, v, false};
  return scalar(v);
}

Index Emitter::quotient(const Index &x, const DimExpr &y) {
  if (!x.known())
    return {};
  if (isOne(y))
    return x;
  // A divisor of 0 belongs to an empty tensor, of which nothing is read; it must not trap.
  Value d = y.isConstant() && *y.getConstant() > 0 ? size(y) : arith(Arith::MaxS, size(y), num(1));
  return indexOf(arith(Arith::DivU, valueOf(x), d));
}

Index Emitter::remainder(const Index &x, const DimExpr &y) {
  if (!x.known())
    return {};
  if (isOne(y))
    return scalar(num(0));
  Value d = y.isConstant() && *y.getConstant() > 0 ? size(y) : arith(Arith::MaxS, size(y), num(1));
  return indexOf(arith(Arith::RemU, valueOf(x), d));
}

Value Emitter::compare(arith::CmpIPredicate p, Value x, Value y) {
  Value v[] = {x, y};
  unify(v);
  return arith::CmpIOp::create(b, loc, p, v[0], v[1]);
}

Value Emitter::select(Value c, Value x, Value y) {
  Value v[] = {x, y};
  if (isVector(c) || isVector(x) || isVector(y)) {
    v[0] = splat(x), v[1] = splat(y);
    if (!isVector(c))
      return arith::SelectOp::create(b, loc, c, v[0], v[1]);
  }
  return arith::SelectOp::create(b, loc, c, v[0], v[1]);
}

Value Emitter::both(Value x, Value y) {
  if (!x)
    return y;
  if (!y)
    return x;
  Value v[] = {x, y};
  unify(v);
  return arith::AndIOp::create(b, loc, v[0], v[1]);
}

DimExpr Emitter::product(ArrayRef<DimExpr> d) {
  DimExpr p(1);
  for (const DimExpr &e : d)
    p = p * e;
  return p;
}

Type registerType(Type element) {
  if (auto f = dyn_cast<FloatType>(element))
    return f.getWidth() >= 32 ? Type(f) : Type(IntegerType::get(f.getContext(), f.getWidth()));
  return IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth());
}

bool isUnsigned(Type element) {
  auto i = dyn_cast<IntegerType>(element);
  return i && (i.isUnsigned() || i.getWidth() == 1);
}

Type computeType(Type element) {
  auto f = dyn_cast<FloatType>(element);
  return f && f.getWidth() < 32 ? Type(Float32Type::get(element.getContext())) : element;
}

} // namespace quaver::codegen
