// A call of a kernel of the manifest.
#pragma once
#include "compiler/Codegen/Common/KernelFunction.h"

namespace quaver::codegen {

/// Calls the kernel `name` of the target's bitcode, which is declared by the arguments' types.
void callKernel(KernelFunction &k, llvm::StringRef name, llvm::ArrayRef<mlir::Value> arguments);

} // namespace quaver::codegen
