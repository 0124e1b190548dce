// Loads and stores at symbolic indices.
#include "compiler/Codegen/Common/Emitter.h"

using namespace mlir;

namespace quaver::codegen {

static int64_t bytesOf(Type element) { return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8); }

Index Emitter::linear(ArrayRef<Index> idx, ArrayRef<DimExpr> d) {
  Index lin = scalar(num(0));
  DimExpr stride(1);
  for (int64_t i = int64_t(idx.size()) - 1; i >= 0; --i) {
    // A joined dimension is counted by the last of its group; its size still scales what lies before.
    if (!idx[i].joined) {
      if (!idx[i].known())
        return {};
      if (!(isOne(d[i]) && !(i > 0 && idx[i - 1].joined)))
        lin = plus(times(idx[i], size(stride)), lin);
    }
    stride = stride * d[i];
  }
  return lin;
}

Value Emitter::pointer(unsigned, Type element, Value offset, Value base) {
  return LLVM::GEPOp::create(b, loc, like(offset.getType(), base.getType()),
                             registerType(element).isInteger(1) ? b.getI8Type() : registerType(element), base,
                             ValueRange{offset});
}

Value Emitter::laneMask() {
  if (mask)
    return mask;
  return intConst(VectorType::get(W, b.getI1Type()), 1);
}

static bool isUnit(Value stride) { return matchPattern(stride, m_One()); }

Value Emitter::load(Value base, Type element, const Index &lin) {
  Type t = registerType(element);
  bool bit = t.isInteger(1);
  if (bit)
    t = b.getI8Type();
  unsigned bytes = bytesOf(element);
  Value v;
  if (!lin.lanes && !lin.stride) {
    Value p = pointer(0, element, lin.base, base);
    v = LLVM::LoadOp::create(b, loc, t, p, bytes);
  } else {
    auto vec = VectorType::get(W, t);
    if (lin.base && isUnit(lin.stride)) {
      Value p = pointer(0, element, lin.base, base);
      if (!mask) {
        v = LLVM::LoadOp::create(b, loc, vec, p, bytes);
      } else {
        Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vec));
        v = LLVM::MaskedLoadOp::create(b, loc, vec, p, mask, zero, b.getI32IntegerAttr(bytes), UnitAttr());
      }
    } else {
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vec));
      Value p = pointer(0, element, valueOf(lin), base);
      v = LLVM::masked_gather::create(b, loc, vec, p, laneMask(), ValueRange{zero},
                                      b.getI32IntegerAttr(bytes));
    }
  }
  if (bit)
    v = compare(arith::CmpIPredicate::ne, v, intConst(v.getType(), 0));
  return v;
}

void Emitter::store(Value base, Type element, const Index &lin, Value v) {
  unsigned bytes = bytesOf(element);
  if (registerType(element).isInteger(1))
    v = arith::ExtUIOp::create(b, loc, like(v.getType(), b.getI8Type()), v);
  if (!lin.lanes && !lin.stride) {
    if (isVector(v))
      v = vector::ExtractOp::create(b, loc, v,
                                    ArrayRef<int64_t>{0}); // a tensor of one element along the lanes
    Value p = pointer(0, element, lin.base, base);
    OpBuilder::InsertionGuard guard(b);
    if (k.lane()) { // the same element for all lanes: one of them writes it
      auto once =
          scf::IfOp::create(b, loc, TypeRange(), compare(arith::CmpIPredicate::eq, k.lane(), num(0)), false);
      b.setInsertionPointToStart(once.thenBlock());
    }
    LLVM::StoreOp::create(b, loc, v, p, bytes);
    return;
  }
  v = splat(v);
  if (lin.base && isUnit(lin.stride)) {
    Value p = pointer(0, element, lin.base, base);
    if (mask)
      LLVM::MaskedStoreOp::create(b, loc, v, p, mask, bytes);
    else
      LLVM::StoreOp::create(b, loc, v, p, bytes);
    return;
  }
  LLVM::masked_scatter::create(b, loc, v, pointer(0, element, valueOf(lin), base), laneMask(),
                               b.getI32IntegerAttr(bytes));
}

Value Emitter::loadArgument(BlockArgument a, ArrayRef<Index> idx) {
  return load(k.binding(a.getArgNumber()), element(a), linear(idx, dims(a)));
}

void Emitter::storeResult(unsigned result, ArrayRef<Index> idx, Value v) {
  Value t = yielded(result);
  store(k.binding(k.dispatch.getNumOperands() + result), element(t), linear(idx, dims(t)), v);
}

// Splats are immediates, others are read from a table beside the code.
Value Emitter::constantAt(graph::ConstantOp op, ArrayRef<Index> idx) {
  auto attr = dyn_cast<DenseElementsAttr>(op.getValue());
  Type element = getElementTypeOrSelf(op.getType()), reg = registerType(element);
  if (!attr)
    return fail(op, "the constant is not dense");
  auto scalarBits = [&](Attribute a) -> TypedAttr {
    if (auto f = dyn_cast<FloatAttr>(a)) {
      if (isa<FloatType>(reg))
        return f;
      return IntegerAttr::get(reg, f.getValue().bitcastToAPInt());
    }
    return IntegerAttr::get(reg, cast<IntegerAttr>(a).getValue());
  };
  if (attr.getNumElements() == 0)
    return arith::ConstantOp::create(b, loc, b.getZeroAttr(reg));
  if (attr.isSplat())
    return arith::ConstantOp::create(b, loc, scalarBits(attr.getSplatValue<Attribute>()));
  bool bit = reg.isInteger(1);
  Type stored = bit ? b.getI8Type() : reg;
  SmallVector<Attribute> values;
  for (Attribute a : attr.getValues<Attribute>())
    values.push_back(bit ? Attribute(b.getI8IntegerAttr(cast<IntegerAttr>(a).getValue().getZExtValue()))
                         : Attribute(scalarBits(a)));
  auto table = DenseElementsAttr::get(RankedTensorType::get({int64_t(values.size())}, stored), values);
  Type arrayType = LLVM::LLVMArrayType::get(stored, values.size());
  LLVM::GlobalOp global;
  for (auto g : k.kernels.getOps<LLVM::GlobalOp>())
    if (g.getValueOrNull() == table)
      global = g;
  if (!global) {
    OpBuilder::InsertionGuard g(b);
    b.setInsertionPointToStart(k.kernels.getBody());
    std::string name = "constant_" + std::to_string(llvm::range_size(k.kernels.getOps<LLVM::GlobalOp>()));
    global = LLVM::GlobalOp::create(b, loc, arrayType, /*isConstant=*/true, LLVM::Linkage::Private, name,
                                    table, 64);
  }
  Value base =
      LLVM::AddressOfOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), global.getSymName());
  return load(base, element, linear(idx, dims(op.getResult())));
}

} // namespace quaver::codegen
