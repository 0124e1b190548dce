// Errors accumulate over tensors and runs as over one long tensor.
#include "compiler/Compare/Difference.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace quaver;
using compare::Difference;
using interpreter::Tensor;

namespace {

Tensor floats(std::vector<float> values) {
  Tensor t = Tensor::make(ElementType::F32, {int64_t(values.size())});
  std::copy(values.begin(), values.end(), t.mutableAs<float>());
  return t;
}

TEST(Difference, RatioIsOfSumsOfSquares) {
  Difference d;
  d.add(floats({30, 40}), floats({30, 35})); // signal 2500, noise 25
  ASSERT_TRUE(d.sqnr());
  EXPECT_DOUBLE_EQ(*d.sqnr(), 20);
  EXPECT_EQ(d.maxError, 5);
  EXPECT_EQ(d.magnitude, 40);
  EXPECT_EQ(d.elements, 2);
}

TEST(Difference, RunsAddUp) {
  Difference a, b, both;
  a.add(floats({30, 40}), floats({30, 35}));
  b.add(floats({-300}), floats({-301}));
  both.add(floats({30, 40, -300}), floats({30, 35, -301}));
  a.merge(b);
  EXPECT_DOUBLE_EQ(*a.sqnr(), *both.sqnr());
  EXPECT_EQ(a.maxError, 5);
  EXPECT_EQ(a.magnitude, 300);
  EXPECT_EQ(a.elements, 3);
}

TEST(Difference, WhatIsNotFiniteCountsApart) {
  Difference d;
  d.add(floats({INFINITY, NAN, 1, NAN, 2}), floats({INFINITY, NAN, INFINITY, 3, 2}));
  EXPECT_EQ(d.notFinite, 2);
  EXPECT_EQ(d.noise, 0);
  EXPECT_EQ(d.signal, 4);
  EXPECT_FALSE(d.isExact());
  EXPECT_FALSE(d.sqnr());
}

TEST(Difference, ZerosThatBecomeSomethingAreTheWorst) {
  Difference d;
  d.add(floats({0, 0}), floats({0, 1e-3f}));
  EXPECT_EQ(*d.sqnr(), -300);
  EXPECT_FALSE(Difference().sqnr());
  EXPECT_TRUE(Difference().isExact());
}

TEST(Difference, TypesMayDiffer) {
  Tensor wide = floats({1.0f, 1.00390625f});
  Difference d;
  d.add(wide, wide.to(ElementType::BF16)); // 1 + 2^-8 is a tie, which goes to 1
  EXPECT_EQ(d.maxError, 0.00390625);
}

} // namespace
