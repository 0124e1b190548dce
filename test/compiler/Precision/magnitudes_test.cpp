// Counts of magnitudes, and the ranges that follow from them.
#include "compiler/Precision/Calibrate/Magnitudes.h"
#include "runtime/numerics/codec.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace quaver;
using namespace quaver::precision;

namespace {

Magnitudes counted(const std::vector<float> &values, int bits = Magnitudes::kFineBits) {
  Magnitudes m(bits);
  m.add(std::span<const float>(values));
  return m;
}
Method method(const std::string &text) { return *parseMethod(text); }

std::vector<float> normal(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution;
  std::vector<float> values(n);
  for (float &x : values)
    x = distribution(random);
  return values;
}

double meanSquaredError(const std::vector<float> &values, double range) {
  float scale = float(range / 448);
  double sum = 0;
  for (float x : values) {
    double e = double(x) - double(decode_e4m3(encode_e4m3(x / scale)) * scale);
    sum += e * e;
  }
  return sum / double(values.size());
}

TEST(Magnitudes, CountsZerosNanAndInfApart) {
  Magnitudes m = counted({0.0f, -0.0f, NAN, -INFINITY, INFINITY, 1.0f, -3.0f});
  EXPECT_EQ(m.getFinite(), 4u);
  EXPECT_EQ(m.getZeros(), 2u);
  EXPECT_EQ(m.getNans(), 1u);
  EXPECT_EQ(m.getInfs(), 2u);
  EXPECT_EQ(m.getLargest(), 3.0f);
  auto bins = m.getBins();
  ASSERT_EQ(bins.size(), 2u);
  EXPECT_EQ(bins[0].low, 1.0);
  EXPECT_EQ(bins[0].high, 1 + 1.0 / 128);
  EXPECT_EQ(bins[1].low, 3.0);
}

TEST(Magnitudes, BinsArePartsOfPowersOfTwo) {
  // One mantissa bit: [1, 1.5), [1.5, 2), [2, 3), and the edges belong to the bin above them.
  auto bins = counted({1.0f, 1.49f, 1.5f, std::nextafter(2.0f, 0.0f), 2.0f}, 1).getBins();
  ASSERT_EQ(bins.size(), 3u);
  EXPECT_EQ(bins[0].count, 2u);
  EXPECT_EQ(bins[1].count, 2u);
  EXPECT_EQ(bins[2].high, 3.0);
  // The ends of f32.
  bins = counted({std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()}).getBins();
  ASSERT_EQ(bins.size(), 2u);
  EXPECT_EQ(bins[0].low, 0.0);
  EXPECT_EQ(bins[1].high, std::ldexp(1.0, 128));
}

TEST(Magnitudes, MergesInAnyOrder) {
  std::vector<float> low = {1e-6f, 0, NAN}, high = {1e6f, 2, INFINITY}, both = low;
  both.insert(both.end(), high.begin(), high.end());
  for (bool swapped : {false, true}) {
    Magnitudes m = counted(swapped ? high : low);
    m.merge(counted(swapped ? low : high));
    m.merge(Magnitudes());
    auto got = m.getBins(), want = counted(both).getBins();
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(got[i].low == want[i].low && got[i].high == want[i].high && got[i].count == want[i].count);
    EXPECT_EQ(m.getLargest(), 1e6f);
    EXPECT_EQ(m.getFinite(), 4u);
    EXPECT_EQ(m.getNans() + m.getInfs() + m.getZeros(), 3u);
  }
}

TEST(Magnitudes, QuantilesAreEdgesAbove) {
  std::vector<float> values;
  for (int i = 1; i <= 1000; ++i)
    values.push_back(float(i));
  Magnitudes m = counted(values);
  EXPECT_NEAR(m.quantile(0.5), 500, 500.0 / 64);
  EXPECT_GE(m.quantile(0.5), 500);
  EXPECT_EQ(m.quantile(1), 1000);
  EXPECT_EQ(counted({0, 0, 0, 1}).quantile(0.75), 0);
  EXPECT_NEAR(m.shareAbove(900), 0.1, 0.01);
  EXPECT_EQ(m.shareAbove(1000), 0);
}

TEST(Magnitudes, ChannelsOfAnyAxis) {
  std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}; // 2x3x2
  const int64_t shape[] = {2, 3, 2};
  auto largest = [&](int64_t axis) {
    std::vector<Magnitudes> channels;
    EXPECT_TRUE(addChannels(channels, values, shape, axis).ok());
    std::vector<float> all;
    for (const Magnitudes &m : channels)
      all.push_back(m.getLargest());
    return all;
  };
  EXPECT_EQ(largest(0), (std::vector<float>{6, 12}));
  EXPECT_EQ(largest(1), (std::vector<float>{8, 10, 12}));
  EXPECT_EQ(largest(2), (std::vector<float>{11, 12}));
  std::vector<Magnitudes> channels(5);
  EXPECT_NE(addChannels(channels, values, shape, 0).message().find("has 2 channels in this run and had 5"),
            std::string::npos);
}

