#include "runtime/numerics/scale_recipe.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace quaver {
namespace {

using enum ElementType;
constexpr ScaleRecipe kRecipes[] = {ScaleRecipe::PerTensor, ScaleRecipe::PerChannel,   ScaleRecipe::Row1x128,
                                    ScaleRecipe::Col128x1,  ScaleRecipe::Block128x128, ScaleRecipe::Mx32};

TEST(ScaleRecipe, Tokens) {
  for (const ScaleRecipe recipe : kRecipes)
    EXPECT_EQ(recipe_from_token(token(recipe)), recipe);
  EXPECT_EQ(token(ScaleRecipe::Block128x128), "128x128");
  EXPECT_FALSE(recipe_from_token("64x64"));
}

TEST(ScaleRecipe, ScaleOf) {
  const ScaleSpec plain = default_spec(ScaleRecipe::Row1x128);
  EXPECT_EQ(scale_of(plain, 448), 1);
  EXPECT_EQ(scale_of(plain, 1), 1.0f / 448);
  EXPECT_EQ(scale_of(plain, 0), 1);
  EXPECT_EQ(scale_of(plain, 0x1p-149f), 0x1p-126f);
  EXPECT_EQ(scale_of(plain, INFINITY), 1);
  EXPECT_EQ(scale_of(plain, NAN), 1);
  ScaleSpec power = plain;
  power.rounding = ScaleRounding::PowerOfTwo;
  EXPECT_EQ(scale_of(power, 448), 1);
  EXPECT_EQ(scale_of(power, 449), 2);
  EXPECT_EQ(scale_of(power, 224), 0.5f);
  EXPECT_EQ(scale_of(power, 1), 0x1p-8f);
  power.element = F8E5M2;
  EXPECT_EQ(scale_of(power, 57344), 1);
  const ScaleSpec mx = default_spec(ScaleRecipe::Mx32);
  EXPECT_EQ(scale_of(mx, 511), 1); // floor: 511 saturates to 448
  EXPECT_EQ(scale_of(mx, 512), 2);
  EXPECT_EQ(scale_of(mx, 0), 1);
  EXPECT_EQ(scale_of(mx, 0x1p-140f), 0x1p-127f);
  EXPECT_TRUE(std::isnan(scale_of(mx, INFINITY)));
  EXPECT_FALSE(spec_error({ScaleRecipe::Mx32, F8E4M3FN, F8E8M0FNU, ScaleRounding::None}).empty());
  EXPECT_FALSE(spec_error({ScaleRecipe::Mx32, BF16}).empty());
}

TEST(ScaleRecipe, EveryScaleIsFittingForEveryAmax) {
  for (uint32_t code = 1; code < 0x7F80; ++code) {
    const float amax = decode_bf16(uint16_t(code));
    for (const ElementType element : {F8E4M3FN, F8E5M2})
      for (const ScaleRounding rounding : {ScaleRounding::None, ScaleRounding::PowerOfTwo}) {
        ScaleSpec spec = default_spec(ScaleRecipe::PerTensor, element);
        spec.rounding = rounding;
        const float scale = scale_of(spec, amax), max = float(format_info(element).max_value());
        ASSERT_GE(scale, 0x1p-126f);
        ASSERT_LE(amax / scale, max * (1 + 0x1p-22f));
        if (rounding == ScaleRounding::PowerOfTwo) {
          ASSERT_EQ(std::bit_cast<uint32_t>(scale) & 0x7FFFFF, 0u);
        }
      }
  }
}

// Quantizes and dequantizes a ragged strided view and compares with the definition, element by element.
TEST(ScaleRecipe, RaggedViewsByDefinition) {
  constexpr int64_t kRows = 131, kColumns = 261, kStride = 300;
  std::vector<float> x(kRows * kStride, 1e9f);
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t c = 0; c < kColumns; ++c)
      x[r * kStride + c] = float((r * 7919 + c * 104729) % 2003 - 1001) * std::ldexp(1.0f, int(r % 5) - 9);
  std::vector<uint16_t> x16(x.size());
  convert(F32, x.data(), BF16, x16.data(), x.size());
  for (const ScaleRecipe recipe : kRecipes)
    for (const ElementType element : {F8E4M3FN, F8E5M2})
      for (const ElementType type : {F32, BF16})
        for (const int axis : {0, 1}) {
          ScaleSpec spec = default_spec(recipe, element);
          spec.channel_axis = axis;
          const BlockShape block = block_shape(spec, kRows, kColumns),
                           shape = scale_shape(spec, kRows, kColumns);
          std::vector<uint8_t> codes(kRows * kColumns), scale_codes(shape.rows * shape.columns);
          std::vector<float> scales(shape.rows * shape.columns), back(kRows * kColumns);
          const bool mx = recipe == ScaleRecipe::Mx32;
          void *out_scales = mx ? static_cast<void *>(scale_codes.data()) : scales.data();
          const void *data = type == F32 ? static_cast<const void *>(x.data()) : x16.data();
          quantize(spec, type, data, {kRows, kColumns, kStride}, codes.data(), kColumns, out_scales);
          dequantize(spec, codes.data(), {kRows, kColumns, kColumns}, out_scales, back.data(), kColumns);
          const auto at = [&](int64_t r, int64_t c) {
            return type == F32 ? x[r * kStride + c] : decode_bf16(x16[r * kStride + c]);
          };
          std::vector<float> amax(scales.size());
          for (int64_t r = 0; r < kRows; ++r)
            for (int64_t c = 0; c < kColumns; ++c) {
              float &a = amax[r / block.rows * shape.columns + c / block.columns];
              a = std::fmax(a, std::fabs(at(r, c)));
            }
          for (int64_t r = 0; r < kRows; ++r)
            for (int64_t c = 0; c < kColumns; ++c) {
              const int64_t s = r / block.rows * shape.columns + c / block.columns;
              const float scale = mx ? decode_e8m0(scale_codes[s]) : scales[s];
              ASSERT_EQ(scale, scale_of(spec, amax[s]));
              const uint8_t code = uint8_t(encode(element, at(r, c) / scale));
              ASSERT_EQ(codes[r * kColumns + c], code);
              ASSERT_EQ(back[r * kColumns + c], decode(element, code) * scale);
            }
        }
}

