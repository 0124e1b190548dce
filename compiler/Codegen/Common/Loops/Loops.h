// Kernels of ops whose loops carry something from one element to the next: sorts, scans, scatters, counts.
#pragma once
#include "compiler/Codegen/Common/KernelEmission.h"

namespace quaver::codegen {

/// top_k, cumulative, scatter_elements, scatter_nd, non_zero, unique, resize: alone in their dispatch.
bool isLoopKind(mlir::Operation *op);

/// Emits the kernel of a dispatch that holds one loop-kind op, with the contract of emitGenericKernel: scalar
/// scf loops, every element type, any axis. Indices out of range touch no memory (their update is dropped).
/// Fails with a diagnostic on an op or an attribute that it does not know.
mlir::LogicalResult emitLoopKernel(plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes,
                                   const Target &target, mlir::ModuleOp kernels, llvm::StringRef symbol);

} // namespace quaver::codegen
