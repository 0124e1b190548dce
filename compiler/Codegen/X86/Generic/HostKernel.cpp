#include "compiler/Codegen/X86/Generic/HostKernel.h"
#include "compiler/Codegen/Common/Loops/Loops.h"
#include "compiler/Codegen/X86/Generic/Product.h"

using namespace mlir;

namespace quaver::codegen {

LogicalResult emitHostKernel(plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes, const HostTarget &target, ModuleOp kernels,
                             StringRef symbol) {
  for (Operation &op : dispatch.getBody().front())
    if (isLoopKind(&op)) return emitLoopKernel(dispatch, shapes, target, kernels, symbol);
  std::string why;
  if (auto p = findProduct(dispatch, shapes, target, why)) return emitProduct(*p, dispatch, shapes, target, kernels, symbol);
  if (failed(emitGenericKernel(dispatch, shapes, target, kernels, symbol))) return failure();
  if (!why.empty()) dispatch.setDescription((*dispatch.getDescription() + "; no matrix kernel: " + why).str());
  return success();
}

} // namespace quaver::codegen
