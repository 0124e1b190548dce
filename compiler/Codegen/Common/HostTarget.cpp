#include "compiler/Codegen/Common/KernelEmission.h"

namespace quaver::codegen {

std::optional<HostTarget> hostTarget(llvm::StringRef name) {
  if (name == "x86-64-v3")
    return HostTarget{name.str(), "x86-64-v3", "", 256};
  if (name == "x86-64-v4")
    return HostTarget{name.str(), "x86-64-v4", "", 512};
  if (name == "x86-64-v4+bf16")
    return HostTarget{name.str(), "x86-64-v4", "+avx512bf16,+avx512vbmi,+avx512vnni", 512};
  return std::nullopt;
}

} // namespace quaver::codegen
