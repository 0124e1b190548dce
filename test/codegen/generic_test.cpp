// Clusters compiled by the generic path against plain loops, over sizes with and without tails.
#include "test/codegen/kernel_harness.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace quaver::test {
namespace {

std::vector<float> randoms(size_t n, float lo = -2, float hi = 2, unsigned seed = 1) {
  std::mt19937 g(seed);
  std::uniform_real_distribution<float> d(lo, hi);
  std::vector<float> v(n + 1);
  for (float &x : v)
    x = d(g);
  return v;
}

const char *kTargets[] = {"x86-64-v3", "x86-64-v4"};
bool runs(const std::string &target) { return target == "x86-64-v3" || __builtin_cpu_supports("avx512bw"); }

std::string unary(const std::string &op, const std::string &type = "f32") {
  return "func.func @f(%a: tensor<?x" + type + "> {graph.dims = [\"n\"]}) -> tensor<?x" + type +
         "> {\n"
         "  %0 = plan.dispatch %a : (tensor<?x" +
         type + ">) -> tensor<?x" + type + "> {\n  ^bb0(%x: tensor<?x" + type +
         ">):\n"
         "    %r = graph." +
         op + " %x : (tensor<?x" + type + ">) -> tensor<?x" + type + ">\n    plan.yield %r : tensor<?x" +
         type +
         ">\n  }\n"
         "  return %0 : tensor<?x" +
         type + ">\n}\n";
}

TEST(Generic, AddWithBiasOfEverySize) {
  const char *text =
      R"(func.func @f(%a: tensor<?x?xf32> {graph.dims = ["m", "n"]}, %c: tensor<?xf32> {graph.dims = ["n"]}) -> tensor<?x?xf32> {
    %0 = plan.dispatch %a, %c : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32> {
    ^bb0(%x: tensor<?x?xf32>, %y: tensor<?xf32>):
      %r = graph.add %x, %y : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
      plan.yield %r : tensor<?x?xf32>
    }
    return %0 : tensor<?x?xf32>
  })";
  for (std::string target : kTargets) {
    if (!runs(target))
      continue;
    for (int64_t m : {0, 1, 3, 7})
      for (int64_t n : {0, 1, 5, 8, 31, 64, 65, 129, 5000}) {
        CompiledKernel k = compileKernel(text, {{"m", m}, {"n", n}}, target);
        ASSERT_TRUE(k.run) << k.error;
        auto a = randoms(m * n), c = randoms(n, -2, 2, 2), r = randoms(m * n + 8, 9, 9.1);
        auto before = r;
        runKernel(k, {a.data(), c.data(), r.data()}, 1);
        for (int64_t i = 0; i < m * n; ++i)
          ASSERT_EQ(r[i], a[i] + c[i % n]) << i << " of " << m << "x" << n;
        for (size_t i = m * n; i < r.size(); ++i)
          ASSERT_EQ(r[i], before[i]) << "written past the end";
      }
  }
}

struct Function {
  const char *op;
  double (*exact)(double);
  double ulp;
};
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double rsqrt(double x) { return 1 / std::sqrt(x); }

