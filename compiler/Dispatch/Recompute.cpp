#include "compiler/Dispatch/Recompute.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::dispatch {
namespace {
struct Cost {
  int ops = 0;
  llvm::SmallSetVector<Value, 4> loads;
};
} // namespace

// Has the result more elements than the operand for sure (a size that is 1, or missing, in the operand
// alone)?
static bool isStrictlySmaller(const Dims &operand, const Dims &result) {
  if (operand.size() > result.size())
    return false;
  size_t added = result.size() - operand.size();
  for (size_t i = 0; i < result.size(); ++i)
    if (result[i] != DimExpr(1) && (i < added || operand[i - added] == DimExpr(1)))
      return true;
  return false;
}

static bool isCheap(Operation *op) {
  if (isa<DivOp, RemOp>(op) && isa<IntegerType>(getElementTypeOrSelf(op->getResult(0).getType())))
    return false;
  return (classify(op) == OpClass::Elementwise && !isTranscendental(op)) || classify(op) == OpClass::Alias ||
         isa<ExpandOp, RangeOp>(op);
}

llvm::DenseSet<Operation *> findRecomputed(Block &block, ShapeAnalysis &shapes) {
  llvm::DenseMap<Operation *, Cost> costs;
  llvm::DenseSet<Operation *> found;
  for (Operation &o : block) {
    Operation *op = &o;
    if (!isCheap(op))
      continue;
    Cost cost;
    cost.ops = classify(op) == OpClass::Alias || isa<ExpandOp>(op) ? 0 : 1;
    bool onlyCopied = true, fits = true;
    const Dims result(shapes.get(op->getResult(0)).dims);
    for (OpOperand &use : op->getOpOperands()) {
      if (isSizeOperand(use))
        continue;
      Operation *def = use.get().getDefiningOp();
      if (def && (isInlineConstant(def) || isa<SizesOp>(def)))
        continue;
      if (auto it = def ? costs.find(def) : costs.end(); it != costs.end()) {
        cost.ops += it->second.ops;
        cost.loads.insert(it->second.loads.begin(), it->second.loads.end());
        continue;
      }
      onlyCopied = false;
      fits &= isStrictlySmaller(Dims(shapes.get(use.get()).dims), result);
      cost.loads.insert(use.get());
    }
    // A view of a stored value is an alias of its bytes, not something to compute.
    if (classify(op) == OpClass::Alias && !onlyCopied)
      continue;
    if (!fits || cost.ops > kMaxRecomputeCost || cost.loads.size() > 3)
      continue;
    found.insert(op);
    costs[op] = std::move(cost);
  }
  return found;
}

} // namespace quaver::dispatch