TEST(ScaleRecipe, SpecialBlocks) {
  std::vector<float> x(4 * 128, 0.0f);
  x[1] = -0.0f;
  x[128] = 1000, x[129] = INFINITY;
  x[256] = NAN, x[257] = -3;
  x[384] = 0x1p-149f;
  std::vector<uint8_t> codes(x.size());
  std::vector<float> scales(4);
  const ScaleSpec spec = default_spec(ScaleRecipe::Row1x128);
  quantize(spec, F32, x.data(), {4, 128, 128}, codes.data(), 128, scales.data());
  EXPECT_EQ(scales, (std::vector<float>{1, 1, 1, 0x1p-126f}));
  EXPECT_EQ(codes[0], 0x00);
  EXPECT_EQ(codes[1], 0x80);
  EXPECT_EQ(codes[128], 0x7E);
  EXPECT_EQ(codes[129], 0x7E);
  EXPECT_TRUE(is_nan_code(F8E4M3FN, codes[256]));
  EXPECT_EQ(decode_e4m3(codes[257]), -3);
  EXPECT_EQ(codes[384], 0x00); // 2^-23 of a scale of 2^-126
  std::vector<uint8_t> mx_scales(16);
  quantize(default_spec(ScaleRecipe::Mx32), F32, x.data(), {4, 128, 128}, codes.data(), 128,
           mx_scales.data());
  EXPECT_EQ(mx_scales[0], 127);
  EXPECT_EQ(mx_scales[4], 0xFF);
  std::vector<float> back(x.size());
  dequantize(default_spec(ScaleRecipe::Mx32), codes.data(), {4, 128, 128}, mx_scales.data(), back.data(),
             128);
  EXPECT_TRUE(std::isnan(back[130]));
  EXPECT_EQ(back[160], 0);
}

} // namespace
} // namespace quaver
