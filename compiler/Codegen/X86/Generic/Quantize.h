// Dispatches that only quantize activations.
#pragma once
#include "compiler/Codegen/Common/KernelEmission.h"

namespace quaver::codegen {

/// The dynamic_quantize that is all of a dispatch and has a kernel: to E4M3 in blocks of 1x128; null
/// otherwise.
graph::DynamicQuantizeOp findQuantize(plan_ir::DispatchOp dispatch, const Target &target);

/// Emits its dispatch with the contract of emitGenericKernel.
mlir::LogicalResult emitQuantize(graph::DynamicQuantizeOp op, plan_ir::DispatchOp dispatch,
                                 graph::ShapeAnalysis &shapes, const Target &target, mlir::ModuleOp kernels,
                                 llvm::StringRef symbol);

} // namespace quaver::codegen
