// Shares of what saturates and vanishes, on values where they are known.
#include "compiler/Compare/QuantizeFigures.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace quaver;
using compare::QuantizeFigures;
using interpreter::Tensor;

namespace {

Tensor floats(llvm::ArrayRef<int64_t> shape, std::vector<float> values) {
  Tensor t = Tensor::make(ElementType::F32, shape);
  std::copy(values.begin(), values.end(), t.mutableAs<float>());
  return t;
}

/// Codes of x / scale, one scale a row of `width`.
Tensor coded(const Tensor &x, ElementType type, std::vector<float> scales, int64_t width) {
  Tensor ratio = Tensor::make(ElementType::F32, x.shape());
  for (int64_t i = 0; i < x.size(); ++i)
    ratio.mutableAs<float>()[i] = x.as<float>()[i] / scales[size_t(i / width)];
  return ratio.to(type);
}

TEST(QuantizeFigures, E4M3AtItsEdges) {
  // 464 is a tie that goes to 448; 2^-10 is one that goes to zero.
  Tensor x = floats({1, 8}, {464, std::nextafter(464.0f, 500.0f), -1000, 0x1p-10f, 0x1.8p-10f, 0, -0.0f, 1});
  QuantizeFigures f;
  f.add(x, coded(x, ElementType::F8E4M3FN, {1}, 8), floats({1, 1}, {1}), {1, 0});
  EXPECT_EQ(f.elements, 8);
  EXPECT_EQ(f.values, 6);
  EXPECT_EQ(f.saturated, 2);
  EXPECT_EQ(f.underflowed, 1);
  EXPECT_EQ(f.magnitudes, (std::map<int, int64_t>{{-10, 2}, {0, 1}, {8, 2}, {9, 1}}));
}

TEST(QuantizeFigures, E5M2SaturatesAtTheTie) {
  Tensor x = floats({3}, {61440, std::nextafter(61440.0f, 0.0f), 57344});
  QuantizeFigures f;
  f.add(x, coded(x, ElementType::F8E5M2, {1}, 3), {}, {});
  EXPECT_EQ(f.saturated, 1);
}

TEST(QuantizeFigures, BlocksHaveTheirOwnScales) {
  Tensor x = floats({2, 2}, {0x1p-10f, 8, 0x1p-10f, 8});
  QuantizeFigures f;
  f.add(x, coded(x, ElementType::F8E4M3FN, {1, 0x1p-8f}, 2), floats({2, 1}, {1, 0x1p-8f}), {1, 0});
  EXPECT_EQ(f.underflowed, 1); // under the first row's scale
  EXPECT_EQ(f.saturated, 1);   // 8 * 2^8 under the second one's
  EXPECT_EQ(f.scaleMin, 0x1p-8);
  EXPECT_EQ(f.scaleMax, 1);
}

TEST(QuantizeFigures, IntegersCountFromTheirZeroPoint) {
  Tensor x = floats({5}, {-1.4f, 0.2f, 1, 300, -400}), codes = Tensor::make(ElementType::U8, {5});
  std::vector<uint8_t> expected = {9, 10, 11, 255, 0};
  std::copy(expected.begin(), expected.end(), codes.mutableAs<uint8_t>());
  Tensor zero = Tensor::make(ElementType::U8, {1});
  zero.mutableAs<uint8_t>()[0] = 10;
  QuantizeFigures f;
  f.add(x, codes, floats({1}, {1}), {0}, zero);
  EXPECT_EQ(f.saturated, 2);
  EXPECT_EQ(f.underflowed, 1);
}

TEST(QuantizeFigures, OddValuesAndScalesCountApart) {
  Tensor x = floats({3, 2}, {NAN, INFINITY, 1, 1, 2, 2});
  QuantizeFigures f;
  f.add(x, x.to(ElementType::F8E4M3FN), floats({3, 1}, {1, NAN, 0}), {1, 0});
  EXPECT_EQ(f.nan, 1);
  EXPECT_EQ(f.inf, 1);
  EXPECT_EQ(f.lost, 4);
  EXPECT_EQ(f.values, 0);
  EXPECT_EQ(f.saturatedShare(), 0);
}

TEST(QuantizeFigures, RunsAddUp) {
  Tensor x = floats({2}, {1000, 1}), one = floats({1}, {1});
  QuantizeFigures f;
  f.add(x, x.to(ElementType::F8E4M3FN), one, {0});
  Tensor y = floats({2}, {2, 1});
  f.add(y, y.to(ElementType::F8E4M3FN), one, {0});
  EXPECT_EQ(f.saturatedShare(), 0.25);
  nlohmann::json j = f.describe();
  EXPECT_EQ(j["histogram"]["low"], 0);
  EXPECT_EQ(j["histogram"]["counts"], nlohmann::json({2, 1, 0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(j["format_low"], -9);
  EXPECT_EQ(j["format_high"], 8);
}

} // namespace
