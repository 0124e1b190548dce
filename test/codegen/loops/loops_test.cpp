#include "test/codegen/loops/loop_harness.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>

using namespace quaver::test;
using I64 = std::vector<int64_t>;
using F32 = std::vector<float>;

static const float kNan = std::numeric_limits<float>::quiet_NaN(),
                   kInf = std::numeric_limits<float>::infinity();

static LoopRun topK(const std::string &k, const std::string &largest, const F32 &in, int64_t rows, int64_t n,
                    int64_t selected) {
  return runLoopKernel(
      R"(%a: tensor<?x?xf32> {graph.dims = ["r", "n"]})",
      R"(%v, %i = plan.dispatch %a : (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xi64>) {
    ^bb0(%x: tensor<?x?xf32>):
      %k = graph.sizes [")" +
          k + R"("] : tensor<1xi64>
      %v, %i = graph.top_k %x, %k {axis = 1 : i64, largest = )" +
          largest + R"(} : (tensor<?x?xf32>, tensor<1xi64>) -> (tensor<?x?xf32>, tensor<?x?xi64>)
      plan.yield %v, %i : tensor<?x?xf32>, tensor<?x?xi64>
    })",
      {{"r", rows}, {"n", n}}, {bytesOf(in)}, {size_t(rows * selected * 4), size_t(rows * selected * 8)});
}

TEST(TopK, TiesTakeTheLowerPositionAndNanIsLargest) {
  F32 in = {1, 3, kNan, 3, -kInf, 3, -0.0f, 0.0f};
  LoopRun r = topK("4", "true", in, 1, 8, 4);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(valuesOf<int64_t>(r.outputs[1]), (I64{2, 1, 3, 5}));
  r = topK("4", "false", in, 1, 8, 4);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(valuesOf<int64_t>(r.outputs[1]), (I64{4, 6, 7, 0}));
  r = topK("n", "false", in, 1, 8, 8); // the whole line: sorted by merging
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(valuesOf<int64_t>(r.outputs[1]), (I64{4, 6, 7, 0, 1, 3, 5, 2}));
}

TEST(TopK, AgreesWithAStableSort) {
  std::mt19937 random(7);
  for (int64_t n : {1, 2, 3, 31, 100, 257})
    for (std::string k : {"1", "n"}) {
      F32 in(3 * n);
      for (float &x : in)
        x = float(int(random() % 19)) - 9;
      int64_t selected = k == "n" ? n : 1;
      LoopRun r = topK(k, "true", in, 3, n, selected);
      ASSERT_EQ(r.error, "");
      auto values = valuesOf<float>(r.outputs[0]);
      auto indices = valuesOf<int64_t>(r.outputs[1]);
      for (int row = 0; row < 3; ++row) {
        I64 order(n);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](int64_t x, int64_t y) { return in[row * n + x] > in[row * n + y]; });
        for (int64_t t = 0; t < selected; ++t) {
          ASSERT_EQ(indices[row * selected + t], order[t]) << n << " " << k;
          ASSERT_EQ(values[row * selected + t], in[row * n + order[t]]);
        }
      }
    }
}

TEST(TopK, InnerAxisOfUnsignedBytesAndBf16) {
  LoopRun r =
      runLoopKernel("%a: tensor<3x2xui8>",
                    R"(%v, %i = plan.dispatch %a : (tensor<3x2xui8>) -> (tensor<2x2xui8>, tensor<2x2xi64>) {
    ^bb0(%x: tensor<3x2xui8>):
      %k = graph.constant dense<2> : tensor<1xi64> : tensor<1xi64>
      %v, %i = graph.top_k %x, %k {axis = 0 : i64} : (tensor<3x2xui8>, tensor<1xi64>) -> (tensor<2x2xui8>, tensor<2x2xi64>)
      plan.yield %v, %i : tensor<2x2xui8>, tensor<2x2xi64>
    })",
                    {}, {bytesOf<uint8_t>({200, 1, 7, 255, 100, 3})}, {4, 32});
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(valuesOf<uint8_t>(r.outputs[0]), (std::vector<uint8_t>{200, 255, 100, 3}));
  EXPECT_EQ(valuesOf<int64_t>(r.outputs[1]), (I64{0, 1, 2, 2}));
}

