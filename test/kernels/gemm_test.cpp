// Matrix kernels with packed weights against plain sums in double. Data are small integers and scales
// distinct powers of two, so that every partial sum is exact and results must be equal to the bit, in any
// order of additions.
#include "compiler/Codegen/X86/Kernels/kernel_types.h"
#include "compiler/Codegen/X86/Kernels/pack.h"
#include "runtime/numerics/codec.h"
#include "test/kernels/kernel_sets.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace quaver::x86::test {
namespace {

using enum ElementType;
static_assert(int(F32) == kTypeF32 && int(F16) == kTypeF16 && int(BF16) == kTypeBF16 &&
              int(F8E4M3FN) == kTypeE4M3);

struct Case {
  int64_t m, n, k;
};
// Tails of rows, columns, panels, pairs, scale blocks and K blocks; one panel; more than a K block and a
// merged run.
const Case kCases[] = {{1, 1, 1},      {1, 16, 128},   {2, 33, 129},  {3, 64, 127},   {4, 65, 256},
                       {5, 31, 3},     {6, 96, 130},   {7, 200, 64},  {8, 100, 100},  {9, 17, 300},
                       {12, 32, 128},  {13, 48, 515},  {23, 129, 65}, {24, 640, 40},  {96, 64, 256},
                       {97, 130, 257}, {100, 70, 640}, {193, 30, 90}, {1, 384, 1000}, {4, 520, 700}};

// One product: operands as bytes, and as the numbers they stand for.
struct Problem {
  Case c;
  ElementType aType, bType;
  bool aScaled = false, bScaled = false;
  int64_t aColumnStride = 1, aRowStride = 0;
  PackedLayout layout;
  std::vector<uint8_t> a, b, packed;
  std::vector<float> aScales, bScales;
  std::vector<double> aValues, bValues;
  int64_t kBlocks() const { return ceilDiv(c.k, 128); }
};

void put(std::vector<uint8_t> &bytes, ElementType type, int64_t index, float value) {
  convert(F32, &value, type, bytes.data() + index * bytes_of(type), 1);
}

// integer(i, j): small integers that every format holds.
template <class AValue, class BValue>
Problem makeProblem(const PackedLayout &layout, Case c, ElementType aType, ElementType bType, bool aScaled,
                    bool bScaled, bool aTransposed, AValue aValue, BValue bValue) {
  Problem p;
  p.c = c;
  p.aType = aType;
  p.bType = bType;
  p.aScaled = aScaled;
  p.bScaled = bScaled;
  p.aRowStride = aTransposed ? 1 : c.k + 3;
  p.aColumnStride = aTransposed ? c.m + 1 : 1;
  p.a.resize(((c.m + 1) * (c.k + 3)) * bytes_of(aType), 0x55);
  p.aValues.resize(c.m * c.k);
  for (int64_t i = 0; i < c.m; ++i)
    for (int64_t j = 0; j < c.k; ++j) {
      p.aValues[i * c.k + j] = double(aValue(i, j));
      put(p.a, aType, i * p.aRowStride + j * p.aColumnStride, float(aValue(i, j)));
    }
  p.b.resize(c.k * c.n * bytes_of(bType));
  p.bValues.resize(c.k * c.n);
  for (int64_t i = 0; i < c.k; ++i)
    for (int64_t j = 0; j < c.n; ++j) {
      p.bValues[i * c.n + j] = double(bValue(i, j));
      put(p.b, bType, i * c.n + j, float(bValue(i, j)));
    }
  p.layout = layout;
  p.packed.resize(packedBytes(layout, c.k, c.n), 0xAA);
  pack(layout, {c.k, c.n, c.n, 1}, p.b.data(), p.packed.data());
  for (int64_t i = 0; aScaled && i < c.m * p.kBlocks(); ++i)
    p.aScales.push_back(std::ldexp(1.0f, int(i * 5 % 7) - 3));
  for (int64_t i = 0; bScaled && i < ceilDiv(c.n, 128) * p.kBlocks(); ++i)
    p.bScales.push_back(std::ldexp(1.0f, int(i * 3 % 5) - 2));
  return p;
}

double expectedAt(const Problem &p, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t k = 0; k < p.c.k; ++k) {
    double x = p.aValues[i * p.c.k + k] * p.bValues[k * p.c.n + j];
    if (p.aScaled)
      x *= double(p.aScales[i * p.kBlocks() + k / 128]);
    if (p.bScaled)
      x *= double(p.bScales[j / 128 * p.kBlocks() + k / 128]);
    sum += x;
  }
  return sum;
}

