#include "compiler/Codegen/X86/Generic/PackWeight.h"
#include "compiler/Codegen/X86/Kernels/pack.h"

namespace quaver::codegen {

std::optional<std::vector<char>> packWeight(llvm::StringRef storage, llvm::ArrayRef<int64_t> parameters,
                                            llvm::ArrayRef<char> dense) {
  auto layout = x86::layoutFromName(storage.str());
  if (!layout || parameters.size() != 4)
    return std::nullopt;
  x86::DenseView view{parameters[0], parameters[1], parameters[2], parameters[3]};
  std::vector<char> packed(x86::packedBytes(*layout, view.k, view.n));
  x86::pack(*layout, view, dense.data(), packed.data());
  return packed;
}

} // namespace quaver::codegen
