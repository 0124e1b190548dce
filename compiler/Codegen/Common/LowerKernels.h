// What lowering to machine code has in common on all targets.
#pragma once
#include "compiler/Codegen/Common/KernelEmission.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace quaver::codegen {

/// Loads the dialects that kernels are written in and registers their translations; once per context, before
/// emission.
void loadKernelDialects(mlir::MLIRContext &context);

/// Loops, vectors, arithmetic and math of all functions to the LLVM dialect, in place.
mlir::LogicalResult lowerToLlvmDialect(mlir::ModuleOp kernels);

/// LLVM's O3, without knowledge of any library: nothing becomes a call.
void optimizeKernels(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace quaver::codegen