Result run(const KernelSet &set, Gemm gemm, const Problem &p, int64_t pieces = 1) {
  const Geometry g = geometry(set.features);
  Result result(p.c.m, p.c.n);
  void *bindings[] = {&result};
  std::vector<float> scratch(scratchBytes(g, p.c.k) / 4, std::nanf(""));
  const int64_t groups = ceilDiv(p.c.m, g.blockRows) * ceilDiv(p.c.n, g.groupColumns);
  for (int64_t i = 0; i < pieces; ++i)
    gemm(p.a.data(), int64_t(p.aType), p.aRowStride, p.aColumnStride, p.aScaled ? p.aScales.data() : nullptr,
         p.kBlocks(), 1, p.packed.data(), p.bScaled ? p.bScales.data() : nullptr, p.kBlocks(), 1, p.c.m,
         p.c.n, p.c.k, groups * i / pieces, groups * (i + 1) / pieces, scratch.data(), bindings, nullptr,
         storeResult);
  EXPECT_TRUE(result.isWrittenOnce());
  return result;
}

struct Kind {
  const char *name;
  Gemm KernelSet::*gemm;
  ElementType bType;
  bool aScaled, bScaled;
  std::vector<ElementType> aTypes;
  bool inF32 = false; // multiplies in f32 whatever the weights are
};
const Kind kKinds[] = {
    {"f32_gemm", &KernelSet::f32Gemm, F32, false, false, {F32, BF16, F16}},
    {"f16_gemm", &KernelSet::f16Gemm, F16, false, false, {F32, BF16, F16}, true},
    {"f32_e4m3_gemm", &KernelSet::f32E4m3Gemm, F8E4M3FN, false, true, {F32, BF16, F16}, true},
    {"bf16_gemm", &KernelSet::bf16Gemm, BF16, false, false, {F32, BF16, F16}},
    {"bf16_e4m3_gemm", &KernelSet::bf16E4m3Gemm, F8E4M3FN, false, true, {F32, BF16}},
    {"e4m3_e4m3_gemm", &KernelSet::e4m3E4m3Gemm, F8E4M3FN, true, true, {F8E4M3FN}},
};

