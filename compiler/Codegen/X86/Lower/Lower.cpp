#include "compiler/Codegen/X86/Lower/Lower.h"
#include "compiler/Codegen/Common/LowerKernels.h"
#include "compiler/Codegen/X86/Lower/Object.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include <chrono>

using namespace mlir;

namespace quaver::codegen {

FailureOr<std::vector<char>> compileToElf(ModuleOp kernels, const Target &target, LowerTimes *times) {
  LowerTimes local;
  LowerTimes &t = times ? *times : local;
  auto last = std::chrono::steady_clock::now();
  auto lap = [&](double &ms) {
    auto now = std::chrono::steady_clock::now();
    ms += std::chrono::duration<double, std::milli>(now - last).count();
    last = now;
  };
  if (failed(lowerToLlvmDialect(kernels)))
    return kernels.emitError("the kernels cannot be lowered to LLVM IR"), failure();
  llvm::LLVMContext context;
  auto ir = translateModuleToLLVMIR(kernels, context, "kernels");
  if (!ir)
    return kernels.emitError("the kernels cannot be translated to LLVM IR"), failure();
  lap(t.mlir);
  std::string error;
  ObjectEmitter emitter(target, error);
  if (!error.empty())
    return kernels.emitError(error), failure();
  if (!emitter.linkManifestKernels(*ir, error))
    return kernels.emitError(error), failure();
  lap(t.link);
  emitter.optimize(*ir);
  lap(t.optimize);
  llvm::SmallString<0> object;
  if (!emitter.emit(*ir, object, error))
    return kernels.emitError(error), failure();
  lap(t.emit);
  std::vector<char> elf;
  if (!linkShared({object}, elf, error))
    return kernels.emitError(error), failure();
  lap(t.lld);
  return elf;
}

} // namespace quaver::codegen
