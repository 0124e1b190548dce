#include "compiler/Codegen/X86/Generic/HostKernel.h"
#include "compiler/Codegen/Common/DecomposeWithin.h"
#include "compiler/Codegen/Common/Loops/Loops.h"
#include "compiler/Codegen/X86/Generic/Convolution.h"
#include "compiler/Codegen/X86/Generic/Product.h"
#include "compiler/Codegen/X86/Generic/Quantize.h"

using namespace mlir;

namespace quaver::codegen {

// Is it a dequantize that only products read, perhaps transposed?
static bool isOperandOfProduct(Operation *op) {
  return isa<graph::DequantizeOp, graph::TransposeOp>(op) &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return isa<graph::MatmulOp>(user) || (isa<graph::TransposeOp>(user) && isOperandOfProduct(user));
         });
}

LogicalResult emitHostKernel(plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes, const Target &target,
                             ModuleOp kernels, StringRef symbol) {
  for (Operation &op : dispatch.getBody().front())
    if (isLoopKind(&op))
      return emitLoopKernel(dispatch, shapes, target, kernels, symbol);
  if (auto quantize = findQuantize(dispatch, target))
    return emitQuantize(quantize, dispatch, shapes, target, kernels, symbol);
  if (failed(decomposeWithin(dispatch, shapes, isOperandOfProduct)))
    return failure();
  std::string why;
  if (auto p = findProduct(dispatch, shapes, target, why))
    return emitProduct(*p, dispatch, shapes, target, kernels, symbol);
  if (auto conv = findConvolution(dispatch, shapes, target, why))
    return emitConvolution(conv, dispatch, shapes, target, kernels, symbol);
  if (failed(decomposeWithin(dispatch, shapes, [](Operation *) { return false; })))
    return failure();
  if (failed(emitGenericKernel(dispatch, shapes, target, kernels, symbol)))
    return failure();
  if (!why.empty())
    dispatch.setDescription((*dispatch.getDescription() + "; no matrix kernel: " + why).str());
  return success();
}

} // namespace quaver::codegen
