// Obeys what AssignPrecision wrote: see Passes.td.
#include "compiler/Precision/MoveCasts.h"
#include "compiler/Precision/Passes.h"
#include "compiler/Precision/Values.h"

using namespace mlir;

namespace quaver::precision {
#define GEN_PASS_DEF_MATERIALIZEPRECISIONPASS
#include "compiler/Precision/Passes.h.inc"

namespace {

// Blocks of one operand by the recipe's table in dialects/Scale/Spec.md. `rows` and `columns` are the
// operand's two block dimensions, `columns` the summed one of a left operand and `rows` that of a right one;
// a conv's are [1, 0] of the filter.
struct OperandShape {
  int64_t rank, freeAxis, sumAxis;
  bool isConv;
};
FailureOr<SmallVector<int64_t>> blocksOf(Operation *op, StringRef recipe, bool isRhs, OperandShape s) {
  constexpr int64_t kWhole = scale::ScaledTensorType::kWhole;
  SmallVector<int64_t> blocks(s.rank, 1);
  auto set = [&](int64_t free, int64_t sum) { blocks[s.freeAxis] = free, blocks[s.sumAxis] = sum; };
  if (recipe == "128x128") {
    set(isRhs ? 128 : 1, 128);
    return blocks;
  }
  if (recipe == "mx32") {
    set(1, 32);
    return blocks;
  }
  bool perTensor = recipe == "per_tensor";
  if (perTensor || recipe == "per_channel") {
    if (perTensor || s.isConv)
      blocks.assign(s.rank, kWhole);
    set(perTensor ? kWhole : 1, kWhole);
    return blocks;
  }
  return op->emitOpError() << "has the unknown recipe \"" << recipe
                           << "\"; there is 128x128, per_tensor, per_channel, mx32";
}

struct MaterializePrecision : impl::MaterializePrecisionPassBase<MaterializePrecision> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (op->hasAttr(kPrecision) || op->hasAttr(kStorage))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (op->hasAttr(kStorage))
        storeTable(op);
      else if (failed(obey(op)))
        return signalPassFailure();
    }
    moveCasts(getOperation());
  }

  void storeTable(Operation *op) {
    OpBuilder b(op);
    Type narrow = op->getAttrOfType<TypeAttr>(kStorage).getValue();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    op->setOperand(0, castTo(b, op->getOperand(0), narrow));
    op->getResult(0).setType(type.clone(narrow));
    b.setInsertionPointAfter(op);
    Value wide = castTo(b, op->getResult(0), type.getElementType());
    op->getResult(0).replaceAllUsesExcept(wide, wide.getDefiningOp());
  }

  FailureOr<Value> operand(Operation *op, OpBuilder &b, unsigned i, Type format, StringRef recipe) {
    Value v = op->getOperand(i);
    auto type = cast<RankedTensorType>(v.getType());
    if (format.getIntOrFloatBitWidth() > 8)
      return castTo(b, v, format);
    int64_t rank = type.getRank();
    bool isConv = !isa<graph::MatmulOp>(op);
    OperandShape s = isConv   ? OperandShape{rank, 0, 1, true}
                     : i == 0 ? OperandShape{rank, rank - 2, rank - 1, false}
                              : OperandShape{rank, rank - 1, rank - 2, false};
    auto blocks = blocksOf(op, recipe, i == 1, s);
    if (failed(blocks))
      return failure();
    bool isMx = recipe == "mx32";
    Type scales = isMx ? Type(Float8E8M0FNUType::get(op->getContext())) : Type(b.getF32Type());
    auto scaled = scale::ScaledTensorType::get(op->getContext(), type.getShape(), format, *blocks, scales);
    return scale::QuantizeOp::create(b, op->getLoc(), scaled, v,
                                     isMx ? graph::ScaleRounding::floor : graph::ScaleRounding::none)
        .getResult();
  }

  LogicalResult obey(Operation *op) {
    auto p = op->getAttrOfType<scale::PrecisionAttr>(kPrecision);
    OpBuilder b(op);
    auto lhs = operand(op, b, 0, p.getLhs(), p.getRecipe()),
         rhs = operand(op, b, 1, p.getRhs(), p.getRecipe());
    if (failed(lhs) || failed(rhs))
      return failure();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    RankedTensorType out = type.clone(p.getOut());
    bool isScaled =
        isa<scale::ScaledTensorType>(lhs->getType()) || isa<scale::ScaledTensorType>(rhs->getType());
    auto reason = op->getAttrOfType<StringAttr>(kReason);
    Value result;
    if (!isScaled) {
      op->setOperand(0, *lhs), op->setOperand(1, *rhs);
      op->getResult(0).setType(out);
      result = op->getResult(0);
    } else if (isa<graph::MatmulOp>(op)) {
      result = scale::MatmulOp::create(b, op->getLoc(), out, *lhs, *rhs, p, reason);
    } else if (auto c = dyn_cast<graph::ConvOp>(op)) {
      result = scale::ConvOp::create(b, op->getLoc(), out, *lhs, *rhs, c.getStrides(), c.getPads(),
                                     c.getDilations(), c.getGroups(), p, reason);
    } else {
      return op->emitOpError() << "has no FP8 form, but its precision is " << p;
    }
    b.setInsertionPointAfter(op);
    Value back = castTo(b, result, type.getElementType());
    if (isScaled) {
      op->getResult(0).replaceAllUsesWith(back);
      op->erase();
    } else if (back != result) {
      result.replaceAllUsesExcept(back, back.getDefiningOp());
    }
    return success();
  }
};

} // namespace
} // namespace quaver::precision
