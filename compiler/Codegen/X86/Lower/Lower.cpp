#include "compiler/Codegen/X86/Lower/Lower.h"
#include "compiler/Codegen/X86/Lower/Object.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include <chrono>

using namespace mlir;

namespace quaver::codegen {

void loadKernelDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<func::FuncDialect, scf::SCFDialect, vector::VectorDialect, arith::ArithDialect,
                      math::MathDialect, LLVM::LLVMDialect, plan_ir::PlanDialect, graph::GraphDialect>();
}

static LogicalResult lowerToLlvmDialect(ModuleOp module) {
  PassManager pm(module.getContext());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  return pm.run(module);
}

FailureOr<std::vector<char>> compileToElf(ModuleOp kernels, const HostTarget &target, LowerTimes *times) {
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
