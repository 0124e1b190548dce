// Every launch of the small models: its kernel, on what the interpreter computed, against what the
// interpreter gives.
#include "compiler/Codegen/Common/LowerKernels.h"
#include "compiler/Codegen/X86/Generic/HostKernel.h"
#include "compiler/Codegen/X86/Generic/PackWeight.h"
#include "compiler/Codegen/X86/Lower/Lower.h"
#include "compiler/Dispatch/FormDispatches.h"
#include "compiler/Interpreter/Interpreter.h"
#include "test/compiler/dispatch/model_inputs.h"
#include <cmath>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace quaver;
using interpreter::Tensor;

namespace {

struct Difference {
  double worst = 0; // |got - want| / (1 + |want|), or 1 for a NaN or an integer that differs
  int64_t at = -1;
};

Difference compare(const Tensor &got, const Tensor &want) {
  Difference d;
  for (int64_t i = 0; i < want.size(); ++i) {
    double g = got.number(i), w = want.number(i), error = 0;
    if (std::isnan(g) || std::isnan(w) || std::isinf(w) || std::isinf(g))
      error = (std::isnan(g) && std::isnan(w)) || g == w ? 0 : 1;
    else
      error = is_float(want.type()) ? std::abs(g - w) / (1 + std::abs(w)) : (g == w ? 0 : 1);
    if (error > d.worst)
      d.worst = error, d.at = i;
  }
  return d;
}

class KernelsOfModels : public ::testing::TestWithParam<const char *> {};

TEST_P(KernelsOfModels, AgreeWithTheInterpreter) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  codegen::loadKernelDialects(context);
  std::string errors;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
    errors += d.str() + "\n";
    return success();
  });
  auto model = test::importAndDecompose(context, GetParam());
  ASSERT_TRUE(model.ok()) << model.status().message() << errors;
  ModuleOp module = *model->module;
  auto func = *module.getOps<func::FuncOp>().begin();
  SmallVector<Tensor> inputs = test::inputsOf(func);
  graph::ShapeAnalysis before(module);
  ASSERT_TRUE(succeeded(before.bindArguments(func)) && succeeded(before.run(func))) << errors;
  ASSERT_TRUE(succeeded(dispatch::formDispatches(func, before))) << errors;
  graph::ShapeAnalysis shapes(module);
  ASSERT_TRUE(succeeded(shapes.bindArguments(func)) && succeeded(shapes.run(func))) << errors;

  auto target = codegen::findTarget("x86-64-v3");
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(UnknownLoc::get(&context));
  int number = 0;
  SmallVector<plan_ir::DispatchOp> all;
  func.walk([&](plan_ir::DispatchOp d) { all.push_back(d); });
  for (plan_ir::DispatchOp d : all) {
    std::string text;
    llvm::raw_string_ostream(text) << d;
    ASSERT_TRUE(
        succeeded(codegen::emitHostKernel(d, shapes, *target, *kernels, "k" + std::to_string(number++))))
        << errors << text;
  }
  auto elf = codegen::compileToElf(*kernels, *target);
  ASSERT_TRUE(succeeded(elf)) << errors;
  int fd = memfd_create("kernels", 0); // stays open: dlopen compares names
  ASSERT_EQ(write(fd, elf->data(), elf->size()), ssize_t(elf->size()));
  void *library = dlopen(("/proc/self/fd/" + std::to_string(fd)).c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(library) << dlerror();

  interpreter::Interpreter judge(module, model->weights);
  int launches = 0;
  // What the run reads back: counts, and elements of tensors that lie in buffers.
  std::map<std::string, int64_t> readBack;
  auto bind = [&](Value v, const Tensor &t) {
    for (const graph::DataDependentDim &d : shapes.dataDependent()) {
      if (d.tensor != v)
        continue;
      Operation *def = v.getDefiningOp();
      auto dispatch = def ? dyn_cast<plan_ir::DispatchOp>(def->getParentOp()) : plan_ir::DispatchOp();
      bool isStored =
          !dispatch || llvm::is_contained(dispatch.getBody().front().getTerminator()->getOperands(), v);
      if (d.isCount)
        readBack[d.symbol] =
            t.dim(isa<graph::NonZeroOp>(def) ? 1 : cast<graph::UniqueOp>(def).getAxis().value_or(0));
      else if (isStored)
        readBack[d.symbol] = t.integer(d.element);
    }
  };
  for (auto [arg, t] : llvm::zip(func.getArguments(), inputs))
    bind(arg, t);
  judge.setHook([&](Operation *op, ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results) {
    auto d = dyn_cast<plan_ir::DispatchOp>(op);
    if (!d) {
      for (auto [v, t] : llvm::zip(op->getResults(), results))
        bind(v, t);
      return;
    }
    ++launches;
    auto valueOf = [&](StringRef text) -> int64_t {
      auto v = graph::DimExpr::parse(text)->evaluate([&](StringRef s) -> std::optional<int64_t> {
        auto it = readBack.find(s.str());
        return it != readBack.end() ? std::optional(it->second) : judge.dimension(s);
      });
      EXPECT_TRUE(v) << text.str() << " is not known at " << d.getLabel()->str();
      return v.value_or(0);
    };
    SmallVector<void *> bindings;
    SmallVector<Tensor> outputs;
    SmallVector<std::vector<char>> rooms; // with a guard behind each
    for (const Tensor &t : operands)
      bindings.push_back(const_cast<char *>(t.data()));
    std::vector<std::vector<char>> packed;
    for (const plan_ir::Packing &p : plan_ir::packingsOf(d)) {
      auto bytes = codegen::packWeight(p.storage, p.parameters, operands[p.operand].span());
      ASSERT_TRUE(bytes) << p.storage;
      packed.push_back(std::move(*bytes));
      bindings[p.operand] = packed.back().data();
    }
    for (const Tensor &t : results) {
      rooms.emplace_back(t.bytes() + 64, char(0x7B));
      outputs.push_back(Tensor::borrow(t.type(), t.shape(), rooms.back().data()));
      bindings.push_back(rooms.back().data());
    }
    std::vector<int64_t> constants;
    for (Attribute c : d.getConstantsAttr())
      constants.push_back(valueOf(cast<StringAttr>(c).getValue()));
    std::vector<char> scratch(valueOf(*d.getScratch()) + 128, char(0x7B));
    int64_t scratchBytes = valueOf(*d.getScratch());
    void *aligned = reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
    auto kernel = reinterpret_cast<void (*)(void *const *, const int64_t *, int64_t, int64_t, void *)>(
        dlsym(library, d.getKernel()->str().c_str()));
    ASSERT_TRUE(kernel) << d.getKernel()->str();
    int64_t workgroups = valueOf(*d.getWorkgroups()), half = workgroups / 2;
    kernel(bindings.data(), constants.data(), half, workgroups, aligned);
    kernel(bindings.data(), constants.data(), 0, half, aligned);
    EXPECT_EQ(static_cast<char *>(aligned)[scratchBytes], char(0x7B))
        << "writes behind the scratch of " << d.getLabel()->str();
    for (auto [v, t] : llvm::zip(d.getResults(), results))
      bind(v, t);
    for (auto [i, want] : llvm::enumerate(results)) {
      for (int64_t g = 0; g < 64; ++g)
        ASSERT_EQ(rooms[i][want.bytes() + g], char(0x7B))
            << "writes behind result " << i << " of " << d.getLabel()->str() << ", " << want.typeString()
            << ", " << d.getWorkgroups()->str();
      Difference worst = compare(outputs[i], want);
      double bound = is_float(want.type()) ? (want.elementBytes() >= 4   ? 2e-5
                                              : want.elementBytes() == 2 ? 1e-2
                                                                         : 0.15)
                                           : 0;
      if (worst.worst > bound) {
        std::string text;
        llvm::raw_string_ostream(text) << d;
        ADD_FAILURE() << "result " << i << " of " << want.typeString() << " differs by " << worst.worst
                      << " at " << worst.at << ": " << outputs[i].number(worst.at) << ", not "
                      << want.number(worst.at) << "\n"
                      << text;
      }
    }
  });
  ASSERT_TRUE(succeeded(judge.run("", inputs))) << errors;
  EXPECT_GT(launches, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, KernelsOfModels, ::testing::ValuesIn(test::kModels),
                         [](auto &info) { return test::identifierOf(info.param); });

} // namespace
