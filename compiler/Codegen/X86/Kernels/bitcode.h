// The kernels as LLVM bitcode, one module per feature set, and the memory functions that every dispatch may
// need.
//
// How to link them into a dispatch: getLazyBitcodeModule + Linker::LinkOnlyNeeded; then give every function
// of the module the same target-cpu, target-features and no-builtins (always_inline does not check them: a
// kernel of a larger set would be compiled, silently and wrongly, for the smaller one); internalize all but
// the dispatch; O3 without any library functions. Link memoryObject() by --start-lib.
#pragma once

#include "compiler/Codegen/X86/Kernels/geometry.h"

#include <string_view>

namespace quaver::x86 {

// Bitcode of all kernels compiled for `set`, triple x86_64-unknown-linux-gnu. Static storage, 16-byte
// aligned.
std::string_view kernelBitcode(FeatureSet set);

// The prefix of the set's kernel symbols: "avx2", "avx512", "avx512_bf16".
std::string_view setName(FeatureSet set);

// What a TargetMachine for `set` must be made with.
std::string_view targetCpu(FeatureSet set);      // "x86-64-v3", "x86-64-v4"
std::string_view targetFeatures(FeatureSet set); // "", "+avx512bf16,+avx512vbmi,+avx512vnni"

// An ELF object with hidden memset, memcpy, memmove.
std::string_view memoryObject();

} // namespace quaver::x86
