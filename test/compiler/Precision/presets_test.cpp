// Every preset on whole models: what each pass may change of the numbers, and what was decided.
#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Precision/Passes.h"
#include "compiler/Precision/Precision.h"
#include "mlir/Pass/PassManager.h"
#include "test/compiler/Precision/run_text.h"
#include "test/compiler/dispatch/model_inputs.h"
#include <cmath>
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
    pm.nest<func::FuncOp>().addPass(std::move(pass));
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
  // An FP32 model has nothing to widen, and deciding changes nothing.
  ASSERT_TRUE(m.apply(precision::createWidenFloatsPass())) << m.errors;
  precision::AssignPrecisionPassOptions options;
  options.preset = c.preset;
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
                      Case{"cnn-tiny-unfolded", "bf16", 40}, Case{"cnn-tiny-unfolded", "fp8", 20}),
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
      EXPECT_FALSE(d.reason.empty() || d.op.empty() || d.lhs.empty()) << preset << " " << d.node;
      EXPECT_EQ(d.recipe.empty(), d.lhs != "e4m3" && d.rhs != "e4m3") << preset << " " << d.node;
    }
    EXPECT_FALSE(m.run().empty()) << preset << ": " << m.errors;
  }
}
INSTANTIATE_TEST_SUITE_P(Models, EveryModel, ::testing::ValuesIn(test::kModels),
                         [](auto &info) { return test::identifierOf(info.param); });

TEST(Precision, NamesThePresetsThatThereAre) {
  EXPECT_TRUE(precision::check("fp8").ok());
  EXPECT_EQ(precision::check("fp4").message(),
            "precision \"fp4\" is unknown; there is source, fp32, bf16, fp8, fp8-weights");
}

TEST(Precision, StrictRefusesFallbacks) {
  const char *text = R"(
graph.weight @w : tensor<64x96xf32> {source_name = "w"}
func.func @main(%x: tensor<96x4xf32>) -> tensor<64x4xf32> {
  %w = graph.get_weight @w : tensor<64x96xf32>
  %0 = graph.matmul %w, %x : (tensor<64x96xf32>, tensor<96x4xf32>) -> tensor<64x4xf32>
  return %0 : tensor<64x4xf32>
})";
  test::TextRun lax(text), strict(text);
  std::vector<precision::Decision> decisions;
  EXPECT_TRUE(succeeded(precision::apply(*lax.module, "fp8", false, &decisions)));
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_TRUE(decisions[0].isFallback);
  EXPECT_EQ(decisions[0].lhs, "bf16");
  EXPECT_FALSE(succeeded(precision::apply(*strict.module, "fp8", true)));
  EXPECT_NE(strict.errors.find("the weight is the left operand"), std::string::npos) << strict.errors;
}

} // namespace
