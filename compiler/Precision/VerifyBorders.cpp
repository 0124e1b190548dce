// What must hold between the stages: see Passes.td.
#include "compiler/Precision/Passes.h"
#include "compiler/Precision/Values.h"

using namespace mlir;

namespace quaver::precision {
#define GEN_PASS_DEF_VERIFYSCALEBORDERPASS
#define GEN_PASS_DEF_VERIFYGRAPHBORDERPASS
#include "compiler/Precision/Passes.h.inc"

namespace {

bool isFp8(Type t) { return isa<FloatType>(t) && t.getIntOrFloatBitWidth() <= 8; }

struct VerifyScaleBorder : impl::VerifyScaleBorderPassBase<VerifyScaleBorder> {
  using Base::Base;
  void runOnOperation() override {
    WalkResult r = getOperation().walk([](Operation *op) -> WalkResult {
      bool isScale = isa_and_nonnull<scale::ScaleDialect>(op->getDialect());
      auto holdsBundle = [](TypeRange types) {
        return llvm::any_of(types, [](Type t) { return isa<scale::ScaledTensorType>(t); });
      };
      if (!isScale && (holdsBundle(op->getOperandTypes()) || holdsBundle(op->getResultTypes())))
        return op->emitOpError("meets a scaled tensor; only ops of scale may"), WalkResult::interrupt();
      auto p = op->getAttrOfType<scale::PrecisionAttr>(kPrecision);
      if (!p || !isProduct(op))
        return WalkResult::advance();
      if (p.getLhs() != elementOf(op->getOperand(0)) || p.getRhs() != elementOf(op->getOperand(1)) ||
          p.getOut() != elementOf(op->getResult(0)))
        return op->emitOpError() << "does not have the formats of its precision " << p,
               WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (r.wasInterrupted())
      signalPassFailure();
  }
};

struct VerifyGraphBorder : impl::VerifyGraphBorderPassBase<VerifyGraphBorder> {
  using Base::Base;

  static bool mayHoldFp8(Operation *op) {
    return isa<graph::CastOp, graph::BitcastOp, graph::QuantizeOp, graph::DequantizeOp,
               graph::DynamicQuantizeOp, graph::GetWeightOp, graph::ReadStateOp, graph::UpdateStateOp,
               graph::ConstantOp, graph::ReshapeOp, graph::ExpandDimsOp, graph::SqueezeOp, graph::ExpandOp,
               graph::TransposeOp, graph::SliceOp, graph::ConcatOp, graph::PadOp, graph::GatherOp,
               graph::GatherElementsOp, graph::GatherNdOp, graph::ScatterElementsOp, graph::ScatterNdOp,
               graph::ShapeOp, graph::SelectOp, graph::IfOp, graph::WhileOp>(op) ||
           op->hasTrait<OpTrait::IsTerminator>() || isa<func::FuncOp>(op);
  }

  void runOnOperation() override {
    WalkResult r = getOperation().walk([](Operation *op) -> WalkResult {
      if (isa_and_nonnull<scale::ScaleDialect>(op->getDialect()))
        return op->emitOpError("is left; scaled tensors are exploded before dispatches are formed"),
               WalkResult::interrupt();
      auto holdsFp8 = [](TypeRange types) {
        return llvm::any_of(types, [](Type t) { return isFp8(getElementTypeOrSelf(t)); });
      };
      if (!mayHoldFp8(op) && (holdsFp8(op->getOperandTypes()) || holdsFp8(op->getResultTypes())))
        return op->emitOpError(
                   "meets FP8 values, which are only stored, moved, cast, quantized and dequantized"),
               WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (r.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace quaver::precision