TEST(Ranges, MethodsHaveNames) {
  for (const char *name : {"absmax", "percentile:99.99", "percentile:99.5", "mse", "entropy"})
    EXPECT_EQ(nameOf(method(name)), name);
  EXPECT_EQ(nameOf(method("percentile")), "percentile:99.99");
  for (const char *bad :
       {"", "max", "percentile:", "percentile:0", "percentile:101", "percentile:x", "percentile:9 "})
    EXPECT_FALSE(parseMethod(bad).ok()) << bad;
}

TEST(Ranges, AbsMaxAndPercentile) {
  std::vector<float> values = normal(100000, 1);
  values.push_back(1000);
  Magnitudes m = counted(values);
  EXPECT_EQ(rangeOf(m, method("absmax"), Format::E4M3), 1000);
  EXPECT_NEAR(rangeOf(m, method("percentile:99"), Format::E4M3), 2.576, 0.06); // of a normal distribution
  for (const char *name : {"absmax", "percentile", "mse", "entropy"}) {
    EXPECT_EQ(rangeOf(counted({0, 0}), method(name), Format::E4M3), 0) << name;
    EXPECT_EQ(rangeOf(Magnitudes(), method(name), Format::E4M3), 0) << name;
  }
  std::vector<float> sparse(100000, 0.0f);
  sparse.push_back(5);
  EXPECT_EQ(rangeOf(counted(sparse), method("percentile"), Format::E4M3), 5);
}

// The range of least error by counts has the least error on the values themselves, to a step of the search.
TEST(Ranges, MseIsTheLeastOfTheRangesTried) {
  std::vector<float> values = normal(20000, 2);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] *= i % 2 ? 1.0f : 1e-4f; // where the subnormal codes begin matters
  values[7] = 300;                     // one outlier: worth its own error, or not
  Magnitudes m = counted(values);
  double chosen = rangeOf(m, method("mse"), Format::E4M3), error = meanSquaredError(values, chosen);
  EXPECT_LE(chosen, 300);
  for (int i = 0; i <= 64; ++i)
    EXPECT_LE(error, meanSquaredError(values, 300 * std::exp2(-i / 8.0)) * 1.05) << i;
  EXPECT_LE(error, meanSquaredError(values, rangeOf(m, method("percentile:99"), Format::E4M3)));
}

TEST(Ranges, EntropyCutsFarOutliersOff) {
  std::vector<float> values = normal(100000, 3);
  double plain = rangeOf(counted(values), method("entropy"), Format::E4M3);
  EXPECT_GT(plain, 2); // of a largest value near 4.4
  values[0] = 100000;  // the range that keeps it renders the others by subnormal codes
  double cut = rangeOf(counted(values), method("entropy"), Format::E4M3);
  EXPECT_LT(cut, 5000);
  EXPECT_EQ(rangeOf(counted(values), method("absmax"), Format::E4M3), 100000);
  // Values that FP8 codes tell apart at the largest range: no divergence there, so the largest wins.
  EXPECT_EQ(rangeOf(counted({448, 1, 1, 1}), method("entropy"), Format::E4M3), 448);
}

} // namespace