class EverySet : public testing::TestWithParam<std::tuple<KernelSet, Kind>> {
protected:
  const KernelSet &set() const { return std::get<0>(GetParam()); }
  const Kind &kind() const { return std::get<1>(GetParam()); }
  template <class A, class B> Problem problem(Case c, ElementType aType, bool transposed, A a, B b) const {
    return makeProblem(packedLayout(set().features, kind().bType, kind().inF32), c, aType, kind().bType,
                       kind().aScaled, kind().bScaled, transposed, a, b);
  }
  Result run(const Problem &p, int64_t pieces = 1) const {
    return test::run(set(), set().*kind().gemm, p, pieces);
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, EverySet,
                         testing::Combine(testing::ValuesIn(runnableSets()), testing::ValuesIn(kKinds)),
                         [](const auto &info) {
                           return std::get<0>(info.param).name + "_" + std::get<1>(info.param).name;
                         });

int integer(int64_t i, int64_t j, int salt) { return int((i * 31 + j * 17 + i * j % 7 + salt) % 9) - 4; }

TEST_P(EverySet, ExactIntegers) {
  for (const Case c : kCases)
    for (const ElementType aType : kind().aTypes)
      for (const bool transposed : {false, true}) {
        const Problem p = problem(
            c, aType, transposed, [](int64_t i, int64_t j) { return integer(i, j, 1); },
            [](int64_t i, int64_t j) { return integer(i, j, 5); });
        const Result found = run(p);
        for (int64_t i = 0; i < c.m; ++i)
          for (int64_t j = 0; j < c.n; ++j)
            ASSERT_EQ(double(found.values[i * c.n + j]), expectedAt(p, i, j))
                << c.m << "x" << c.n << "x" << c.k << " at " << i << "," << j << " " << mlir_name(aType)
                << (transposed ? " transposed" : "");
      }
}

// The same bits however the workgroups are split, and whatever the number of rows beside a row.
TEST_P(EverySet, SplitsAndRowCountsDoNotMatter) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> values(1 << 16);
  for (float &v : values)
    v = normal(random);
  const auto a = [&](int64_t i, int64_t j) { return values[(i * 257 + j * 3) & 0xFFFF]; };
  const auto b = [&](int64_t i, int64_t j) { return values[(i * 91 + j * 1021 + 5) & 0xFFFF]; };
  const ElementType aType = kind().aTypes[0];
  const Problem whole = problem({110, 330, 600}, aType, false, a, b);
  const Result once = run(whole);
  for (const int64_t pieces : {2, 3, 12})
    EXPECT_EQ(std::memcmp(run(whole, pieces).values.data(), once.values.data(), 4 * once.values.size()), 0)
        << pieces;
  for (const int64_t m : {1, 2, 3, 4, 5, 9, 13}) {
    const Result few = run(problem({m, 330, 600}, aType, false, a, b));
    EXPECT_EQ(std::memcmp(few.values.data(), once.values.data(), 4 * few.values.size()), 0) << m << " rows";
  }
  double error = 0;
  for (int64_t i = 0; i < 110; i += 7)
    for (int64_t j = 0; j < 330; j += 11) {
      double sum = 0, size = 0;
      for (int64_t k = 0; k < 600; ++k) {
        const auto as_kernel = [&](ElementType type, float x) {
          const bool rounds = kind().gemm == &KernelSet::bf16Gemm || kind().gemm == &KernelSet::bf16E4m3Gemm;
          const ElementType t = type == F32 && rounds ? BF16 : type;
          return double(decode(t, encode(t, x)));
        };
        double x = as_kernel(aType, a(i, k)) * double(decode(kind().bType, encode(kind().bType, b(k, j))));
        if (whole.aScaled)
          x *= double(whole.aScales[i * whole.kBlocks() + k / 128]);
        if (whole.bScaled)
          x *= double(whole.bScales[j / 128 * whole.kBlocks() + k / 128]);
        sum += x;
        size += std::fabs(x);
      }
      error = std::max(error, std::fabs(double(once.values[i * 330 + j]) - sum) / size);
    }
  EXPECT_LT(error, 600 * 0x1p-25);
}

TEST_P(EverySet, EveryCodeOfTheWeights) {
  if (kind().bType == F32)
    return;
  const bool is8 = kind().bType == F8E4M3FN;
  const int64_t n = is8 ? 256 : 4096; // every e4m3 code; every 16th bf16 code
  for (const int64_t m : {1, 4, 6, 13}) {
    // A is the unit vector of k = 3: C's row is the weights' row 3.
    Problem p = problem(
        {m, n, 9}, kind().aTypes[0], false, [](int64_t, int64_t j) { return j == 3; },
        [](int64_t, int64_t) { return 0; });
    for (int64_t j = 0; j < n; ++j) {
      const uint16_t code = uint16_t(is8 ? j : j * 16 + 8);
      std::memcpy(&p.b[(3 * n + j) * bytes_of(kind().bType)], &code, bytes_of(kind().bType));
    }
    pack(p.layout, {9, n, n, 1}, p.b.data(), p.packed.data());
    const Result found = run(p);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        const float code = decode(kind().bType, uint32_t(is8 ? j : j * 16 + 8));
        if (std::fabs(code) < 0x1p-126f)
          continue; // bf16 subnormals: vdpbf16ps takes them for zeros
        float expected = code;
        if (p.aScaled)
          expected *= p.aScales[i];
        if (p.bScaled)
          expected *= p.bScales[j / 128];
        const float value = found.values[i * n + j];
        ASSERT_TRUE(value == expected || (std::isnan(value) && std::isnan(expected)))
            << j << ": " << value << " != " << expected << " with " << m << " rows";
      }
  }
}

