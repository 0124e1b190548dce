// Kernels as loops -> LLVM IR -> O3 -> PTX text.
#pragma once
#include "compiler/Codegen/Common/KernelEmission.h"

namespace quaver::codegen {

/// Compiles all functions of `kernels` (which is consumed: it holds llvm.func afterwards) for a GPU `target`.
/// Every public function becomes an `.entry` in blocks of KernelFunction::kBlockThreads. The text is whole:
/// no `.extern`, no libdevice; equal input gives equal text. Fails with a diagnostic on the module that names
/// what is missing.
mlir::FailureOr<std::string> compileToPtx(mlir::ModuleOp kernels, const Target &target);

} // namespace quaver::codegen
