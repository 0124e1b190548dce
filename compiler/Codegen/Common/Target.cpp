#include "compiler/Codegen/Common/KernelEmission.h"
#include "runtime/base/cpu_features.h"

namespace quaver::codegen {

std::optional<Target> findTarget(llvm::StringRef name) {
  auto x86 = [&](const char *cpu, const char *features, unsigned bits) {
    return Target{name.str(), Target::Kind::X86, cpu, features, bits};
  };
  if (name == "x86-64-v3")
    return x86("x86-64-v3", "", 256);
  if (name == "x86-64-v4")
    return x86("x86-64-v4", "", 512);
  if (name == "x86-64-v4+bf16")
    return x86("x86-64-v4", "+avx512bf16,+avx512vbmi,+avx512vnni", 512);
  // PTX 8.4 has mma.sync of FP8 with f32 sums (sm_89) and everything of sm_90a that is used; CUDA 12.4 reads
  // it.
  if (name == "sm_89" || name == "sm_90a")
    return Target{name.str(), Target::Kind::NvidiaGpu, name.str(), "+ptx84", 32};
  return std::nullopt;
}

std::vector<std::string> targetNames() {
  std::vector<std::string> names = x86_targets();
  names.insert(names.end(), {"sm_89", "sm_90a"});
  return names;
}

} // namespace quaver::codegen
