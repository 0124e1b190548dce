// One dispatch -> one GPU kernel.
#pragma once
#include "compiler/Codegen/Common/KernelEmission.h"

namespace quaver::codegen {

/// Emits the kernel of a dispatch for a GPU target into `kernels`: loops whose steps depend on one another
/// with one thread a workgroup, everything else with one warp a workgroup. Sets the dispatch's attributes as
/// emitGenericKernel does, and block_threads. Fails with a diagnostic on an op that it cannot emit.
mlir::LogicalResult emitGpuKernel(plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes,
                                  const Target &target, mlir::ModuleOp kernels, llvm::StringRef symbol);

} // namespace quaver::codegen