static LoopRun cumulative(const std::string &type, const std::string &attributes, const Bytes &in) {
  std::string t = "tensor<2x3x" + type + ">";
  return runLoopKernel("%a: " + t,
                       "%r = plan.dispatch %a : (" + t + ") -> (" + t + ") {\n^bb0(%x: " + t +
                           "):\n%s = graph.cumulative %x {" + attributes + "} : (" + t + ") -> " + t +
                           "\nplan.yield %s : " + t + "\n}",
                       {}, {in}, {in.size()});
}

TEST(Cumulative, SumsProductsDirections) {
  Bytes in = bytesOf<float>({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(
      valuesOf<float>(cumulative("f32", "kind = #graph.reduce_kind<sum>, axis = 1 : i64", in).outputs[0]),
      (F32{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(valuesOf<float>(
                cumulative("f32", "kind = #graph.reduce_kind<sum>, axis = 1 : i64, exclusive = true", in)
                    .outputs[0]),
            (F32{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(
      valuesOf<float>(
          cumulative("f32",
                     "kind = #graph.reduce_kind<sum>, axis = 1 : i64, exclusive = true, reverse = true", in)
              .outputs[0]),
      (F32{5, 3, 0, 11, 6, 0}));
  EXPECT_EQ(
      valuesOf<float>(cumulative("f32", "kind = #graph.reduce_kind<prod>, axis = 0 : i64", in).outputs[0]),
      (F32{1, 2, 3, 4, 10, 18}));
  EXPECT_EQ(
      valuesOf<int32_t>(cumulative("i32", "kind = #graph.reduce_kind<sum>, axis = 0 : i64, reverse = true",
                                   bytesOf<int32_t>({1, 2, 3, 4, 5, 6}))
                            .outputs[0]),
      (std::vector<int32_t>{5, 7, 9, 4, 5, 6}));
  // bf16 1, 1, 1: codes 0x3F80, sums 1, 2, 3.
  Bytes ones = bytesOf<uint16_t>({0x3F80, 0x3F80, 0x3F80, 0x3F80, 0x3F80, 0x7FC1});
  EXPECT_EQ(valuesOf<uint16_t>(
                cumulative("bf16", "kind = #graph.reduce_kind<sum>, axis = 1 : i64", ones).outputs[0]),
            (std::vector<uint16_t>{0x3F80, 0x4000, 0x4040, 0x3F80, 0x4000, 0x7FC0}));
  EXPECT_NE(cumulative("f8E4M3FN", "kind = #graph.reduce_kind<sum>, axis = 1 : i64", Bytes(6)).error,
            ""); // storage only
}

static LoopRun scatterElements(const std::string &kind, int64_t axis, const F32 &data,
                               const std::string &indexShape, const I64 &indices, const F32 &updates) {
  std::string it = "tensor<" + indexShape + "xi64>", ut = "tensor<" + indexShape + "xf32>",
              dt = "tensor<3x3xf32>", types = dt + ", " + it + ", " + ut;
  return runLoopKernel("%a: " + dt + ", %i: " + it + ", %u: " + ut,
                       "%r = plan.dispatch %a, %i, %u : (" + types + ") -> " + dt + " {\n^bb0(%x: " + dt +
                           ", %j: " + it + ", %v: " + ut +
                           "):\n%s = graph.scatter_elements %x, %j, %v {axis = " + std::to_string(axis) +
                           " : i64, kind = #graph.scatter_kind<" + kind + ">} : (" + types + ") -> " + dt +
                           "\nplan.yield %s : " + dt + "\n}",
                       {}, {bytesOf(data), bytesOf(indices), bytesOf(updates)}, {data.size() * 4});
}

TEST(ScatterElements, OnnxExamplesAndOrder) {
  EXPECT_EQ(valuesOf<float>(scatterElements("none", 0, F32(9, 0), "2x3", {1, 0, 2, 0, 2, 1},
                                            {1.0f, 1.1f, 1.2f, 2.0f, 2.1f, 2.2f})
                                .outputs[0]),
            (F32{2.0f, 1.1f, 0, 1.0f, 0, 2.2f, 0, 2.1f, 1.2f}));
  F32 data = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  // Fewer rows and columns than the data, negative and duplicate indices; the last update stays.
  EXPECT_EQ(
      valuesOf<float>(scatterElements("none", 1, data, "2x2", {-1, 2, 0, 0}, {10, 20, 30, 40}).outputs[0]),
      (F32{1, 2, 20, 40, 5, 6, 7, 8, 9}));
  EXPECT_EQ(
      valuesOf<float>(scatterElements("add", 1, data, "2x2", {1, 1, 0, 7}, {10, 20, 30, 40}).outputs[0]),
      (F32{1, 32, 3, 34, 5, 6, 7, 8, 9}));
  EXPECT_EQ(valuesOf<float>(scatterElements("mul", 0, data, "1x3", {2, 2, 2}, {2, 3, 4}).outputs[0]),
            (F32{1, 2, 3, 4, 5, 6, 14, 24, 36}));
  F32 max = valuesOf<float>(scatterElements("max", 0, data, "1x3", {0, 0, 0}, {2, -3, kNan}).outputs[0]);
  EXPECT_EQ(max[0], 2);
  EXPECT_EQ(max[1], 2);
  EXPECT_TRUE(std::isnan(max[2]));
  EXPECT_EQ(valuesOf<float>(scatterElements("min", 0, data, "1x3", {0, 0, 0}, {2, -3, 3}).outputs[0]),
            (F32{1, -3, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(ScatterNd, SlicesAndElements) {
  auto run = [](const std::string &kind, int depth, const std::string &updates, const I64 &indices,
                const F32 &values) {
    std::string it = "tensor<2x" + std::to_string(depth) + "xi64>", ut = "tensor<" + updates + "xf32>",
                dt = "tensor<?x300xf32>";
    std::string types = dt + ", " + it + ", " + ut;
    F32 data(900);
    std::iota(data.begin(), data.end(), 0.0f);
    LoopRun r = runLoopKernel("%a: " + dt + " {graph.dims = [\"rows\", \"300\"]}, %i: " + it + ", %u: " + ut,
                              "%r = plan.dispatch %a, %i, %u : (" + types + ") -> " + dt +
                                  " {\n^bb0(%x: " + dt + ", %j: " + it + ", %v: " + ut +
                                  "):\n%s = graph.scatter_nd %x, %j, %v {kind = #graph.scatter_kind<" + kind +
                                  ">} : (" + types + ") -> " + dt + "\nplan.yield %s : " + dt + "\n}",
                              {{"rows", 3}}, {bytesOf(data), bytesOf(indices), bytesOf(values)}, {3600});
    EXPECT_EQ(r.error, "");
    return valuesOf<float>(r.outputs[0]);
  };
  F32 updates(600, 5.0f);
  F32 r = run("none", 1, "2x300", {2, -3}, updates);
  for (int i = 0; i < 900; ++i)
    ASSERT_EQ(r[i], i / 300 == 1 ? float(i) : 5.0f);
  r = run("add", 2, "2", {1, 299, 1, 299}, {1, 2});
  for (int i = 0; i < 900; ++i)
    ASSERT_EQ(r[i], i == 599 ? 602.0f : float(i));
  r = run("add", 2, "2", {1, 300, 3, 0}, {1, 2}); // out of range: dropped
  for (int i = 0; i < 900; ++i)
    ASSERT_EQ(r[i], float(i));
}

TEST(NonZero, RowsAreAsFarApartAsTheyAreLong) {
  LoopRun r =
      runLoopKernel("%a: tensor<2x3xf32>",
                    R"(%v, %n = plan.dispatch %a : (tensor<2x3xf32>) -> (tensor<2x?xi64>, tensor<1xi64>) {
    ^bb0(%x: tensor<2x3xf32>):
      %v = graph.non_zero %x : (tensor<2x3xf32>) -> tensor<2x?xi64>
      %n = graph.shape %v {start = 1 : i64, end = 2 : i64} : (tensor<2x?xi64>) -> tensor<1xi64>
      plan.yield %v, %n : tensor<2x?xi64>, tensor<1xi64>
    })",
                    {}, {bytesOf<float>({0, 1, -0.0f, kNan, 0, 2})}, {96, 8});
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(valuesOf<int64_t>(r.outputs[1]), (I64{3}));
  I64 v = valuesOf<int64_t>(r.outputs[0]);
  v.resize(6);
  EXPECT_EQ(v, (I64{0, 1, 1, 1, 0, 2}));
}

static LoopRun unique(const std::string &attributes, const std::string &shape, const std::string &valueShape,
                      const F32 &in) {
  std::string t = "tensor<" + shape + "xf32>", vt = "tensor<" + valueShape + "xf32>",
              results = vt + ", tensor<?xi64>, tensor<?xi64>, tensor<?xi64>";
  std::string dim = attributes.find("axis = 1") != std::string::npos ? "1" : "0",
              end = dim == "1" ? "2" : "1";
  return runLoopKernel(
      "%a: " + t,
      "%r:5 = plan.dispatch %a : (" + t + ") -> (" + results + ", tensor<1xi64>) {\n^bb0(%x: " + t +
          "):\n%v, %i, %j, %c = graph.unique %x {" + attributes + "} : (" + t + ") -> (" + results +
          ")\n%n = graph.shape %v {start = " + dim + " : i64, end = " + end + " : i64} : (" + vt +
          ") -> tensor<1xi64>\nplan.yield %v, %i, %j, %c, %n : " + results + ", tensor<1xi64>\n}",
      {}, {bytesOf(in)}, {in.size() * 4, in.size() * 8, in.size() * 8, in.size() * 8, 8});
}

TEST(Unique, SortedUnsortedAndAlongAnAxis) {
  F32 in = {2, 1, 1, 3, 4, 3};
  LoopRun r = unique("sorted = true", "6", "?", in);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(valuesOf<int64_t>(r.outputs[4])[0], 4);
  auto first = [&](auto v, size_t n) {
    v.resize(n);
    return v;
  };
  EXPECT_EQ(first(valuesOf<float>(r.outputs[0]), 4), (F32{1, 2, 3, 4}));
  EXPECT_EQ(first(valuesOf<int64_t>(r.outputs[1]), 4), (I64{1, 0, 3, 4}));
  EXPECT_EQ(valuesOf<int64_t>(r.outputs[2]), (I64{1, 0, 0, 2, 3, 2}));
  EXPECT_EQ(first(valuesOf<int64_t>(r.outputs[3]), 4), (I64{2, 1, 2, 1}));
  r = unique("sorted = false", "6", "?", in);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(first(valuesOf<float>(r.outputs[0]), 4), (F32{2, 1, 3, 4}));
  EXPECT_EQ(first(valuesOf<int64_t>(r.outputs[1]), 4), (I64{0, 1, 3, 4}));
  EXPECT_EQ(valuesOf<int64_t>(r.outputs[2]), (I64{0, 1, 1, 2, 3, 2}));
  r = unique("axis = 1 : i64, sorted = true", "2x3", "2x?",
             {5, 1, 5, 7, 2, 7}); // columns (5,7), (1,2), (5,7)
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(valuesOf<int64_t>(r.outputs[4])[0], 2);
  EXPECT_EQ(first(valuesOf<float>(r.outputs[0]), 4), (F32{1, 5, 2, 7}));
  EXPECT_EQ(first(valuesOf<int64_t>(r.outputs[2]), 3), (I64{1, 0, 1}));
}

static F32 resize(const std::string &attributes, const std::string &scales, const F32 &in, int outH, int outW,
                  const std::string &roi = "") {
  std::string out = "tensor<1x1x" + std::to_string(outH) + "x" + std::to_string(outW) + "xf32>";
  std::string t = "tensor<1x1x4x4xf32>", empty = "graph.constant dense<> : tensor<0xf32> : tensor<0xf32>";
  std::string roiType = roi.empty() ? "tensor<0xf32>" : "tensor<8xf32>";
  std::string roiText =
      roi.empty() ? empty : "graph.constant dense<[" + roi + "]> : tensor<8xf32> : tensor<8xf32>";
  LoopRun r = runLoopKernel("%a: " + t,
                            "%r = plan.dispatch %a : (" + t + ") -> " + out + " {\n^bb0(%x: " + t +
                                "):\n%roi = " + roiText + "\n%s = graph.constant dense<[1.0, 1.0, " + scales +
                                "]> : tensor<4xf32> : tensor<4xf32>\n%z = graph.constant dense<> : "
                                "tensor<0xi64> : tensor<0xi64>\n" +
                                "%y = graph.resize %x, %roi, %s, %z {antialias = false, cubic_coefficient = "
                                "-0.75 : f64, exclude_outside = false, extrapolation = 10.0 : f64, " +
                                "nearest_mode = \"round_prefer_floor\", " + attributes + "} : (" + t + ", " +
                                roiType + ", tensor<4xf32>, tensor<0xi64>) -> " + out +
                                "\nplan.yield %y : " + out + "\n}",
                            {}, {bytesOf(in)}, {size_t(outH * outW * 4)});
  EXPECT_EQ(r.error, "");
  return r.outputs.empty() ? F32() : valuesOf<float>(r.outputs[0]);
}

TEST(Resize, OnnxNodeExamples) {
  F32 in(16);
  std::iota(in.begin(), in.end(), 1.0f);
  F32 r = resize("mode = \"cubic\", coordinates = \"half_pixel\"", "0.8, 0.8", in, 3,
                 3); // test_resize_downsample_scales_cubic
  F32 want = {1.47119141f, 2.78125f,     4.08251953f, 6.71142578f, 8.02148438f,
              9.32275391f, 11.91650391f, 13.2265625f, 14.52783203f};
  ASSERT_EQ(r.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(r[i], want[i], 1e-5) << i;
  r = resize("mode = \"linear\", coordinates = \"align_corners\"", "0.6, 0.6", in, 2,
             2);                                   // floor(4 * 0.6) = 2
  want = {1.0f, 3.142857f, 9.571429f, 11.714286f}; // x * 3 / 1.4
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(r[i], want[i], 1e-5) << i;
  r = resize("mode = \"nearest\", coordinates = \"half_pixel\"", "2.0, 0.5", in, 8, 2);
  EXPECT_EQ(F32(r.begin(), r.begin() + 6), (F32{1, 3, 1, 3, 5, 7}));
  // Coordinates 1.8 + 1.65 i along x (outside from the second on), 1.2 + 0.3 i along y.
  r = resize("mode = \"linear\", coordinates = \"tf_crop_and_resize\"", "0.75, 0.75", in, 3, 3,
             "0.0, 0.0, 0.4, 0.6, 1.0, 1.0, 0.6, 1.7");
  EXPECT_NEAR(r[0], 7.6f, 1e-4);
  EXPECT_NEAR(r[3], 8.8f, 1e-4);
  EXPECT_EQ(r[2], 10);
}
