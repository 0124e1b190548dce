// Speed of the x86 kernels on one core, beside the multiply-add peak and the read bandwidth measured in the
// same run. Kernels are included, not linked: they are inlined with constant sizes here as in a dispatch.
#include "compiler/Codegen/X86/Kernels/batched_matmul_bf16.cpp"
#include "compiler/Codegen/X86/Kernels/batched_matmul_f32.cpp"
#include "compiler/Codegen/X86/Kernels/bf16_e4m3_gemm.cpp"
#include "compiler/Codegen/X86/Kernels/bf16_gemm.cpp"
#include "compiler/Codegen/X86/Kernels/e4m3_e4m3_gemm.cpp"
#include "compiler/Codegen/X86/Kernels/f32_gemm.cpp"
#include "compiler/Codegen/X86/Kernels/pack.h"
#include "compiler/Codegen/X86/Kernels/quantize_1x128.cpp"

#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

using namespace quaver;
using namespace quaver::x86;
namespace kernels = quaver::x86::QUAVER_SET_NAMESPACE;
using kernels::kGeometry;

// As an f32 output without bias: one store.
static void storeF32(const float *sums, int64_t batch, int64_t row, int64_t column, int64_t n,
                     Bindings bindings, Constants constants) {
  std::memcpy(static_cast<float *>(bindings[0]) + (batch * constants[0] + row) * constants[1] + column, sums,
              size_t(n) * 4);
}
static int64_t denseBatches(int64_t operand, int64_t batch, Constants constants) {
  return batch * constants[2 + operand];
}

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// f32 multiply-adds of independent accumulators, GFLOP/s.
double measurePeak() {
  using namespace kernels;
  constexpr int kSums = kWidth == 8 ? 12 : 24, kRounds = 400000;
  F32x sums[kSums];
  for (F32x &s : sums)
    s = zero();
  F32x x = broadcast(1.1f), y = broadcast(0.9f);
  double best = 1e9;
  for (int repeat = 0; repeat < 20; ++repeat) {
    const double start = seconds();
    for (int i = 0; i < kRounds; ++i) {
      asm volatile("" : "+v"(x), "+v"(y));
      QUAVER_UNROLLED
      for (int s = 0; s < kSums; ++s)
        sums[s] = fma(x, y, sums[s]);
    }
    const double time = seconds() - start;
    best = time < best ? time : best;
  }
  for (F32x &s : sums)
    asm volatile("" ::"v"(s));
  return 2.0 * kWidth * kSums * kRounds / best / 1e9;
}

// Sequential reads of 256 MB, GB/s.
double measureBandwidth() {
  using namespace kernels;
  std::vector<float> data(64 << 20, 1.0f);
  double best = 1e9;
  for (int repeat = 0; repeat < 4; ++repeat) {
    const double start = seconds();
    F32x sums[8];
    for (F32x &s : sums)
      s = zero();
    for (size_t i = 0; i < data.size(); i += 8 * kWidth)
      QUAVER_UNROLLED
    for (int s = 0; s < 8; ++s)
      sums[s] = add(sums[s], load(&data[i + s * kWidth]));
    for (F32x &s : sums)
      asm volatile("" ::"v"(s));
    const double time = seconds() - start;
    best = time < best ? time : best;
  }
  return double(data.size()) * 4 / best / 1e9;
}

double gPeak = 0;

void report(benchmark::State &state, double flops, double bytes) {
  using benchmark::Counter;
  const double n = double(state.iterations());
  state.counters["GFLOP/s"] = Counter(flops * n / 1e9, Counter::kIsRate);
  state.counters["of_f32_peak"] = Counter(flops * n / 1e9 / gPeak, Counter::kIsRate);
  state.counters["GB/s"] = Counter(bytes * n / 1e9, Counter::kIsRate);
}

// Packed weights of one format, several copies so that a matrix-vector product streams them from memory.
struct Operands {
  std::vector<uint8_t> a, b;
  std::vector<float> aScales, bScales, c;
  std::vector<char> scratch;
  int64_t copies, packedBytes;
  Operands(ElementType aType, ElementType bType, int64_t m, int64_t n, int64_t k) {
    const PackedLayout layout = packedLayout(QUAVER_FEATURE_SET, bType);
    packedBytes = x86::packedBytes(layout, k, n);
    copies = m > 4 ? 1 : 1 + (256 << 20) / packedBytes;
    a.assign(m * k * bytes_of(aType), 0x3C); // small finite numbers in every format
    b.assign(packedBytes * copies, 0x3C);
    aScales.assign(m * ceilDiv(k, 128), 0.5f);
    bScales.assign(ceilDiv(n, 128) * ceilDiv(k, 128), 0.5f);
    c.assign(m * n, 0.0f);
    scratch.resize(scratchBytes(kGeometry, k));
  }
};

