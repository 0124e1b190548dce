// Quantization in the interpreter: dynamic_quantize against what it decomposes into, and against
// runtime/numerics; products of scaled tensors against their definition.
#include "compiler/Interpreter/Interpreter.h"
#include "dialects/Graph/Transforms/Passes.h"
#include "runtime/numerics/scale_recipe.h"
#include "test/compiler/Precision/run_text.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace quaver;
using interpreter::Tensor;

namespace {

// Normal values, with blocks of zeros, of tiny values, with an Inf, with a NaN, with subnormals.
Tensor awkward(int64_t rows, int64_t columns) {
  Tensor t = Tensor::make(ElementType::F32, {rows, columns});
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < t.size(); ++i) {
    float x = normal(random);
    switch (i / columns % 7) {
    case 1:
      x = i % 2 ? 0.0f : -0.0f;
      break;
    case 2:
      x *= 1e-36f;
      break;
    case 3:
      x = i % columns == 5 ? -INFINITY : x;
      break;
    case 4:
      x = i % columns == 9 ? NAN : x;
      break;
    case 5:
      x *= 1e-41f;
      break;
    case 6:
      x = std::ldexp(1.0f, int(i % 9) - 4);
      break;
    }
    t.mutableAs<float>()[i] = x;
  }
  return t;
}

struct Case {
  const char *name, *blocks, *element, *scale, *scaleShape, *rounding;
  ScaleSpec spec;
};
void PrintTo(const Case &c, std::ostream *os) { *os << c.name; }

const Case kCases[] = {
    {"Rows", "1, 128", "f8E4M3FN", "f32", "14x3", "none", {ScaleRecipe::Row1x128}},
    {"Tiles", "128, 128", "f8E4M3FN", "f32", "1x3", "none", {ScaleRecipe::Block128x128}},
    {"Tensor", "0, 0", "f8E5M2", "f32", "1x1", "none", {ScaleRecipe::PerTensor, ElementType::F8E5M2}},
    {"Channels",
     "1, 0",
     "f8E4M3FN",
     "f32",
     "14x1",
     "power_of_two",
     {ScaleRecipe::PerChannel, ElementType::F8E4M3FN, ElementType::F32, ScaleRounding::PowerOfTwo}},
    {"Mx",
     "1, 32",
     "f8E4M3FN",
     "f8E8M0FNU",
     "14x10",
     "floor",
     {ScaleRecipe::Mx32, ElementType::F8E4M3FN, ElementType::F8E8M0FNU, ScaleRounding::Floor}},
    {"MxUp",
     "1, 32",
     "f8E5M2",
     "f8E8M0FNU",
     "14x10",
     "power_of_two",
     {ScaleRecipe::Mx32, ElementType::F8E5M2, ElementType::F8E8M0FNU, ScaleRounding::PowerOfTwo}},
};

bool sameCodes(const Tensor &a, const Tensor &b) {
  if (a.typeString() != b.typeString())
    return false;
  if (a.type() == ElementType::F32)
    return a.span() == b.span();
  for (int64_t i = 0; i < a.size(); ++i) { // any NaN is as good as another
    uint8_t x = a.as<uint8_t>()[i], y = b.as<uint8_t>()[i];
    if (x != y && !(is_nan_code(a.type(), x) && is_nan_code(a.type(), y)))
      return false;
  }
  return true;
}

class DynamicQuantize : public ::testing::TestWithParam<Case> {};

TEST_P(DynamicQuantize, IsWhatItDecomposesInto) {
  const Case &c = GetParam();
  std::string text = std::string("func.func @main(%x: tensor<14x300xf32>) -> (tensor<14x300x") + c.element +
                     ">, tensor<" + c.scaleShape + "x" + c.scale +
                     ">) {\n  %c, %s = graph.dynamic_quantize %x {blocks = array<i64: " + c.blocks +
                     ">, rounding = #graph.scale_rounding<" + c.rounding +
                     ">} : (tensor<14x300xf32>) -> (tensor<14x300x" + c.element + ">, tensor<" +
                     c.scaleShape + "x" + c.scale + ">)\n  return %c, %s : tensor<14x300x" + c.element +
                     ">, tensor<" + c.scaleShape + "x" + c.scale + ">\n}\n";
  test::TextRun run(text);
  Tensor x = awkward(14, 300);
  auto whole = run.run({x});
  ASSERT_EQ(whole.size(), 2u) << run.errors;
  ASSERT_TRUE(run.apply([](OpPassManager &pm) { pm.addPass(graph::createDecomposePass()); })) << run.errors;
  auto parts = run.run({x});
  ASSERT_EQ(parts.size(), 2u) << run.errors;
  EXPECT_TRUE(sameCodes(whole[0], parts[0]));
  EXPECT_TRUE(sameCodes(whole[1], parts[1]));

  std::vector<uint8_t> codes(14 * 300), scales(size_t(whole[1].bytes()));
  quantize(c.spec, ElementType::F32, x.data(), {14, 300, 300}, codes.data(), 300, scales.data());
  EXPECT_TRUE(sameCodes(whole[0], Tensor::borrow(whole[0].type(), whole[0].shape(),
                                                 reinterpret_cast<const char *>(codes.data()))));
  EXPECT_TRUE(sameCodes(whole[1], Tensor::borrow(whole[1].type(), whole[1].shape(),
                                                 reinterpret_cast<const char *>(scales.data()))));
}

INSTANTIATE_TEST_SUITE_P(Recipes, DynamicQuantize, ::testing::ValuesIn(kCases),
                         [](auto &info) { return std::string(info.param.name); });

