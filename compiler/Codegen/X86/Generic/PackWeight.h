// Weights in the layouts that the matrix kernels read.
#pragma once
#include "dialects/Plan/IR/Packing.h"

namespace quaver::codegen {

/// The bytes of a dense constant in a packing that emitHostKernel asked for: `storage` and `parameters` are a
/// plan_ir::Packing's. nullopt for a storage of another target.
std::optional<std::vector<char>> packWeight(llvm::StringRef storage, llvm::ArrayRef<int64_t> parameters,
                                            llvm::ArrayRef<char> dense);

} // namespace quaver::codegen
