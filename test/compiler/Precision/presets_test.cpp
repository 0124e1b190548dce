// Every preset on whole models: what each pass may change of the numbers, and what was decided.
#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Precision/Passes.h"
#include "compiler/Precision/Precision.h"
#include "dialects/Graph/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "test/compiler/Precision/run_text.h"
#include "test/compiler/dispatch/model_inputs.h"
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>

using namespace mlir;
using namespace quaver;
using interpreter::Tensor;

namespace {

struct Loaded {
  Loaded(const char *name)
      : context(MLIRContext::Threading::DISABLED), handler(&context, [this](Diagnostic &d) {
          errors += d.str() + "\n";
          return success();
        }) {
    context.loadDialect<graph::GraphDialect, scale::ScaleDialect, func::FuncDialect>();
    auto imported = import::importOnnx(context, test::pathOf(name));
    if (imported.ok())
      model = std::move(*imported);
    else
      errors = imported.status().message();
  }
  SmallVector<Tensor> run() {
    auto func = *model.module->getOps<func::FuncOp>().begin();
    auto out = interpreter::Interpreter(*model.module, model.weights).run("", test::inputsOf(func));
    return succeeded(out) ? *out : SmallVector<Tensor>();
  }
  bool apply(std::unique_ptr<Pass> pass) {
    PassManager pm(&context);
    if (pass->getOpName() == func::FuncOp::getOperationName())
      pm.nest<func::FuncOp>().addPass(std::move(pass));
    else
      pm.addPass(std::move(pass));
    return succeeded(pm.run(*model.module));
  }