TEST(Generic, ElementaryFunctionsOverTheFloatRange) {
  const Function functions[] = {{"exp", std::exp, 2},     {"log", std::log, 2},    {"tanh", std::tanh, 4},
                                {"erf", std::erf, 8},     {"sigmoid", sigmoid, 4}, {"rsqrt", rsqrt, 2},
                                {"sin", std::sin, 1},     {"cos", std::cos, 1},    {"tan", std::tan, 1},
                                {"asin", std::asin, 1},   {"acos", std::acos, 1},  {"atan", std::atan, 1},
                                {"sinh", std::sinh, 1},   {"cosh", std::cosh, 1},  {"asinh", std::asinh, 1},
                                {"acosh", std::acosh, 1}, {"atanh", std::atanh, 1}};
  std::vector<float> x;
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 50021) {
    uint32_t b = uint32_t(bits);
    float f;
    memcpy(&f, &b, 4);
    x.push_back(f);
  }
  for (float f :
       {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 88.7f, 89.0f, -103.9f, -104.5f, 1e-45f, 3e38f})
    x.push_back(f);
  for (std::string target : kTargets) {
    if (!runs(target))
      continue;
    for (const Function &fn : functions) {
      bool circular = std::string("sin cos tan").find(fn.op) != std::string::npos;
      CompiledKernel k = compileKernel(unary(fn.op), {{"n", int64_t(x.size())}}, target);
      ASSERT_TRUE(k.run) << k.error;
      std::vector<float> r(x.size());
      runKernel(k, {x.data(), r.data()});
      double worst = 0;
      float worstAt = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        if (circular && std::abs(x[i]) > 1e8f && std::isfinite(x[i]))
          continue;
        double want = fn.exact(x[i]);
        float rounded = float(want);
        if (std::isnan(want)) {
          ASSERT_TRUE(std::isnan(r[i])) << fn.op << "(" << x[i] << ") = " << r[i];
          continue;
        }
        if (rounded == r[i])
          continue;
        ASSERT_FALSE(std::isnan(r[i])) << fn.op << "(" << x[i] << ") = " << r[i] << " want " << want;
        double ulp = std::max(std::ldexp(1.0, std::ilogb(std::max(std::abs(want), 1.2e-38)) - 23), 1.4e-45);
        double error = std::abs(r[i] - want) / ulp;
        if (error > worst)
          worst = error, worstAt = x[i];
      }
      EXPECT_LE(worst, fn.ulp) << fn.op << " at " << worstAt << " on " << target;
      RecordProperty(std::string(fn.op) + "_ulp_" + target, std::to_string(worst));
    }
  }
}

TEST(Generic, SoftmaxOfRows) {
  const char *softmax =
      R"(func.func @f(%a: tensor<?x?xf32> {graph.dims = ["m", "n"]}) -> (tensor<?x?xf32>, tensor<?x1xf32>) {
    %0:2 = plan.dispatch %a : (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x1xf32>) {
    ^bb0(%x: tensor<?x?xf32>):
      %m = graph.reduce %x {kind = #graph.reduce_kind<max>, axes = array<i64: 1>, keep_dims = true} : (tensor<?x?xf32>) -> tensor<?x1xf32>
      %d = graph.sub %x, %m : (tensor<?x?xf32>, tensor<?x1xf32>) -> tensor<?x?xf32>
      %e = graph.exp %d : (tensor<?x?xf32>) -> tensor<?x?xf32>
      %s = graph.reduce %e {kind = #graph.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<?x?xf32>) -> tensor<?x1xf32>
      %r = graph.div %e, %s : (tensor<?x?xf32>, tensor<?x1xf32>) -> tensor<?x?xf32>
      plan.yield %r, %s : tensor<?x?xf32>, tensor<?x1xf32>
    }
    return %0#0, %0#1 : tensor<?x?xf32>, tensor<?x1xf32>
  })";
  for (std::string target : kTargets) {
    if (!runs(target))
      continue;
    for (auto [m, n] : std::vector<std::pair<int64_t, int64_t>>{
             {1, 1}, {3, 5}, {2, 64}, {5, 128}, {4, 133}, {0, 7}, {3, 0}}) {
      CompiledKernel k = compileKernel(softmax, {{"m", m}, {"n", n}}, target);
      ASSERT_TRUE(k.run) << k.error;
      auto a = randoms(m * n), r = randoms(m * n), s = randoms(m);
      runKernel(k, {a.data(), r.data(), s.data()}, 2);
      for (int64_t i = 0; i < m; ++i) {
        double top = -INFINITY, sum = 0;
        for (int64_t j = 0; j < n; ++j)
          top = std::max(top, double(a[i * n + j]));
        for (int64_t j = 0; j < n; ++j)
          sum += std::exp(a[i * n + j] - top);
        ASSERT_NEAR(s[i], sum, 1e-5 * sum);
        for (int64_t j = 0; j < n; ++j)
          ASSERT_NEAR(r[i * n + j], std::exp(a[i * n + j] - top) / sum, 1e-6);
      }
    }
  }
}

} // namespace
} // namespace quaver::test
