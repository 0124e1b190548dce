#include "compiler/Codegen/NVPTX/Lower/Lower.h"
#include "compiler/Codegen/Common/KernelFunction.h"
#include "compiler/Codegen/Common/LowerKernels.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;

namespace quaver::codegen {

static std::unique_ptr<llvm::TargetMachine> machineFor(const Target &target, std::string &error) {
  LLVMInitializeNVPTXTargetInfo(), LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC(), LLVMInitializeNVPTXAsmPrinter();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(
      found->createTargetMachine(triple, target.cpu, target.features, llvm::TargetOptions(), std::nullopt,
                                 std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

// LLVM takes a call that nobody defines for a library's function; the GPU has no library.
static std::string undefinedFunctions(const llvm::Module &module) {
  std::string names;
  for (const llvm::Function &f : module)
    if (f.isDeclaration() && !f.isIntrinsic())
      names += (names.empty() ? "" : ", ") + f.getName().str();
  return names;
}

FailureOr<std::string> compileToPtx(ModuleOp kernels, const Target &target) {
  if (failed(lowerToLlvmDialect(kernels)))
    return kernels.emitError("the kernels cannot be lowered to LLVM IR"), failure();
  Builder b(kernels.getContext());
  for (auto f : kernels.getOps<LLVM::LLVMFuncOp>())
    if (f.isPublic() && !f.isExternal()) {
      f->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
      f->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                 b.getDenseI32ArrayAttr({KernelFunction::kBlockThreads, 1, 1}));
    }
  llvm::LLVMContext context;
  auto ir = translateModuleToLLVMIR(kernels, context, "kernels");
  if (!ir)
    return kernels.emitError("the kernels cannot be translated to LLVM IR"), failure();
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = machineFor(target, error);
  if (!machine)
    return kernels.emitError(error), failure();
  ir->setTargetTriple(machine->getTargetTriple());
  ir->setDataLayout(machine->createDataLayout());
  optimizeKernels(*ir, *machine);
  if (std::string names = undefinedFunctions(*ir); !names.empty())
    return kernels.emitError("GPU kernels call " + names + ", which no GPU library of ours has"), failure();
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return kernels.emitError("LLVM cannot write PTX for " + target.name), failure();
  codegen.run(*ir);
  // Functions that LLVM itself calls for what an instruction cannot do.
  if (size_t at = StringRef(text).find(".extern .func"); at != StringRef::npos)
    return kernels.emitError("PTX needs a library: " +
                             StringRef(text).substr(at).take_until([](char c) { return c == ';'; })),
           failure();
  return text.str().str();
}

} // namespace quaver::codegen
