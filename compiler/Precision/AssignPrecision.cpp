// Formats and reasons as attributes: see Passes.td. The choice itself is Policy.cpp's.
#include "compiler/Precision/Passes.h"
#include "compiler/Precision/Policy.h"
#include "compiler/Precision/Values.h"

using namespace mlir;

namespace quaver::precision {
#define GEN_PASS_DEF_ASSIGNPRECISIONPASS
#include "compiler/Precision/Passes.h.inc"

namespace {

constexpr int64_t kSmallTable = 4096; // elements; below, narrowing saves nothing

Type typeOf(MLIRContext *context, Format f) {
  switch (f) {
  case Format::F32:
    return Float32Type::get(context);
  case Format::BF16:
    return BFloat16Type::get(context);
  case Format::F16:
    return Float16Type::get(context);
  case Format::E4M3:
    return Float8E4M3FNType::get(context);
  case Format::E5M2:
    return Float8E5M2Type::get(context);
  }
  llvm_unreachable("all formats are named");
}

bool comesFromDequantize(Value v) {
  for (Operation *op = v.getDefiningOp(); op; op = op->getOperand(0).getDefiningOp()) {
    if (isa<graph::DequantizeOp>(op))
      return true;
    if (!movesOperand0(op) && !isa<graph::CastOp>(op))
      return false;
  }
  return false;
}

ProductFacts factsOf(Operation *op) {
  ProductFacts f;
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  f.op = op->getName().stripDialect().str();
  f.isFloat = isa<FloatType>(elementOf(lhs)) && isa<FloatType>(elementOf(rhs));
  f.isF64 = elementOf(lhs).isF64() || elementOf(op->getResult(0)).isF64();
  f.lhsConstant = isConstant(lhs), f.rhsConstant = isConstant(rhs);
  f.isQuantizedByFile = comesFromDequantize(lhs) || comesFromDequantize(rhs);
  int64_t k = isa<graph::MatmulOp>(op) ? cast<RankedTensorType>(lhs.getType()).getShape().back()
                                       : ShapedType::kDynamic;
  f.contracted = ShapedType::isDynamic(k) ? -1 : k;
  return f;
}

// Do only narrow operands of products read this value, directly or moved?
bool isReadNarrow(Value v) {
  bool isRead = false;
  for (OpOperand &use : v.getUses()) {
    Operation *user = use.getOwner();
    if (isa<graph::ShapeOp>(user))
      continue;
    isRead = true;
    if (movesOperand0(user) && use.getOperandNumber() == 0 && isReadNarrow(user->getResult(0)))
      continue;
    auto precision = user->getAttrOfType<scale::PrecisionAttr>(kPrecision);
    Type format = !precision                    ? Type()
                  : use.getOperandNumber() == 0 ? precision.getLhs()
                  : use.getOperandNumber() == 1 ? precision.getRhs()
                                                : Type();
    if (!format || format.getIntOrFloatBitWidth() >= 32)
      return false;
  }
  return isRead;
}

struct AssignPrecision : impl::AssignPrecisionPassBase<AssignPrecision> {
  using Base::Base;

  void runOnOperation() override {
    const Preset *chosen = findPreset(preset);
    if (!chosen) {
      getOperation().emitError() << "preset '" << preset << "' decides nothing per op";
      return signalPassFailure();
    }
    MLIRContext *context = &getContext();
    Type f32 = Float32Type::get(context);
    getOperation().walk([&](Operation *op) {
      if (isProduct(op))
        assign(op, *chosen, f32);
      if (isTableRead(op))
        assignTable(op, *chosen);
    });
    // The result: bf16 where nothing reads more of it. Last products first, so that chains are seen.
    SmallVector<Operation *> products;
    getOperation().walk([&](Operation *op) {
      if (op->hasAttr(kPrecision))
        products.push_back(op);
    });
    for (Operation *op : llvm::reverse(products)) {
      auto p = op->getAttrOfType<scale::PrecisionAttr>(kPrecision);
      if (p.getLhs().isF32() || !isReadNarrow(op->getResult(0)))
        continue;
      op->setAttr(kPrecision, scale::PrecisionAttr::get(context, p.getLhs(), p.getRhs(), p.getAccumulate(),
                                                        BFloat16Type::get(context), p.getRecipe()));
    }
  }

  void assign(Operation *op, const Preset &p, Type f32) {
    Choice c = choose(p, factsOf(op));
    MLIRContext *context = op->getContext();
    op->setAttr(kReason, StringAttr::get(context, c.reason));
    if (c.isFallback)
      op->setAttr(kFallback, UnitAttr::get(context));
    if (c.decided)
      op->setAttr(kPrecision, scale::PrecisionAttr::get(context, typeOf(context, c.lhs),
                                                        typeOf(context, c.rhs), f32, f32, c.recipe));
  }

  void assignTable(Operation *op, const Preset &p) {
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    if (!type.getElementType().isF32() || !type.hasStaticShape() || type.getNumElements() < kSmallTable)
      return;
    op->setAttr(kStorage, TypeAttr::get(typeOf(op->getContext(), p.products)));
    op->setAttr(kReason,
                StringAttr::get(op->getContext(), "preset " + p.name + ": a table that is looked up"));
  }
};

} // namespace
} // namespace quaver::precision