  std::string errors;
  MLIRContext context;
  ScopedDiagnosticHandler handler;
  import::ImportedModel model;
};

// Signal to noise of all float outputs together.
double decibels(ArrayRef<Tensor> got, ArrayRef<Tensor> want) {
  double signal = 0, noise = 0;
  for (auto [g, w] : llvm::zip_equal(got, want)) {
    if (w.type() != ElementType::F32)
      continue;
    EXPECT_EQ(g.typeString(), w.typeString());
    for (int64_t i = 0; i < w.size(); ++i) {
      signal += w.number(i) * w.number(i);
      noise += (g.number(i) - w.number(i)) * (g.number(i) - w.number(i));
    }
  }
  return 10 * std::log10(signal / std::max(noise, 1e-300));
}

bool equalBits(ArrayRef<Tensor> a, ArrayRef<Tensor> b) {
  return a.size() == b.size() &&
         llvm::all_of(llvm::zip(a, b), [](auto p) { return std::get<0>(p).span() == std::get<1>(p).span(); });
}

struct Case {
  const char *model, *preset;
  double decibels; // against FP32
};
void PrintTo(const Case &c, std::ostream *os) { *os << c.model << " " << c.preset; }

class Presets : public ::testing::TestWithParam<Case> {};

TEST_P(Presets, EachPassKeepsWhatItMust) {
  const Case &c = GetParam();
  Loaded m(c.model);
  ASSERT_TRUE(m.model.module) << m.errors;
  auto asInFile = m.run();
  ASSERT_FALSE(asInFile.empty()) << m.errors;
  ASSERT_TRUE(m.apply(graph::createFoldShapesPass())) << m.errors;
  // An FP32 model has nothing to widen, and deciding changes nothing.
  ASSERT_TRUE(m.apply(precision::createWidenFloatsPass())) << m.errors;
  precision::AssignPrecisionPassOptions options;
  options.policyName = c.preset;
  ASSERT_TRUE(m.apply(precision::createAssignPrecisionPass(options))) << m.errors;
  EXPECT_TRUE(equalBits(m.run(), asInFile));
  // Obeying rounds.
  ASSERT_TRUE(m.apply(precision::createMaterializePrecisionPass())) << m.errors;
  ASSERT_TRUE(m.apply(precision::createVerifyScaleBorderPass())) << m.errors;
  auto scaled = m.run();
  ASSERT_FALSE(scaled.empty()) << m.errors;
  EXPECT_GE(decibels(scaled, asInFile), c.decibels);
  // Exploding applies each scale to its element instead of to a sum of 128. A value on the border between two
  // codes may then fall on the other side, so the bound is one of noise.
  ASSERT_TRUE(m.apply(precision::createExplodeScaledTensorsPass())) << m.errors;
  ASSERT_TRUE(m.apply(precision::createVerifyGraphBorderPass())) << m.errors;
  auto plain = m.run();
  ASSERT_FALSE(plain.empty()) << m.errors;
  if (std::string(c.preset) == "bf16")
    EXPECT_TRUE(equalBits(plain, scaled));
  EXPECT_GE(decibels(plain, scaled), c.decibels + 10);
}

INSTANTIATE_TEST_SUITE_P(
    Models, Presets,
    ::testing::Values(Case{"bert-tiny", "bf16", 40}, Case{"bert-tiny", "fp8", 20},
                      Case{"bert-tiny", "fp8-weights", 23}, Case{"gpt2-tiny", "bf16", 40},
                      Case{"gpt2-tiny", "fp8", 20}, Case{"llama-tiny", "bf16", 40},
                      Case{"llama-tiny", "fp8", 18}, Case{"llama-tiny-opset23", "fp8-weights", 20},
                      Case{"cnn-tiny-unfolded", "bf16", 40}, Case{"cnn-tiny-unfolded", "fp8", 20},
                      Case{"mixtral-tiny-loop", "fp8", 8}),
    [](auto &info) {
      return test::identifierOf(info.param.model) + "_" + test::identifierOf(info.param.preset);
    });

// All small models go through all presets, and leave nothing of `scale`.
class EveryModel : public ::testing::TestWithParam<const char *> {};
TEST_P(EveryModel, TakesEveryPreset) {
  for (const std::string &preset : precision::presetNames()) {
    Loaded m(GetParam());
    ASSERT_TRUE(m.model.module) << m.errors;
    std::vector<precision::Decision> decisions;
    ASSERT_TRUE(succeeded(precision::apply(*m.model.module, preset, false, &decisions)))
        << preset << ": " << m.errors;
    for (const precision::Decision &d : decisions) {
      EXPECT_FALSE(d.reason.empty() || d.op.empty() || d.kind.empty() || d.out.empty())
          << preset << " " << d.node;
      EXPECT_EQ(d.recipe.empty(), d.lhs[0] != 'e' && d.rhs[0] != 'e') << preset << " " << d.node;
    }
    EXPECT_FALSE(m.run().empty()) << preset << ": " << m.errors;
  }
}
INSTANTIATE_TEST_SUITE_P(Models, EveryModel, ::testing::ValuesIn(test::kModels),
                         [](auto &info) { return test::identifierOf(info.param); });

// Kinds are found in graphs as different exporters write them.
struct KindCase {
  const char *model, *counts;
};
void PrintTo(const KindCase &c, std::ostream *os) { *os << c.model; }
class LayerKinds : public ::testing::TestWithParam<KindCase> {};
TEST_P(LayerKinds, AreFoundByStructure) {
  Loaded m(GetParam().model);
  ASSERT_TRUE(m.model.module) << m.errors;
  std::vector<precision::Decision> decisions;
  ASSERT_TRUE(succeeded(precision::apply(*m.model.module, "deepseek-671b", false, &decisions))) << m.errors;
  std::map<std::string, int> counts;
  for (const precision::Decision &d : decisions)
    if (d.kind != "norm")
      ++counts[d.kind];
  std::string text;
  for (auto &[kind, n] : counts)
    text += (text.empty() ? "" : ", ") + kind + " " + std::to_string(n);
  EXPECT_EQ(text, GetParam().counts);
}
INSTANTIATE_TEST_SUITE_P(
    Models, LayerKinds,
    ::testing::Values(
        KindCase{
            "bert-tiny",
            "attention_output 2, attention_product 4, attention_qkv 6, embedding 2, ffn 4, output_head 1"},
        KindCase{
            "gpt2-tiny",
            "attention_output 2, attention_product 4, attention_qkv 2, embedding 2, ffn 4, output_head 1"},
        KindCase{
            "llama-tiny",
            "attention_output 2, attention_product 4, attention_qkv 6, embedding 1, ffn 6, output_head 1"},
        KindCase{
            "llama-tiny-decode",
            "attention_output 2, attention_product 4, attention_qkv 6, embedding 1, ffn 6, output_head 1"},
        KindCase{"cnn-tiny-unfolded", "conv 7, output_head 1"},
        KindCase{"mixtral-tiny-loop", "attention_output 2, attention_product 4, attention_qkv 6, embedding "
                                      "1, expert 32, output_head 1, router 2"},
        KindCase{"mixtral-tiny-grouped", "attention_output 2, attention_product 4, attention_qkv 6, "
                                         "embedding 1, expert 32, output_head 1, router 2"},
        KindCase{"deepseek-v3-tiny-batched", "attention_output 3, attention_product 6, attention_qkv 12, "
                                             "embedding 1, expert 4, ffn 9, output_head 1, router 2"}),
    [](auto &info) { return test::identifierOf(info.param.model); });

TEST(Precision, ARuleThatSelectsNothingIsAnError) {
  const char *text = R"(
func.func @main(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.matmul %x, %y : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
})";
  auto errorOf = [&](const char *policy) {
    std::string path = testing::TempDir() + "idle.yaml";
    std::ofstream(path) << policy;
    test::TextRun run(text);
    EXPECT_FALSE(succeeded(precision::apply(*run.module, path)));
    return run.errors;
  };
  std::string idle = errorOf("rules:\n  - match: 'no_such_node_*'\n    lhs: bf16\n");
  EXPECT_NE(idle.find("idle.yaml:2: rules: this rule selects no op of the model (of 1)"), std::string::npos)
      << idle;
  std::string late = errorOf("rules:\n  - lhs: bf16\n  - kind: product\n    lhs: fp16\n");
  EXPECT_NE(
      late.find("idle.yaml:3: rules: the 1 ops that this rule selects are all taken by rules before it"),
      std::string::npos)
      << late;
}

TEST(Precision, StrictRefusesFallbacks) {
  const char *text = R"(
graph.weight @w : tensor<8x64x3x3xf32> {source_name = "w"}
func.func @main(%x: tensor<1x8x8x8xf32>) -> tensor<1x64x10x10xf32> {
  %w = graph.get_weight @w : tensor<8x64x3x3xf32>
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>,
      output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<8x64x3x3xf32>) -> tensor<1x64x10x10xf32>
  return %0 : tensor<1x64x10x10xf32>
})";
  test::TextRun lax(text), strict(text);
  std::vector<precision::Decision> decisions;
  EXPECT_TRUE(succeeded(precision::apply(*lax.module, "fp8", false, &decisions))) << lax.errors;
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_TRUE(decisions[0].isFallback);
  EXPECT_EQ(decisions[0].lhs, "bf16");
  EXPECT_FALSE(succeeded(precision::apply(*strict.module, "fp8", true)));
  EXPECT_NE(strict.errors.find("no FP8 form of conv_transpose"), std::string::npos) << strict.errors;
}

} // namespace
