// A model computes the same bits before and after its dispatches are formed, and fusing saves launches.
#include "compiler/Dispatch/FormDispatches.h"
#include "compiler/Interpreter/Interpreter.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include "mlir/IR/Verifier.h"
#include "test/compiler/dispatch/model_inputs.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace quaver;
using interpreter::Tensor;

namespace {

class FormDispatches : public ::testing::TestWithParam<const char *> {};

TEST_P(FormDispatches, KeepsEveryBit) {
  DialectRegistry registry;
  registry.insert<graph::GraphDialect, plan_ir::PlanDialect, func::FuncDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
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
  auto want = interpreter::Interpreter(module, model->weights).run("", inputs);
  ASSERT_TRUE(succeeded(want)) << errors;

  int launches[2];
  for (bool fuse : {false, true}) {
    OwningOpRef<ModuleOp> formed = module.clone();
    auto f = *formed->getOps<func::FuncOp>().begin();
    graph::ShapeAnalysis shapes(*formed);
    ASSERT_TRUE(succeeded(shapes.bindArguments(f)) && succeeded(shapes.run(f))) << errors;
    dispatch::FormOptions options;
    options.fuse = fuse;
    ASSERT_TRUE(succeeded(dispatch::formDispatches(f, shapes, options))) << errors;
    ASSERT_TRUE(succeeded(verify(*formed))) << errors;
    launches[fuse] = 0;
    f.walk([&](plan_ir::DispatchOp) { ++launches[fuse]; });
    auto got = interpreter::Interpreter(*formed, model->weights).run("", inputs);
    ASSERT_TRUE(succeeded(got)) << errors;
    ASSERT_EQ(got->size(), want->size());
    for (auto [g, w] : llvm::zip(*got, *want)) {
      ASSERT_EQ(g.typeString(), w.typeString());
      EXPECT_TRUE(g.span() == w.span()) << "fuse " << fuse;
    }
  }
  EXPECT_LT(launches[1], launches[0]);
  RecordProperty("alone", launches[0]);
  RecordProperty("fused", launches[1]);
}

INSTANTIATE_TEST_SUITE_P(Models, FormDispatches, ::testing::ValuesIn(test::kModels),
                         [](auto &info) { return test::identifierOf(info.param); });

} // namespace