TEST_P(EverySet, EveryCodeOfTheActivations) {
  for (const ElementType aType : kind().aTypes) {
    if (aType == F32)
      continue;
    const bool is8 = aType == F8E4M3FN;
    const int64_t m = is8 ? 256 : 2048;
    Problem p = problem(
        {m, 3, 5}, aType, false, [](int64_t, int64_t) { return 0; },
        [](int64_t i, int64_t) { return i == 2 ? 1 : 0; });
    for (int64_t i = 0; i < m; ++i) {
      const uint16_t code = uint16_t(is8 ? i : i * 32 + 16);
      std::memcpy(&p.a[(i * p.aRowStride + 2) * bytes_of(aType)], &code, bytes_of(aType));
    }
    const Result found = run(p);
    for (int64_t i = 0; i < m; ++i) {
      float expected = decode(aType, uint32_t(is8 ? i : i * 32 + 16));
      if (std::fabs(expected) < 0x1p-126f && expected != 0)
        continue;
      if (aType == F16 && kind().bType != F32 && !kind().inF32)
        expected = decode_bf16(encode_bf16(expected));
      if (p.aScaled)
        expected *= p.aScales[i];
      if (p.bScaled)
        expected *= p.bScales[0];
      const float value = found.values[i * 3 + 1];
      ASSERT_TRUE(value == expected || (std::isnan(value) && std::isnan(expected)))
          << i << ": " << value << " != " << expected << " " << mlir_name(aType);
    }
  }
}

TEST_P(EverySet, SpecialValues) {
  // NaN and Inf reach exactly their own row; zeros stay zeros; the largest finite values do not overflow on
  // the way.
  const ElementType aType = kind().aTypes[0];
  const float big = aType == F8E4M3FN ? 448.0f : 0x1p60f;
  for (const int64_t m : {2, 14}) {
    Problem p = problem(
        {m, 40, 200}, aType, false, [&](int64_t i, int64_t j) { return i == 1 ? (j % 2 ? big : -big) : 0; },
        [](int64_t, int64_t) { return 2; });
    put(p.a, aType, 7, NAN);
    const Result found = run(p);
    for (int64_t j = 0; j < 40; ++j) {
      EXPECT_TRUE(std::isnan(found.values[j]));
      for (int64_t i = 1; i < m; ++i)
        EXPECT_EQ(found.values[i * 40 + j], 0) << i;
    }
  }
}

TEST_P(EverySet, EmptyRange) {
  const Problem p = problem(
      {5, 40, 8}, kind().aTypes[0], false, [](int64_t, int64_t) { return 1; },
      [](int64_t, int64_t) { return 1; });
  Result result(5, 40);
  void *bindings[] = {&result};
  (set().*kind().gemm)(p.a.data(), int64_t(p.aType), p.aRowStride, 1, p.aScales.data(), 1, 1, p.packed.data(),
                       p.bScales.data(), 1, 1, 5, 40, 8, 1, 1, nullptr, bindings, nullptr, storeResult);
  (set().*kind().gemm)(p.a.data(), int64_t(p.aType), p.aRowStride, 1, p.aScales.data(), 1, 1, p.packed.data(),
                       p.bScales.data(), 1, 1, 0, 40, 8, 0, 0, nullptr, bindings, nullptr, storeResult);
  for (const int w : result.writes)
    EXPECT_EQ(w, 0);
}

} // namespace
} // namespace quaver::x86::test