#define GEMM_BENCH(name, kernel, aType, bType)                                                               \
  template <int64_t kN, int64_t kK> void name(benchmark::State &state) {                                     \
    const int64_t m = state.range(0),                                                                        \
                  groups = ceilDiv(m, kGeometry.blockRows) * ceilDiv(kN, kGeometry.groupColumns);            \
    Operands o(ElementType::aType, ElementType::bType, m, kN, kK);                                           \
    void *bindings[] = {o.c.data()};                                                                         \
    const int64_t constants[] = {m, kN};                                                                     \
    int64_t copy = 0;                                                                                        \
    for (auto _ : state) {                                                                                   \
      const uint8_t *b = o.b.data() + copy * o.packedBytes;                                                  \
      QUAVER_CONCAT(QUAVER_SET_NAMESPACE, kernel)                                                            \
      (o.a.data(), int64_t(ElementType::aType), kK, 1, o.aScales.data(), ceilDiv(kK, 128), 1, b,             \
       o.bScales.data(), ceilDiv(kK, 128), 1, m, kN, kK, 0, groups, o.scratch.data(), bindings, constants,   \
       storeF32);                                                                                            \
      copy = (copy + 1) % o.copies;                                                                          \
    }                                                                                                        \
    report(state, 2.0 * double(m) * kN * kK, double(o.packedBytes));                                         \
  }                                                                                                          \
  BENCHMARK(name<4096, 4096>)                                                                                \
      ->Arg(256)                                                                                             \
      ->Arg(16)                                                                                              \
      ->Arg(1)                                                                                               \
      ->Arg(4)                                                                                               \
      ->Unit(benchmark::kMillisecond)                                                                        \
      ->MinTime(0.3);                                                                                        \
  BENCHMARK(name<384, 1536>)->Arg(128)->Unit(benchmark::kMillisecond)->MinTime(0.1);                         \
  BENCHMARK(name<4096, 14336>)->Arg(1)->Unit(benchmark::kMillisecond)->MinTime(0.3);

GEMM_BENCH(f32_gemm, f32_gemm, F32, F32)
GEMM_BENCH(bf16_gemm, bf16_gemm, F32, BF16)
GEMM_BENCH(bf16_e4m3_gemm, bf16_e4m3_gemm, BF16, F8E4M3FN)
GEMM_BENCH(e4m3_e4m3_gemm, e4m3_e4m3_gemm, F8E4M3FN, F8E4M3FN)

// Attention's two products, heads x [s, d]: scores = q * k^T (K contiguous), values = p * v (columns
// contiguous).
#define BATCHED_BENCH(name, kernel, type)                                                                    \
  template <bool kTransposed> void name(benchmark::State &state) {                                           \
    const int64_t heads = 12, rows = state.range(0), s = state.range(1), d = state.range(2);                 \
    const int64_t n = kTransposed ? s : d, k = kTransposed ? d : s;                                          \
    const int64_t bytes = bytes_of(ElementType::type);                                                       \
    std::vector<uint8_t> a(heads * rows * k * bytes, 0x3C), b(heads * k * n * bytes, 0x3C);                  \
    std::vector<float> c(heads * rows * n);                                                                  \
    std::vector<char> scratch(batchedScratchBytes(kGeometry));                                               \
    void *bindings[] = {c.data()};                                                                           \
    const int64_t constants[] = {rows, n, rows * k, k * n};                                                  \
    const int64_t groups = heads * ceilDiv(rows, kGeometry.blockRows) * ceilDiv(n, kGeometry.mergedColumns); \
    for (auto _ : state)                                                                                     \
      QUAVER_CONCAT(QUAVER_SET_NAMESPACE, kernel)                                                            \
    (a.data(), int64_t(ElementType::type), k, 1, b.data(), int64_t(ElementType::type), kTransposed ? 1 : n,  \
     kTransposed ? k : 1, rows, n, k, 0, groups, scratch.data(), bindings, constants, storeF32,              \
     denseBatches);                                                                                          \
    report(state, 2.0 * double(heads * rows) * double(n * k), double(heads * k * n * bytes));                \
  }                                                                                                          \
  BENCHMARK(name<true>)->Args({128, 128, 32})->Args({512, 512, 64})->Args({1, 2048, 128})->MinTime(0.1);     \
  BENCHMARK(name<false>)->Args({128, 128, 32})->Args({512, 512, 64})->Args({1, 2048, 128})->MinTime(0.1);

BATCHED_BENCH(batched_matmul_f32, batched_matmul_f32, F32)
BATCHED_BENCH(batched_matmul_bf16, batched_matmul_bf16, BF16)

void quantize_1x128(benchmark::State &state) {
  const int64_t rows = 256, k = 4096;
  const ElementType type = ElementType(state.range(0));
  std::vector<uint8_t> x(rows * k * bytes_of(type), 0x3C), codes(rows * k);
  std::vector<float> scales(rows * k / 128);
  for (auto _ : state)
    QUAVER_CONCAT(QUAVER_SET_NAMESPACE, quantize_1x128)
  (x.data(), int64_t(type), k, codes.data(), k, scales.data(), k / 128, 1, 0, k, 0,
   rows * k / kQuantizeColumns);
  report(state, 0, double(x.size()));
}
BENCHMARK(quantize_1x128)->Arg(kTypeF32)->Arg(kTypeBF16)->MinTime(0.1);

} // namespace

int main(int argc, char **argv) {
  gPeak = measurePeak();
  std::printf("one core: %.0f GFLOP/s of f32 multiply-add, %.1f GB/s of sequential reads\n", gPeak,
              measureBandwidth());
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
