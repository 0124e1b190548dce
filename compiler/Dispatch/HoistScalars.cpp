#include "compiler/Dispatch/HoistScalars.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::dispatch {

static bool isSingle(Value v, ShapeAnalysis &shapes) {
  return llvm::all_of(shapes.get(v).dims, [](const DimExpr &d) { return d == DimExpr(1); });
}

// The only operand that is not one number, if it is moved by ops that nobody else reads; and the result has
// its shape.
static OpOperand *movedOperand(Operation *op, ShapeAnalysis &shapes) {
  OpOperand *moved = nullptr;
  for (OpOperand &use : op->getOpOperands()) {
    if (isSingle(use.get(), shapes))
      continue;
    if (moved)
      return nullptr;
    moved = &use;
  }
  if (!moved)
    return nullptr;
  Operation *def = moved->get().getDefiningOp();
  bool moves =
      def && def->getBlock() == op->getBlock() && isa<TransposeOp, ReshapeOp, ExpandDimsOp, SqueezeOp>(def);
  if (!moves || !def->hasOneUse() || shapes.get(op->getResult(0)).dims != shapes.get(moved->get()).dims)
    return nullptr;
  Value base = def->getOperand(0);
  size_t rank = shapes.get(base).dims.size();
  for (Value v : op->getOperands())
    if (v != moved->get() && shapes.get(v).dims.size() > rank)
      return nullptr;
  return moved;
}

void hoistScalars(Block &block, ShapeAnalysis &shapes) {
  SmallVector<Operation *> work;
  for (Operation &op : block)
    if (classify(&op) == OpClass::Elementwise)
      work.push_back(&op);
  for (Operation *op : work) {
    // Is there a computed value behind the moves, read by nobody else?
    Value base = op->getResult(0);
    if (OpOperand *first = movedOperand(op, shapes))
      base = first->get();
    else
      continue;
    while (Operation *def = base.getDefiningOp()) {
      if (def->getBlock() != &block || !def->hasOneUse() ||
          !isa<TransposeOp, ReshapeOp, ExpandDimsOp, SqueezeOp>(def))
        break;
      base = def->getOperand(0);
    }
    Operation *source = base.getDefiningOp();
    if (!source || source->getBlock() != &block || !base.hasOneUse() ||
        (classify(source) != OpClass::Contraction && classify(source) != OpClass::Elementwise))
      continue;
    while (OpOperand *moved = movedOperand(op, shapes)) {
      Operation *move = moved->get().getDefiningOp();
      Value from = move->getOperand(0);
      Type element = getElementTypeOrSelf(op->getResult(0).getType());
      auto typed = [&](Type like) {
        return RankedTensorType::get(cast<RankedTensorType>(like).getShape(), element);
      };
      // The op where the move's operand is known, then the move on its result.
      Operation *behind = op->getNextNode();
      op->moveBefore(move);
      for (Value v : op->getOperands()) // numbers that stand between the two
        if (Operation *d = v.getDefiningOp();
            d && d->getBlock() == &block && d != move && !d->isBeforeInBlock(op) && d->getNumOperands() == 0)
          d->moveBefore(op);
      bool available = llvm::all_of(op->getOperands(), [&](Value v) {
        Operation *d = v.getDefiningOp();
        return !d || d == move || d->getBlock() != &block || d->isBeforeInBlock(op);
      });
      if (!available) {
        op->moveBefore(behind);
        break;
      }
      Value old = op->getResult(0);
      SymbolicTensor shapeOfOp = shapes.get(old), shapeOfFrom = shapes.get(from);
      shapeOfFrom.elements.reset();
      Operation *newMove = move->clone();
      OpBuilder(move).insert(newMove);
      newMove->moveAfter(op);
      newMove->getResult(0).setType(typed(old.getType()));
      old.replaceAllUsesWith(newMove->getResult(0));
      moved->set(from);
      old.setType(typed(from.getType()));
      newMove->setOperand(0, old);
      shapes.set(newMove->getResult(0), shapeOfOp);
      shapes.set(old, shapeOfFrom);
      move->erase();
    }
  }
}

} // namespace quaver::dispatch
