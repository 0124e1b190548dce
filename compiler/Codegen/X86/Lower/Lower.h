// Kernels as loops and vectors -> LLVM IR -> O3 -> object -> one freestanding shared ELF.
#pragma once
#include "compiler/Codegen/Common/KernelEmission.h"

namespace quaver::codegen {

/// Times of the steps of one compileToElf, in milliseconds.
struct LowerTimes {
  double mlir = 0, link = 0, optimize = 0, emit = 0, lld = 0;
};

/// Compiles all functions of `kernels` (which is consumed: it holds llvm.func afterwards) for `target`. Every
/// public function is an exported symbol. Functions that call manifest kernels get them linked in from the
/// target's bitcode and inlined. The file needs no library: no libm, no libc; equal input gives equal bytes.
/// Fails with a diagnostic on the module.
mlir::FailureOr<std::vector<char>> compileToElf(mlir::ModuleOp kernels, const Target &target,
                                                LowerTimes *times = nullptr);

} // namespace quaver::codegen
