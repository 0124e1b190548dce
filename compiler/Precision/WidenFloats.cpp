// f16 and bf16 arithmetic becomes f32: see Passes.td.
#include "compiler/Precision/Passes.h"
#include "compiler/Precision/Values.h"

using namespace mlir;

namespace quaver::precision {
#define GEN_PASS_DEF_WIDENFLOATSPASS
#include "compiler/Precision/Passes.h.inc"

namespace {

// Ops whose types are fixed by something outside: symbols, regions, formats the file states.
bool isFixed(Operation *op) {
  return op->getNumRegions() || op->hasTrait<OpTrait::IsTerminator>() ||
         op->getName().getDialectNamespace() != "graph" ||
         isa<graph::GetWeightOp, graph::ConstantOp, graph::ReadStateOp, graph::UpdateStateOp,
             graph::BitcastOp, graph::QuantizeOp, graph::DequantizeOp, graph::DynamicQuantizeOp,
             graph::ShapeOp>(op);
}

// What only looks at weights moves them as narrow as they are.
bool movesWeight(Operation *op) { return movesOperand0(op) && isConstant(op->getOperand(0)); }

bool isFloatToFloat(graph::CastOp op) {
  return isa<FloatType>(elementOf(op.getInput())) && isa<FloatType>(elementOf(op.getResult()));
}

void widen(Operation *op) {
  OpBuilder b(op);
  Type f32 = b.getF32Type();
  for (OpOperand &operand : op->getOpOperands())
    if (isNarrowFloat(elementOf(operand.get())))
      operand.set(castTo(b, op->getLoc(), operand.get(), f32));
  b.setInsertionPointAfter(op);
  for (Value r : op->getResults()) {
    Type narrow = elementOf(r);
    if (!isNarrowFloat(narrow))
      continue;
    r.setType(cast<RankedTensorType>(r.getType()).clone(f32));
    Value back = castTo(b, op->getLoc(), r, narrow);
    r.replaceAllUsesExcept(back, back.getDefiningOp());
  }
}

// Widened again at once: the rounding in between is what this pass removes.
void removeRoundTrips(func::FuncOp func) {
  func.walk([](graph::CastOp wide) {
    auto narrow = wide.getInput().getDefiningOp<graph::CastOp>();
    if (!narrow || !elementOf(wide.getResult()).isF32() || !isNarrowFloat(elementOf(narrow.getResult())))
      return;
    if (elementOf(narrow.getInput()).isF32())
      wide.getResult().replaceAllUsesWith(narrow.getInput());
    else if (isNarrowFloat(elementOf(narrow.getInput()))) // one narrow type by way of another
      wide.getInputMutable().assign(narrow.getInput());
  });
  SmallVector<Operation *> casts;
  func.walk([&](graph::CastOp c) { casts.push_back(c); });
  for (Operation *c : llvm::reverse(casts))
    if (c->use_empty())
      c->erase();
}

struct WidenFloats : impl::WidenFloatsPassBase<WidenFloats> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      auto cast = dyn_cast<graph::CastOp>(op);
      if (!isFixed(op) && !movesWeight(op) && !(cast && isFloatToFloat(cast)))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      widen(op);
    removeRoundTrips(getOperation());
  }
};

} // namespace
} // namespace quaver::precision
