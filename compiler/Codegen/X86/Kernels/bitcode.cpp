#include "compiler/Codegen/X86/Kernels/bitcode.h"

extern "C" {
extern const char quaver_kernels_avx2[], quaver_kernels_avx2_end[];
extern const char quaver_kernels_avx512[], quaver_kernels_avx512_end[];
extern const char quaver_kernels_avx512_bf16[], quaver_kernels_avx512_bf16_end[];
extern const char quaver_kernels_memory[], quaver_kernels_memory_end[];
}

namespace quaver::x86 {
namespace {
std::string_view between(const char *begin, const char *end) { return {begin, size_t(end - begin)}; }
} // namespace

std::string_view kernelBitcode(FeatureSet set) {
  switch (set) {
  case FeatureSet::Avx2:
    return between(quaver_kernels_avx2, quaver_kernels_avx2_end);
  case FeatureSet::Avx512:
    return between(quaver_kernels_avx512, quaver_kernels_avx512_end);
  case FeatureSet::Avx512Bf16:
    return between(quaver_kernels_avx512_bf16, quaver_kernels_avx512_bf16_end);
  }
  return {};
}

std::string_view setName(FeatureSet set) {
  constexpr std::string_view kNames[] = {"avx2", "avx512", "avx512_bf16"};
  return kNames[int(set)];
}

std::string_view targetCpu(FeatureSet set) { return set == FeatureSet::Avx2 ? "x86-64-v3" : "x86-64-v4"; }

std::string_view targetFeatures(FeatureSet set) {
  return set == FeatureSet::Avx512Bf16 ? "+avx512bf16,+avx512vbmi,+avx512vnni" : "";
}

std::string_view memoryObject() { return between(quaver_kernels_memory, quaver_kernels_memory_end); }

} // namespace quaver::x86