// sum over runs of 128 of dot(codes) * scales, from the codes themselves.
TEST(ScaledMatmul, AddsRunsUnderTheirScales) {
  test::TextRun run(R"(
func.func @main(%x: tensor<2x14x300xf32>, %w: tensor<300x200xf32>) ->
    (tensor<2x14x200xf32>, tensor<2x14x300xf8E4M3FN>, tensor<2x14x3xf32>, tensor<300x200xf8E4M3FN>, tensor<3x2xf32>) {
  %a = scale.quantize %x : (tensor<2x14x300xf32>) -> !scale.tensor<2x14x300xf8E4M3FN, scales = 1x1x128xf32>
  %b = scale.quantize %w : (tensor<300x200xf32>) -> !scale.tensor<300x200xf8E4M3FN, scales = 128x128xf32>
  %y = scale.matmul %a, %b {precision = #scale.precision<lhs = f8E4M3FN, rhs = f8E4M3FN, accumulate = f32, out = f32, recipe = "128x128">}
      : (!scale.tensor<2x14x300xf8E4M3FN, scales = 1x1x128xf32>, !scale.tensor<300x200xf8E4M3FN, scales = 128x128xf32>) -> tensor<2x14x200xf32>
  %ac, %as = scale.unpack %a : (!scale.tensor<2x14x300xf8E4M3FN, scales = 1x1x128xf32>) -> (tensor<2x14x300xf8E4M3FN>, tensor<2x14x3xf32>)
  %bc, %bs = scale.unpack %b : (!scale.tensor<300x200xf8E4M3FN, scales = 128x128xf32>) -> (tensor<300x200xf8E4M3FN>, tensor<3x2xf32>)
  return %y, %ac, %as, %bc, %bs : tensor<2x14x200xf32>, tensor<2x14x300xf8E4M3FN>, tensor<2x14x3xf32>, tensor<300x200xf8E4M3FN>, tensor<3x2xf32>
})");
  auto out = run.run({test::randomTensor({2, 14, 300}, 1), test::randomTensor({300, 200}, 2)});
  ASSERT_EQ(out.size(), 5u) << run.errors;
  Tensor a = out[1].to(ElementType::F32), b = out[3].to(ElementType::F32);
  for (int64_t i = 0; i < 28; ++i)
    for (int64_t j = 0; j < 200; ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < 300; ++k) {
        double product = double(a.as<float>()[i * 300 + k]) * out[2].as<float>()[i * 3 + k / 128] *
                         b.as<float>()[k * 200 + j] * out[4].as<float>()[k / 128 * 2 + j / 128];
        sum += product, magnitude += std::abs(product);
      }
      ASSERT_NEAR(out[0].as<float>()[i * 200 + j], sum, std::ldexp(304 * magnitude, -23)) << i << " " << j;
    }
}

// Transposes, slices and reshapes of a bundle are those of the floats that it stands for.
TEST(ScaledMovement, MovesBothHalves) {
  test::TextRun run(R"(
func.func @main(%x: tensor<3x14x300xf32>) -> (tensor<300x42xf32>, tensor<300x42xf32>, tensor<3x14x44xf32>, tensor<3x14x44xf32>) {
  %q = scale.quantize %x : (tensor<3x14x300xf32>) -> !scale.tensor<3x14x300xf8E4M3FN, scales = 1x1x128xf32>
  %shape = graph.constant dense<[-1, 300]> : tensor<2xi64> : tensor<2xi64>
  %r = scale.reshape %q, %shape : (!scale.tensor<3x14x300xf8E4M3FN, scales = 1x1x128xf32>, tensor<2xi64>) -> !scale.tensor<42x300xf8E4M3FN, scales = 1x128xf32>
  %t = scale.transpose %r {permutation = array<i64: 1, 0>} : (!scale.tensor<42x300xf8E4M3FN, scales = 1x128xf32>) -> !scale.tensor<300x42xf8E4M3FN, scales = 128x1xf32>
  %0 = scale.dequantize %t : (!scale.tensor<300x42xf8E4M3FN, scales = 128x1xf32>) -> tensor<300x42xf32>
  %s = scale.slice %q {offsets = array<i64: 0, 0, 256>, sizes = array<i64: -1, 14, -1>} : (!scale.tensor<3x14x300xf8E4M3FN, scales = 1x1x128xf32>) -> !scale.tensor<3x14x44xf8E4M3FN, scales = 1x1x128xf32>
  %1 = scale.dequantize %s : (!scale.tensor<3x14x44xf8E4M3FN, scales = 1x1x128xf32>) -> tensor<3x14x44xf32>
  %d = scale.dequantize %q : (!scale.tensor<3x14x300xf8E4M3FN, scales = 1x1x128xf32>) -> tensor<3x14x300xf32>
  %dr = graph.reshape %d, %shape : (tensor<3x14x300xf32>, tensor<2xi64>) -> tensor<42x300xf32>
  %2 = graph.transpose %dr {permutation = array<i64: 1, 0>} : (tensor<42x300xf32>) -> tensor<300x42xf32>
  %from = graph.constant dense<256> : tensor<1xi64> : tensor<1xi64>
  %to = graph.constant dense<300> : tensor<1xi64> : tensor<1xi64>
  %by = graph.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %3 = graph.slice %d, %from, %to, %by {axes = array<i64: 2>} : (tensor<3x14x300xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x14x44xf32>
  return %0, %2, %1, %3 : tensor<300x42xf32>, tensor<300x42xf32>, tensor<3x14x44xf32>, tensor<3x14x44xf32>
})");
  auto out = run.run({test::randomTensor({3, 14, 300}, 4)});
  ASSERT_EQ(out.size(), 4u) << run.errors;
  EXPECT_TRUE(out[0].span() == out[1].span());
  EXPECT_TRUE(out[2].span() == out[3].span());
}

} // namespace
