#include "runtime/numerics/scale_recipe.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace quaver {
namespace {

constexpr std::string_view kTokens[] = {"per_tensor", "per_channel", "1x128", "128x1", "128x128", "mx32"};

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

float load_f32(ElementType type, const void *data, int64_t index) {
  const auto *bytes = static_cast<const std::byte *>(data) + index * bytes_of(type);
  float value;
  convert(type, bytes, ElementType::F32, &value, 1);
  return value;
}

void store_scale(ElementType type, void *scales, int64_t index, float scale) {
  if (type == ElementType::F32)
    static_cast<float *>(scales)[index] = scale;
  else
    static_cast<uint8_t *>(scales)[index] = encode_e8m0(scale);
}

float load_scale(ElementType type, const void *scales, int64_t index) {
  if (type == ElementType::F32)
    return static_cast<const float *>(scales)[index];
  return decode_e8m0(static_cast<const uint8_t *>(scales)[index]);
}

// Calls body(scale index, first row, last row, first column, last column) for every block.
template <class Body> void for_each_block(const ScaleSpec &spec, const View2D &view, Body &&body) {
  const BlockShape block = block_shape(spec, view.rows, view.columns);
  int64_t index = 0;
  for (int64_t r = 0; r < view.rows; r += block.rows)
    for (int64_t c = 0; c < view.columns; c += block.columns)
      body(index++, r, std::min(r + block.rows, view.rows), c, std::min(c + block.columns, view.columns));
}

} // namespace

std::string_view token(ScaleRecipe recipe) { return kTokens[int(recipe)]; }

std::optional<ScaleRecipe> recipe_from_token(std::string_view token) {
  for (int i = 0; i < int(std::size(kTokens)); ++i)
    if (kTokens[i] == token)
      return ScaleRecipe(i);
  return std::nullopt;
}

ScaleSpec default_spec(ScaleRecipe recipe, ElementType element) {
  ScaleSpec spec;
  spec.recipe = recipe;
  spec.element = element;
  if (recipe == ScaleRecipe::Mx32) {
    spec.scale_type = ElementType::F8E8M0FNU;
    spec.rounding = ScaleRounding::Floor;
  }
  return spec;
}

std::string_view spec_error(const ScaleSpec &spec) {
  if (spec.element != ElementType::F8E4M3FN && spec.element != ElementType::F8E5M2)
    return "codes must be f8E4M3FN or f8E5M2";
  if (spec.scale_type != ElementType::F32 && spec.scale_type != ElementType::F8E8M0FNU)
    return "scales must be f32 or f8E8M0FNU";
  if (spec.scale_type == ElementType::F8E8M0FNU && spec.rounding == ScaleRounding::None)
    return "f8E8M0FNU scales must be rounded to powers of two";
  if (spec.channel_axis != 0 && spec.channel_axis != 1)
    return "the channel axis of a 2-D view is 0 or 1";
  return {};
}

BlockShape block_shape(const ScaleSpec &spec, int64_t rows, int64_t columns) {
  const int64_t all_rows = std::max<int64_t>(rows, 1), all_columns = std::max<int64_t>(columns, 1);
  switch (spec.recipe) {
  case ScaleRecipe::PerTensor:
    return {all_rows, all_columns};
  case ScaleRecipe::PerChannel:
    return spec.channel_axis == 0 ? BlockShape{1, all_columns} : BlockShape{all_rows, 1};
  case ScaleRecipe::Row1x128:
    return {1, 128};
  case ScaleRecipe::Col128x1:
    return {128, 1};
  case ScaleRecipe::Block128x128:
    return {128, 128};
  case ScaleRecipe::Mx32:
    return {1, 32};
  }
  return {1, 1};
}

BlockShape scale_shape(const ScaleSpec &spec, int64_t rows, int64_t columns) {
  const BlockShape block = block_shape(spec, rows, columns);
  return {ceil_div(rows, block.rows), ceil_div(columns, block.columns)};
}

float scale_of(const ScaleSpec &spec, float amax) {
  assert(spec_error(spec).empty() && "scale_of: an inconsistent spec");
  const bool is_e8m0 = spec.scale_type == ElementType::F8E8M0FNU;
  if (!std::isfinite(amax))
    return is_e8m0 ? std::numeric_limits<float>::quiet_NaN() : 1.0f;
  if (amax == 0)
    return 1.0f;
  const float smallest = is_e8m0 ? 0x1p-127f : 0x1p-126f;
  if (spec.rounding == ScaleRounding::Floor) {
    const int max_exponent = spec.element == ElementType::F8E4M3FN ? 8 : 15;
    return std::fmax(std::ldexp(1.0f, std::ilogb(amax) - max_exponent), smallest);
  }
  const float scale = std::fmax(amax / float(format_info(spec.element).max_value()), smallest);
  if (spec.rounding == ScaleRounding::None)
    return scale;
  int exponent;
  const float fraction = std::frexp(scale, &exponent); // scale = fraction * 2^exponent, fraction in [0.5, 1)
  return std::ldexp(1.0f, fraction == 0.5f ? exponent - 1 : exponent);
}

void quantize(const ScaleSpec &spec, ElementType x_type, const void *x, View2D view, uint8_t *codes,
              int64_t code_row_stride, void *scales) {
  assert(spec_error(spec).empty() && "quantize: an inconsistent spec");
  assert((x_type == ElementType::F32 || x_type == ElementType::BF16 || x_type == ElementType::F16) &&
         "quantize: f32, bf16 or f16 data");
  for_each_block(spec, view, [&](int64_t index, int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
    uint32_t amax_bits = 0; // as integers, Inf and NaN are the largest
    for (int64_t r = r0; r < r1; ++r)
      for (int64_t c = c0; c < c1; ++c)
        amax_bits = std::max(
            amax_bits, std::bit_cast<uint32_t>(load_f32(x_type, x, r * view.row_stride + c)) & 0x7FFFFFFFu);
    const float scale = scale_of(spec, std::bit_cast<float>(amax_bits));
    store_scale(spec.scale_type, scales, index, scale);
    for (int64_t r = r0; r < r1; ++r)
      for (int64_t c = c0; c < c1; ++c)
        codes[r * code_row_stride + c] =
            quantize_element(spec.element, load_f32(x_type, x, r * view.row_stride + c), scale);
  });
}

void dequantize(const ScaleSpec &spec, const uint8_t *codes, View2D view, const void *scales, float *out,
                int64_t out_row_stride) {
  assert(spec_error(spec).empty() && "dequantize: an inconsistent spec");
  for_each_block(spec, view, [&](int64_t index, int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
    const float scale = load_scale(spec.scale_type, scales, index);
    for (int64_t r = r0; r < r1; ++r)
      for (int64_t c = c0; c < c1; ++c)
        out[r * out_row_stride + c] = decode(spec.element, codes[r * view.row_stride + c]) * scale;
  });
}

} // namespace quaver
