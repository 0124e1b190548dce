// Composites become simpler ops: see Passes.td.
#include "dialects/Graph/IR/Decompose.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include "dialects/Graph/Transforms/Passes.h"

using namespace mlir;

namespace quaver::graph {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "dialects/Graph/Transforms/Passes.h.inc"

static bool isFp8(Value v) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(getElementTypeOrSelf(v.getType()));
}

// Do only products read it, perhaps transposed?
static bool feedsOnlyProducts(Value v) {
  return !v.use_empty() && llvm::all_of(v.getUsers(), [](Operation *user) {
    return isa<MatmulOp>(user) || (isa<TransposeOp>(user) && feedsOnlyProducts(user->getResult(0)));
  });
}

// Blocks of 1x128: rows of 128 neighbours.
static bool isByRows(ArrayRef<int64_t> blocks) {
  return !blocks.empty() && blocks.back() == 128 &&
         llvm::all_of(blocks.drop_back(), [](int64_t b) { return b == 1; });
}

static bool hasKernel(Operation *op) {
  if (auto d = dyn_cast<DequantizeOp>(op))
    return isFp8(d.getInput()) && !d.getZeroPoint() && getElementTypeOrSelf(d.getType()).isF32() &&
           feedsOnlyProducts(d.getResult());
  auto q = dyn_cast<DynamicQuantizeOp>(op);
  return q && isa<Float8E4M3FNType>(getElementTypeOrSelf(q.getCodes().getType())) &&
         getElementTypeOrSelf(q.getScales().getType()).isF32() && q.getRounding() != ScaleRounding::floor &&
         isByRows(q.getBlocks());
}

namespace {
struct DecomposeComposites : impl::DecomposePassBase<DecomposeComposites> {
  using Base::Base;
  void runOnOperation() override {
    auto count = decomposeAll(getOperation(), [&](Operation *op) {
      return !llvm::is_contained(keep, op->getName().stripDialect()) && !(forKernels && hasKernel(op));
    });
    if (failed(count))
      return signalPassFailure();
    decomposed += *count;
  }
};
} // namespace
} // namespace quaver::graph
