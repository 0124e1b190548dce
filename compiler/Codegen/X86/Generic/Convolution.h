// A dispatch around one convolution.
#pragma once
#include "compiler/Codegen/Common/KernelEmission.h"

namespace quaver::codegen {

/// The convolution of a dispatch that the kernel computes: one or two spatial dimensions, float operands,
/// four filters a group or more. Null otherwise: `why` then says the reason (one clause), or is left alone
/// where there is no convolution.
graph::ConvOp findConvolution(plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes,
                              const Target &target, std::string &why);

/// Emits its dispatch with the contract of emitGenericKernel.
mlir::LogicalResult emitConvolution(graph::ConvOp op, plan_ir::DispatchOp dispatch,
                                    graph::ShapeAnalysis &shapes, const Target &target,
                                    mlir::ModuleOp kernels, llvm::StringRef symbol);

} // namespace quaver::codegen
