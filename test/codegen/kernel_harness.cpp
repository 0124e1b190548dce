#include "test/codegen/kernel_harness.h"
#include "compiler/Codegen/Common/LowerKernels.h"
#include "compiler/Codegen/X86/Generic/HostKernel.h"
#include "compiler/Codegen/X86/Lower/Lower.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <chrono>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;

namespace quaver::test {

CompiledKernel compileKernel(const std::string &text, const std::map<std::string, int64_t> &dims,
                             const std::string &targetName) {
  CompiledKernel out;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  codegen::loadKernelDialects(context);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
    out.error += d.str() + "\n";
    return success();
  });
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return out;
  auto func = *module->getOps<func::FuncOp>().begin();
  graph::ShapeAnalysis shapes(*module);
  if (failed(shapes.bindArguments(func)) || failed(shapes.run(func)))
    return out;
  plan_ir::DispatchOp dispatch;
  func.walk([&](plan_ir::DispatchOp d) { dispatch = d; });
  auto start = std::chrono::steady_clock::now();
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(UnknownLoc::get(&context));
  auto target = codegen::findTarget(targetName);
  if (failed(codegen::emitHostKernel(dispatch, shapes, *target, *kernels, "kernel")))
    return out;
  if (getenv("QUAVER_DUMP_KERNEL"))
    kernels->dump();
  auto elf = codegen::compileToElf(*kernels, *target);
  if (failed(elf))
    return out;
  out.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  auto valueOf = [&](StringRef name) -> std::optional<int64_t> {
    auto it = dims.find(name.str());
    return it == dims.end() ? std::nullopt : std::optional<int64_t>(it->second);
  };
  auto evaluate = [&](StringRef e) { return graph::DimExpr::parse(e)->evaluate(valueOf).value(); };
  ArrayAttr constants = dispatch.getConstantsAttr();
  for (Attribute a : constants)
    out.constants.push_back(evaluate(cast<StringAttr>(a)));
  out.workgroups = evaluate(*dispatch.getWorkgroups());
  out.scratch = evaluate(*dispatch.getScratch());
  for (plan_ir::Packing &p : plan_ir::packingsOf(dispatch))
    out.packings.push_back(p);
  out.description = dispatch.getDescription()->str();
  int fd = memfd_create("kernel", 0); // stays open: dlopen compares names
  if (write(fd, elf->data(), elf->size()) != ssize_t(elf->size()))
    out.error = "memfd";
  void *library = dlopen(("/proc/self/fd/" + std::to_string(fd)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    out.error = dlerror();
  else
    out.run = CompiledKernel::Function(dlsym(library, "kernel"));
  return out;
}

void runKernel(const CompiledKernel &kernel, const std::vector<void *> &bindings, int64_t piece) {
  std::vector<char> scratch(kernel.scratch + 64);
  void *aligned = reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
  for (int64_t i = 0; i < kernel.workgroups; i += piece)
    kernel.run(bindings.data(), kernel.constants.data(), i, std::min(kernel.workgroups, i + piece), aligned);
}

} // namespace quaver::test
