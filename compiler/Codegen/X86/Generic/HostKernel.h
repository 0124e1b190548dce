// Any dispatch to a kernel of this CPU: the manifest's where one fits, else loops.
#pragma once
#include "compiler/Codegen/Common/KernelEmission.h"

namespace quaver::codegen {

/// Emits the kernel of a dispatch, with the contract of emitGenericKernel: a loop-kind op by emitLoopKernel,
/// a single product of strided views by a matrix kernel with the rest as its epilogue, everything else by
/// emitGenericKernel. A product by a weight sets the dispatch's `packings`: the binding is then the weight's
/// packWeight. Where a product did not get a matrix kernel, the description says why.
mlir::LogicalResult emitHostKernel(plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes,
                                   const Target &target, mlir::ModuleOp kernels, llvm::StringRef symbol);

} // namespace quaver::codegen
