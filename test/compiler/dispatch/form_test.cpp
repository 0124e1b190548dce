// A model computes the same bits before and after its dispatches are formed, and fusing saves launches.
#include "compiler/Dispatch/FormDispatches.h"
#include "compiler/Import/Onnx/ImportOnnx.h"
#include "compiler/Interpreter/Interpreter.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include "mlir/IR/Verifier.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace quaver;
using interpreter::Tensor;

namespace {

constexpr const char *kModels[] = {"bert-tiny",
                                   "bert-tiny-legacy-opset13",
                                   "bert-tiny-fp8-qdq",
                                   "cnn-tiny-unfolded",
                                   "gpt2-tiny",
                                   "llama-tiny",
                                   "llama-tiny-opset23",
                                   "llama-tiny-decode",
                                   "mlp-train",
                                   "attention24-cache-hand",
                                   "mixtral-tiny-grouped",
                                   "deepseek-v3-tiny-batched",
                                   "gpt-tiny-train",
                                   "mixtral-tiny-loop"};

LogicalResult decompose(ModuleOp module) {
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<graph::DecomposeInterface> composites;
    module.walk([&](graph::DecomposeInterface op) { composites.push_back(op); });
    for (graph::DecomposeInterface op : composites) {
      OpBuilder b(op);
      auto values = op.decompose(b);
      if (failed(values))
        return failure();
      op->replaceAllUsesWith(*values);
      op->erase();
      changed = true;
    }
  }
  return success();
}

// Small sizes for symbols; ids below 5, masks of ones, floats in [-1, 1).
SmallVector<Tensor> inputsOf(func::FuncOp func) {
  std::map<std::string, int64_t> sizes;
  SmallVector<Tensor> inputs;
  uint32_t state = 1;
  auto next = [&] { return state = state * 1664525u + 1013904223u; };
  for (BlockArgument arg : func.getArguments()) {
    auto type = cast<RankedTensorType>(arg.getType());
    auto names = func.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(), "graph.dims");
    auto name = func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "graph.name");
    interpreter::Shape shape;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!type.isDynamicDim(d)) {
        shape.push_back(type.getDimSize(d));
        continue;
      }
      auto e = graph::DimExpr::parse(cast<StringAttr>(names[d]).getValue());
      shape.push_back(*e->evaluate([&](llvm::StringRef symbol) -> std::optional<int64_t> {
        return sizes.try_emplace(symbol.str(), 2 + int64_t(sizes.size())).first->second;
      }));
    }
    Tensor t = Tensor::make(interpreter::elementTypeOf(type.getElementType()), shape);
    bool isMask = name && name.getValue().contains("mask");
    for (int64_t i = 0; i < t.size(); ++i) {
      double v = isMask ? 1 : double(next() >> 8) / (1 << 23) - 1;
      if (t.type() == ElementType::F32)
        t.mutableAs<float>()[i] = float(v);
      else if (t.type() == ElementType::I64)
        t.mutableAs<int64_t>()[i] = isMask ? 1 : int64_t(next() >> 8) % 5;
      else if (t.type() == ElementType::BOOL)
        t.mutableAs<uint8_t>()[i] = 1;
    }
    inputs.push_back(t);
  }
  return inputs;
}

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
  auto model = import::importOnnx(context, std::string(QUAVER_TEST_MODELS) + "/" + GetParam() + ".onnx");
  ASSERT_TRUE(model.ok()) << model.status().message();
  ModuleOp module = *model->module;
  ASSERT_TRUE(succeeded(decompose(module))) << errors;
  auto func = *module.getOps<func::FuncOp>().begin();
  SmallVector<Tensor> inputs = inputsOf(func);
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

INSTANTIATE_TEST_SUITE_P(Models, FormDispatches, ::testing::ValuesIn(kModels), [](auto &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

} // namespace
