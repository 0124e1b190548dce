#include "test/codegen/loops/loop_harness.h"
#include "compiler/Codegen/Common/Loops/Loops.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;

namespace quaver::test {

static LogicalResult lower(ModuleOp module) {
  PassManager pm(module.getContext());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  return pm.run(module);
}

LoopRun runLoopKernel(const std::string &arguments, const std::string &region,
                      const std::map<std::string, int64_t> &symbols, const std::vector<Bytes> &inputs,
                      const std::vector<size_t> &outputBytes) {
  static const bool once = (llvm::InitializeNativeTarget(), llvm::InitializeNativeTargetAsmPrinter(), true);
  (void)once;
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  registry.insert<graph::GraphDialect, plan_ir::PlanDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  LoopRun run;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
    run.error += d.str() + "\n";
    return success();
  });
  auto fail = [&](const std::string &why) {
    run.error += why;
    return run;
  };
  std::string dims;
  for (auto &[name, value] : symbols)
    dims += "graph.dim @" + name + "\n";
  auto module = parseSourceString<ModuleOp>(
      dims + "func.func @main(" + arguments + ") {\n" + region + "\nreturn\n}\n", &context);
  if (!module)
    return fail("the test's text does not parse");
  auto func = *module->getOps<func::FuncOp>().begin();
  graph::ShapeAnalysis shapes(*module);
  if (failed(shapes.bindArguments(func)) || failed(shapes.run(func)))
    return fail("no shapes");
  auto dispatch = *func.getOps<plan_ir::DispatchOp>().begin();
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(UnknownLoc::get(&context));
  codegen::Target target;
  if (failed(codegen::emitLoopKernel(dispatch, shapes, target, *kernels, "k")))
    return fail("not emitted");
  if (failed(verify(*kernels)) || failed(lower(*kernels)))
    return fail("not lowered");
  auto engine = ExecutionEngine::create(*kernels, {});
  if (!engine)
    return fail(llvm::toString(engine.takeError()));
  auto symbol = (*engine)->lookup("k");
  if (!symbol)
    return fail(llvm::toString(symbol.takeError()));
  auto *kernel =
      reinterpret_cast<void (*)(void *const *, const int64_t *, int64_t, int64_t, void *)>(*symbol);

  auto valueOf = [&](llvm::StringRef text) {
    return *graph::DimExpr::parse(text)->evaluate([&](llvm::StringRef name) -> std::optional<int64_t> {
      auto it = symbols.find(name.str());
      return it == symbols.end() ? std::nullopt : std::optional<int64_t>(it->second);
    });
  };
  std::vector<int64_t> constants;
  for (Attribute c : dispatch.getConstantsAttr())
    constants.push_back(valueOf(cast<StringAttr>(c).getValue()));
  std::vector<Bytes> buffers(inputs);
  for (size_t n : outputBytes)
    buffers.emplace_back(n, char(0xA5));
  std::vector<void *> bindings;
  for (Bytes &b : buffers)
    bindings.push_back(b.data());
  for (int64_t w = valueOf(*dispatch.getWorkgroups()); w-- > 0;) {
    std::vector<char> scratch(valueOf(*dispatch.getScratch()), char(0xC3));
    kernel(bindings.data(), constants.data(), w, w + 1, scratch.data());
  }
  run.outputs.assign(buffers.begin() + inputs.size(), buffers.end());
  return run;
}

} // namespace quaver::test
