#include "compiler/Codegen/X86/Lower/Object.h"
#include "compiler/Codegen/Common/LowerKernels.h"
#include "compiler/Codegen/X86/Heuristics/MatmulHeuristics.h"
#include "compiler/Codegen/X86/Kernels/bitcode.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/IPO/Internalize.h"

namespace quaver::codegen {

ObjectEmitter::ObjectEmitter(const Target &target, std::string &error) : target(target) {
  LLVMInitializeX86TargetInfo(), LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC(), LLVMInitializeX86AsmPrinter();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return;
  llvm::TargetOptions options;
  options.NoTrappingFPMath = true;
  machine.reset(found->createTargetMachine(triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
                                           llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
}

// The inliner wants the caller's features, tuning and no-builtins to include the callee's; always_inline does
// not check and would compile a kernel for the caller's features. So every function gets the same.
void ObjectEmitter::unifyAttributes(llvm::Module &module) {
  for (llvm::Function &f : module) {
    if (f.isIntrinsic())
      continue;
    for (const char *name :
         {"target-cpu", "target-features", "tune-cpu", "min-legal-vector-width", "prefer-vector-width"})
      f.removeFnAttr(name);
    f.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      f.addFnAttr("target-features", target.features);
    f.addFnAttr("prefer-vector-width", std::to_string(target.vectorBits));
    f.addFnAttr("no-builtins");
    f.addFnAttr(llvm::Attribute::NoUnwind);
    f.setUWTableKind(llvm::UWTableKind::Async); // .eh_frame, for perf and debuggers
  }
}

bool ObjectEmitter::linkManifestKernels(llvm::Module &module, std::string &error) {
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  llvm::StringSet<> exported;
  bool calls = false;
  for (llvm::Function &f : module) {
    if (!f.isDeclaration() && f.hasExternalLinkage())
      exported.insert(f.getName());
    calls |= f.isDeclaration() && !f.isIntrinsic();
  }
  if (calls) {
    auto set = x86::featureSetOfTarget(target.name);
    if (!set)
      return error = "no kernels are built for the target " + target.name, false;
    std::string_view bytes = x86::kernelBitcode(*set);
    auto kernels = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef({bytes.data(), bytes.size()}, "kernels"),
                                              module.getContext());
    if (!kernels)
      return error = "the kernel bitcode cannot be read: " + llvm::toString(kernels.takeError()), false;
    if (llvm::Linker::linkModules(module, std::move(*kernels), llvm::Linker::LinkOnlyNeeded))
      return error = "the kernel bitcode cannot be linked", false;
  }
  unifyAttributes(module);
  llvm::internalizeModule(module, [&](const llvm::GlobalValue &v) { return exported.contains(v.getName()); });
  llvm::raw_string_ostream message(error);
  return !llvm::verifyModule(module, &message);
}

void ObjectEmitter::optimize(llvm::Module &module) { optimizeKernels(module, *machine); }

bool ObjectEmitter::emit(llvm::Module &module, llvm::SmallVectorImpl<char> &object, std::string &error) {
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return error = "LLVM cannot write objects for " + target.name, false;
  codegen.run(module);
  return true;
}

} // namespace quaver::codegen
