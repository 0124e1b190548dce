// Obeys what AssignPrecision wrote: see Passes.td.
#include "compiler/Precision/MoveCasts.h"
#include "compiler/Precision/Passes.h"
#include "compiler/Precision/Values.h"

using namespace mlir;

namespace quaver::precision {
#define GEN_PASS_DEF_MATERIALIZEPRECISIONPASS
#include "compiler/Precision/Passes.h.inc"

namespace {

// Blocks of one operand by the recipe's table in dialects/Scale/Spec.md, where the weight is on the right; on
// the left it has the same blocks along its own free and summed dimension.
struct OperandShape {
  int64_t rank, freeAxis, sumAxis;
  bool isConv;
};
FailureOr<SmallVector<int64_t>> blocksOf(Operation *op, StringRef recipe, bool isWeight, OperandShape s) {
  constexpr int64_t kWhole = scale::ScaledTensorType::kWhole;
  SmallVector<int64_t> blocks(s.rank, 1);
  auto set = [&](int64_t free, int64_t sum) { blocks[s.freeAxis] = free, blocks[s.sumAxis] = sum; };
  if (recipe == "128x128") {
    set(isWeight ? 128 : 1, 128);
    return blocks;
  }
  if (recipe == "1x128") {
    set(1, 128);
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
                           << "\"; there is 128x128, 1x128, per_tensor, per_channel, mx32";
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

  // Norms are computed in f32 and rounded once; tables are stored narrow.
  void storeTable(Operation *op) {
    OpBuilder b(op);
    Type narrow = op->getAttrOfType<TypeAttr>(kStorage).getValue();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!isTableRead(op)) {
      b.setInsertionPointAfter(op);
      Value stored = castTo(b, op->getLoc(), op->getResult(0), narrow),
            wide = castTo(b, op->getLoc(), stored, type.getElementType());
      op->getResult(0).replaceAllUsesExcept(wide, stored.getDefiningOp());
      return;
    }
    op->setOperand(0, castTo(b, op->getLoc(), op->getOperand(0), narrow));
    op->getResult(0).setType(type.clone(narrow));
    b.setInsertionPointAfter(op);
    Value wide = castTo(b, op->getLoc(), op->getResult(0), type.getElementType());
    op->getResult(0).replaceAllUsesExcept(wide, wide.getDefiningOp());
  }

  FailureOr<Value> operand(Operation *op, OpBuilder &b, unsigned i, Type format, StringRef recipe) {
    Value v = op->getOperand(i);
    auto type = cast<RankedTensorType>(v.getType());
    if (format.getIntOrFloatBitWidth() > 8)
      return castTo(b, op->getLoc(), v, format);
    int64_t rank = type.getRank();
    bool isConv = !isa<graph::MatmulOp>(op);
    OperandShape s = isConv   ? OperandShape{rank, 0, 1, true}
                     : i == 0 ? OperandShape{rank, rank - 2, rank - 1, false}
                              : OperandShape{rank, rank - 1, rank - 2, false};
    auto blocks = blocksOf(op, recipe, i == weightOperand(op), s);
    if (failed(blocks))
      return failure();
    bool isMx = recipe == "mx32";
    Type scales = isMx ? Type(Float8E8M0FNUType::get(op->getContext())) : Type(b.getF32Type());
    auto scaled = scale::ScaledTensorType::get(op->getContext(), type.getShape(), format, *blocks, scales);
    graph::ScaleRounding rounding = isMx ? graph::ScaleRounding::floor : graph::ScaleRounding::none;
    if (Value looked = lookUpCodes(b, v, scaled, rounding))
      return looked;
    return scale::QuantizeOp::create(b, op->getLoc(), scaled, v, rounding).getResult();
  }

  // Matrices looked up in a stack of weights: the stack is quantized once, codes and scales are looked up. No
  // block crosses a matrix, so the codes are those of the matrices themselves.
  static Value lookUpCodes(OpBuilder &b, Value v, scale::ScaledTensorType type,
                           graph::ScaleRounding rounding) {
    Operation *op = v.getDefiningOp();
    if (!op || stackLookUp(v) != op)
      return {};
    Value stack = op->getOperand(0), indices = op->getOperand(1);
    auto stackType = cast<RankedTensorType>(stack.getType());
    int64_t rank = stackType.getRank(), lead = rank - 2;
    auto gather = dyn_cast<graph::GatherOp>(op);
    auto gatherNd = dyn_cast<graph::GatherNdOp>(op);
    bool isByMatrix = (gather && gather.getAxis() < uint64_t(lead)) ||
                      (gatherNd && gatherNd.getBatchDims() == 0 &&
                       cast<RankedTensorType>(indices.getType()).getShape().back() <= lead);
    ArrayRef<int64_t> blocks = type.getBlocks();
    if (!isByMatrix || llvm::any_of(blocks.drop_back(2), [](int64_t n) { return n != 1; }))
      return {};
    SmallVector<int64_t> stackBlocks(lead, 1);
    llvm::append_range(stackBlocks, blocks.take_back(2));
    auto scaled = scale::ScaledTensorType::get(op->getContext(), stackType.getShape(), type.getElementType(),
                                               stackBlocks, type.getScaleType());
    Location loc = op->getLoc();
    Value quantized = scale::QuantizeOp::create(b, loc, scaled, stack, rounding);
    auto halves = scale::UnpackOp::create(b, loc, scaled.getCodesType(), scaled.getScalesType(), quantized);
    auto lookUp = [&](Value half, RankedTensorType to) -> Value {
      Operation *copy = b.clone(*op);
      copy->setOperand(0, half);
      copy->getResult(0).setType(to);
      return copy->getResult(0);
    };
    return scale::PackOp::create(b, loc, type, lookUp(halves.getCodes(), type.getCodesType()),
                                 lookUp(halves.getScales(), type.getScalesType()));
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
    Value back = castTo(b, op->getLoc(), result, type.getElementType());
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
