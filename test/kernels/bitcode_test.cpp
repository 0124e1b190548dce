// The embedded bitcode parses, holds every kernel of its set, and has what the linker of dispatches relies
// on.
#include "compiler/Codegen/X86/Kernels/bitcode.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
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
    for (const char *name : kKernels) {
      const llvm::Function *f = (*module)->getFunction(std::string(setName(set)) + "_" + name);
      ASSERT_TRUE(f && !f->isDeclaration()) << setName(set).data() << " " << name;
      EXPECT_TRUE(f->hasFnAttribute(llvm::Attribute::AlwaysInline));
      EXPECT_FALSE(f->hasFnAttribute(llvm::Attribute::OptimizeNone));
      EXPECT_EQ(f->getFnAttribute("target-cpu").getValueAsString(), llvm::StringRef(targetCpu(set)));
    }
    for (const llvm::Function &f : **module)
      EXPECT_TRUE(!f.isDeclaration() || f.isIntrinsic()) << f.getName().str() << " is defined nowhere";
  }
}

// Two dispatches in one module, each with an epilogue of its own, as a compiler emits them.
constexpr const char *kDispatches = R"(
  define private void @store(ptr %sums, i64 %batch, i64 %row, i64 %column, i64 %n, ptr %bindings, ptr %constants) {
    %x = load float, ptr %sums
    %out = load ptr, ptr %bindings
    store float %x, ptr %out
    ret void
  }
  define private void @store_negative(ptr %sums, i64 %batch, i64 %row, i64 %column, i64 %n, ptr %bindings, ptr %constants) {
    %x = load float, ptr %sums
    %y = fneg float %x
    %out = load ptr, ptr %bindings
    store float %y, ptr %out
    ret void
  }
  define private i64 @dense(i64 %operand, i64 %batch, ptr %constants) {
    %o = mul i64 %batch, 12
    ret i64 %o
  }
  declare void @KERNEL_e4m3_e4m3_gemm(ptr, i64, i64, i64, ptr, i64, i64, ptr, ptr, i64, i64, i64, i64, i64, i64, i64, ptr, ptr, ptr, ptr)
  declare void @KERNEL_batched_matmul_f32(ptr, i64, i64, i64, ptr, i64, i64, i64, i64, i64, i64, i64, i64, ptr, ptr, ptr, ptr, ptr)
  define void @first(ptr %bindings, ptr %constants, i64 %begin, i64 %end, ptr %scratch) {
    %a = load ptr, ptr %bindings
    %m = load i64, ptr %constants
    call void @KERNEL_e4m3_e4m3_gemm(ptr %a, i64 5, i64 384, i64 1, ptr %a, i64 3, i64 1, ptr %a, ptr %a, i64 3, i64 1,
                                     i64 %m, i64 384, i64 384, i64 %begin, i64 %end, ptr %scratch, ptr %bindings,
                                     ptr %constants, ptr @store)
    ret void
  }
  define void @second(ptr %bindings, ptr %constants, i64 %begin, i64 %end, ptr %scratch) {
    %a = load ptr, ptr %bindings
    %m = load i64, ptr %constants
    call void @KERNEL_batched_matmul_f32(ptr %a, i64 2, i64 384, i64 1, ptr %a, i64 2, i64 1, i64 384, i64 %m, i64 %m,
                                         i64 384, i64 %begin, i64 %end, ptr %scratch, ptr %bindings, ptr %constants,
                                         ptr @store_negative, ptr @dense)
    ret void
  })";

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

TEST(Bitcode, KernelsAndEpiloguesAreInlinedWhole) {
  LLVMInitializeX86TargetInfo(), LLVMInitializeX86Target(), LLVMInitializeX86TargetMC();
  for (const FeatureSet set : {FeatureSet::Avx2, FeatureSet::Avx512, FeatureSet::Avx512Bf16}) {
    llvm::LLVMContext context;
    llvm::SMDiagnostic error;
    std::string text = kDispatches;
    for (size_t at; (at = text.find("KERNEL")) != std::string::npos;)
      text.replace(at, 6, setName(set));
    auto module = llvm::parseAssemblyString(text, error, context);
    ASSERT_TRUE(bool(module)) << error.getMessage().str();
    const llvm::Triple triple("x86_64-unknown-linux-gnu");
    std::string message;
    const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
    ASSERT_TRUE(target) << message;
    std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
        triple, targetCpu(set), targetFeatures(set), llvm::TargetOptions(), llvm::Reloc::PIC_));
    module->setTargetTriple(triple);
    module->setDataLayout(machine->createDataLayout());
    auto kernels = llvm::getLazyBitcodeModule({kernelBitcode(set), setName(set)}, context);
    ASSERT_TRUE(bool(kernels)) << llvm::toString(kernels.takeError());
    ASSERT_FALSE(llvm::Linker::linkModules(*module, std::move(*kernels), llvm::Linker::LinkOnlyNeeded));
    for (llvm::Function &f : *module) {
      if (f.isIntrinsic())
        continue;
      for (const char *name : {"target-cpu", "target-features", "tune-cpu", "min-legal-vector-width"})
        f.removeFnAttr(name);
      f.addFnAttr("target-cpu", targetCpu(set));
      f.addFnAttr("target-features", targetFeatures(set));
      f.addFnAttr("no-builtins");
    }
    llvm::internalizeModule(*module, [](const llvm::GlobalValue &v) {
      return v.getName() == "first" || v.getName() == "second";
    });
    optimize(*module, *machine);
    for (const llvm::Function &f : *module) {
      if (!f.isIntrinsic()) {
        EXPECT_TRUE(f.getName() == "first" || f.getName() == "second")
            << setName(set) << ": " << f.getName().str();
      }
      for (const llvm::Instruction &i : llvm::instructions(f))
        if (const auto *call = llvm::dyn_cast<llvm::CallBase>(&i)) {
          const llvm::Function *callee = call->getCalledFunction();
          EXPECT_TRUE(call->isInlineAsm() || (callee && callee->isIntrinsic()))
              << setName(set) << ": a call remains in " << f.getName().str();
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
