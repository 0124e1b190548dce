#include "compiler/Codegen/NVPTX/Generic/GpuKernel.h"
#include "compiler/Codegen/Common/DecomposeWithin.h"
#include "compiler/Codegen/Common/Loops/Loops.h"

using namespace mlir;

namespace quaver::codegen {

LogicalResult emitGpuKernel(plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes, const Target &target,
                            ModuleOp kernels, StringRef symbol) {
  for (Operation &op : dispatch.getBody().front())
    if (isLoopKind(&op))
      return emitLoopKernel(dispatch, shapes, target, kernels, symbol);
  if (failed(decomposeWithin(dispatch, shapes, [](Operation *) { return false; })))
    return failure();
  return emitGenericKernel(dispatch, shapes, target, kernels, symbol);
}

} // namespace quaver::codegen
