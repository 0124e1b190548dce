#include "compiler/Codegen/X86/Heuristics/MatmulHeuristics.h"

#include <gtest/gtest.h>

namespace quaver::x86 {
namespace {

using enum ElementType;

std::string symbol(MatmulDesc d) {
  std::string refusal;
  const auto c = chooseMatmul(d, refusal);
  return c ? c->symbol : "refused: " + refusal;
}

TEST(MatmulHeuristics, Symbols) {
  const auto set = FeatureSet::Avx512Bf16;
  EXPECT_EQ(symbol({FeatureSet::Avx2, F32, F32, RhsSource::Packed, false, 8, 8}), "avx2_f32_gemm");
  EXPECT_EQ(symbol({FeatureSet::Avx512, F16, F32, RhsSource::Packed, false, 8, 8}), "avx512_f32_gemm");
  EXPECT_EQ(symbol({set, F32, BF16, RhsSource::Packed, true, 8, 8}), "avx512_bf16_bf16_gemm");
  EXPECT_EQ(symbol({set, BF16, F8E4M3FN, RhsSource::Packed, true, 8, 8}), "avx512_bf16_bf16_e4m3_gemm");
  EXPECT_EQ(symbol({set, F8E4M3FN, F8E4M3FN, RhsSource::Packed, true, 8, 8}), "avx512_bf16_e4m3_e4m3_gemm");
  EXPECT_EQ(symbol({set, F16, F16, RhsSource::Packed, false, 8, 8}), "avx512_bf16_f16_gemm");
  EXPECT_EQ(symbol({set, F32, F8E4M3FN, RhsSource::Packed, false, 8, 8}), "avx512_bf16_f32_e4m3_gemm");
  EXPECT_EQ(symbol({set, F8E4M3FN, F8E4M3FN, RhsSource::Packed, false, 8, 8, true}), "avx512_bf16_mx32_gemm");
  EXPECT_EQ(symbol({set, F32, F32, RhsSource::Strided}), "avx512_bf16_batched_matmul_f32");
  EXPECT_EQ(symbol({set, BF16, BF16, RhsSource::Strided, true}), "avx512_bf16_batched_matmul_bf16");
}

TEST(MatmulHeuristics, RefusesWithAReason) {
  const auto set = FeatureSet::Avx2;
  EXPECT_EQ(symbol({set, F8E4M3FN, BF16, RhsSource::Packed, true, 8, 8}),
            "refused: e4m3 activations are multiplied only by e4m3 weights, not e4m3 x bf16");
  EXPECT_EQ(symbol({set, F32, F8E5M2, RhsSource::Packed, true, 8, 8}),
            "refused: no x86 kernel multiplies f32 x e5m2");
  EXPECT_EQ(symbol({set, F64, F32, RhsSource::Packed, false, 8, 8}),
            "refused: no x86 kernel multiplies f64 x f32");
  EXPECT_EQ(symbol({set, F32, F32, RhsSource::Packed, true, 8, 8}),
            "refused: f32 weights cannot be multiplied in bf16: cast them to bf16 first");
  EXPECT_EQ(symbol({set, F32, F32, RhsSource::Packed}), "refused: a packed weight has constant sizes");
  EXPECT_EQ(symbol({set, F8E4M3FN, F8E4M3FN, RhsSource::Strided}),
            "refused: no x86 kernel multiplies activations e4m3 x e4m3: dequantize them first");
}

TEST(MatmulHeuristics, Launch) {
  std::string refusal;
  const auto c =
      chooseMatmul({FeatureSet::Avx512Bf16, BF16, F8E4M3FN, RhsSource::Packed, true, 4096, 14336}, refusal);
  ASSERT_TRUE(c);
  EXPECT_EQ(layoutName(c->layout), "panel32x2_e4m3");
  EXPECT_EQ(c->rowsPerGroup, 96);
  EXPECT_EQ(c->columnsPerGroup, 64);
  EXPECT_EQ(c->grain, 8);
  EXPECT_GE(c->scratchBytes, 4 * 4 * 14336 / 2);
  EXPECT_EQ(c->print(), "avx512_bf16_bf16_e4m3_gemm: groups of 96x64, scratch " +
                            std::to_string(c->scratchBytes) +
                            " bytes, grain 8 (bf16 pairs by vdpbf16ps, weights in panel32x2_e4m3)");
  const auto small = chooseMatmul({FeatureSet::Avx2, F32, F32, RhsSource::Packed, false, 384, 384}, refusal);
  EXPECT_EQ(small->grain, 1);
  EXPECT_EQ(chooseQuantize1x128(FeatureSet::Avx2, 384).grain, 4);
  EXPECT_EQ(chooseQuantize1x128(FeatureSet::Avx2, 14336).grain, 1);
}

TEST(MatmulHeuristics, Targets) {
  EXPECT_EQ(featureSetOfTarget("x86-64-v3"), FeatureSet::Avx2);
  EXPECT_EQ(featureSetOfTarget("x86-64-v4+bf16"), FeatureSet::Avx512Bf16);
  EXPECT_FALSE(featureSetOfTarget("sm_90a"));
}

} // namespace
} // namespace quaver::x86
