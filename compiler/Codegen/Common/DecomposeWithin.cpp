#include "compiler/Codegen/Common/DecomposeWithin.h"

using namespace mlir;

namespace quaver::codegen {

LogicalResult decomposeWithin(plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes,
                              llvm::function_ref<bool(Operation *)> keep) {
  SmallVector<graph::DecomposeInterface> composites(
      dispatch.getBody().front().getOps<graph::DecomposeInterface>());
  for (graph::DecomposeInterface op : composites) {
    if (keep(op))
      continue;
    Operation *before = op->getPrevNode();
    OpBuilder b(op);
    auto values = op.decompose(b);
    if (failed(values))
      return failure();
    for (Operation *made = before ? before->getNextNode() : &dispatch.getBody().front().front(); made != op;
         made = made->getNextNode())
      if (failed(shapes.visit(made)))
        return failure();
    op->replaceAllUsesWith(*values);
    op->erase();
  }
  return success();
}

} // namespace quaver::codegen
