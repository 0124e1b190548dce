#include "compiler/Precision/MoveCasts.h"
#include "compiler/Precision/Values.h"

using namespace mlir;

namespace quaver::precision {
namespace {

bool isWidening(graph::CastOp c) {
  return c && isNarrowFloat(elementOf(c.getInput())) && elementOf(c.getResult()).isF32();
}
bool isNarrowing(graph::CastOp c) {
  return c && elementOf(c.getInput()).isF32() && isNarrowFloat(elementOf(c.getResult()));
}

// The same movement of other elements.
Value moved(OpBuilder &b, Operation *movement, Value input) {
  Operation *copy = b.clone(*movement);
  copy->setOperand(0, input);
  copy->removeAttr(kStorage);
  copy->getResult(0).setType(
      cast<RankedTensorType>(movement->getResult(0).getType()).clone(elementOf(input)));
  return copy->getResult(0);
}

// cast(move(x)) = move(cast(x)), if all readers cast alike.
bool hoist(graph::CastOp narrow) {
  Operation *movement = narrow.getInput().getDefiningOp();
  if (!movement || !movesOperand0(movement))
    return false;
  Type to = elementOf(narrow.getResult());
  SmallVector<graph::CastOp> readers;
  for (Operation *user : movement->getUsers()) {
    auto c = dyn_cast<graph::CastOp>(user);
    if (isa<graph::ShapeOp>(user))
      continue;
    if (!c || elementOf(c.getResult()) != to)
      return false;
    readers.push_back(c);
  }
  OpBuilder b(movement);
  Value result = moved(b, movement, castTo(b, narrow.getLoc(), movement->getOperand(0), to));
  for (graph::CastOp c : readers)
    c.getResult().replaceAllUsesWith(result);
  return true;
}

// move(cast(x)) = cast(move(x)).
bool sink(graph::CastOp wide) {
  bool changed = false;
  for (OpOperand &use : llvm::make_early_inc_range(wide.getResult().getUses())) {
    Operation *movement = use.getOwner();
    if (!movesOperand0(movement) || use.getOperandNumber() != 0)
      continue;
    OpBuilder b(movement);
    Value result =
        castTo(b, movement->getLoc(), moved(b, movement, wide.getInput()), elementOf(wide.getResult()));
    movement->getResult(0).replaceAllUsesWith(result);
    changed = true;
  }
  return changed;
}

bool simplify(graph::CastOp c) {
  auto from = c.getInput().getDefiningOp<graph::CastOp>();
  if (isNarrowing(c) && isWidening(from) && elementOf(from.getInput()) == elementOf(c.getResult())) {
    c.getResult().replaceAllUsesWith(from.getInput());
    return true;
  }
  if (isNarrowing(c))
    return hoist(c);
  if (!isWidening(c))
    return false;
  bool changed = sink(c);
  // Widening comes first in quantization anyway.
  for (OpOperand &use : llvm::make_early_inc_range(c.getResult().getUses()))
    if (isa<scale::QuantizeOp>(use.getOwner())) {
      use.set(c.getInput());
      changed = true;
    }
  return changed;
}

void eraseDead(func::FuncOp func) {
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isa<graph::CastOp>(op) || movesOperand0(op))
      ops.push_back(op);
  });
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
}

} // namespace

void moveCasts(func::FuncOp func) {
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<graph::CastOp> casts;
    func.walk([&](graph::CastOp c) { casts.push_back(c); });
    for (graph::CastOp c : casts)
      if (!c->use_empty())
        changed |= simplify(c);
    eraseDead(func);
  }
}

} // namespace quaver::precision
