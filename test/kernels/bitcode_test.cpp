// The embedded bitcode parses, holds every kernel of its set, and has what the linker of dispatches relies
// on.
#include "compiler/Codegen/X86/Kernels/bitcode.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ObjectFile.h"
#include <gtest/gtest.h>
#include <set>

namespace quaver::x86 {
namespace {

const char *const kKernels[] = {"f32_gemm",       "bf16_gemm",          "bf16_e4m3_gemm",
                                "e4m3_e4m3_gemm", "batched_matmul_f32", "batched_matmul_bf16",
                                "quantize_1x128"};

TEST(Bitcode, HoldsEveryKernel) {
  for (const FeatureSet set : {FeatureSet::Avx2, FeatureSet::Avx512, FeatureSet::Avx512Bf16}) {
    llvm::LLVMContext context;
    auto module = llvm::parseBitcodeFile({kernelBitcode(set), setName(set)}, context);
    ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
    EXPECT_EQ((*module)->getTargetTriple().str(), "x86_64-unknown-linux-gnu");
    const std::set<std::string> fromDispatch = {"epilogue", "batch_offset"};
    for (const char *name : kKernels) {
      const llvm::Function *f = (*module)->getFunction(std::string(setName(set)) + "_" + name);
      ASSERT_TRUE(f && !f->isDeclaration()) << setName(set).data() << " " << name;
      EXPECT_TRUE(f->hasFnAttribute(llvm::Attribute::AlwaysInline));
      EXPECT_FALSE(f->hasFnAttribute(llvm::Attribute::OptimizeNone));
      EXPECT_EQ(f->getFnAttribute("target-cpu").getValueAsString(), llvm::StringRef(targetCpu(set)));
    }
    for (const llvm::Function &f : **module) {
      if (f.isDeclaration() && !f.isIntrinsic()) {
        EXPECT_TRUE(fromDispatch.count(f.getName().str()))
            << f.getName().str() << " is not provided by a dispatch";
      }
    }
  }
}

TEST(Bitcode, MemoryObjectDefinesTheThree) {
  auto object = llvm::object::ObjectFile::createObjectFile({memoryObject(), "memory.o"});
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  std::set<std::string> names;
  for (const auto &symbol : (*object)->symbols())
    if (auto name = symbol.getName(); name && !(*symbol.getFlags() & llvm::object::SymbolRef::SF_Undefined))
      names.insert(name->str());
  for (const char *name : {"memset", "memcpy", "memmove"})
    EXPECT_TRUE(names.count(name)) << name;
}

} // namespace
} // namespace quaver::x86
