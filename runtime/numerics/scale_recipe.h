// Scale recipes: which elements of a 2-D view share one scale, how that scale follows from their largest
// magnitude, and quantize / dequantize by it. Pure functions; the one statement of the rules that every
// kernel must reproduce.
//
//   value = code * scale        code = saturating cast of (x / scale), a true f32 division, rounded to
//   nearest even
//
// Special blocks, chosen so that a kernel needs one integer maximum of |x| bits and no second look at the
// data:
//   * all zeros              scale 1 (E8M0: code 127), all codes 0 with the sign of x
//   * an Inf or a NaN inside scale 1 (as TransformerEngine's current scaling): Inf saturates, NaN stays NaN,
//   finite
//                            values are cast as they are. E8M0: scale 0xFF (NaN), as OCP MX says, the block
//                            is lost.
//   * tiny amax              an f32 scale is never below 2^-126, so that x / scale needs no f32 subnormals
#pragma once

#include "runtime/numerics/codec.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace quaver {

enum class ScaleRecipe : uint8_t {
  PerTensor,    // one scale
  PerChannel,   // one a row (channel_axis 0) or one a column (channel_axis 1)
  Row1x128,     // one per 128 neighbours along a row: activations
  Col128x1,     // one per 128 neighbours along a column: activations of a weight gradient
  Block128x128, // weights
  Mx32,         // one E8M0 scale per 32 neighbours along a row (OCP MX)
};
// "per_tensor", "per_channel", "1x128", "128x1", "128x128", "mx32": spelled so in attributes, kernels and
// policy files.
std::string_view token(ScaleRecipe recipe);
std::optional<ScaleRecipe> recipe_from_token(std::string_view token);

enum class ScaleRounding : uint8_t {
  None,       // amax / max, f32
  PowerOfTwo, // the next power of two at or above amax / max (RCEIL where the scale is E8M0)
  Floor,      // 2^(floor(log2 amax) - floor(log2 max)): OCP MX; the largest elements may saturate
};

struct ScaleSpec {
  ScaleRecipe recipe = ScaleRecipe::PerTensor;
  ElementType element = ElementType::F8E4M3FN;  // or F8E5M2
  ElementType scale_type = ElementType::F32;    // F32, or F8E8M0FNU
  ScaleRounding rounding = ScaleRounding::None; // E8M0 scales need PowerOfTwo or Floor
  int channel_axis = 0;                         // PerChannel only
};
// The usual spec of a recipe: f32 scales unrounded; mx32: E8M0, Floor.
ScaleSpec default_spec(ScaleRecipe recipe, ElementType element = ElementType::F8E4M3FN);
// Empty if `spec` is consistent, else one clause saying what is not.
std::string_view spec_error(const ScaleSpec &spec);

// Elements under one scale. The last block of a row or column may be short.
struct BlockShape {
  int64_t rows, columns;
};
BlockShape block_shape(const ScaleSpec &spec, int64_t rows, int64_t columns);
// Shape of the scales of a rows x columns view, row-major: ceil(rows / block.rows) x ceil(columns /
// block.columns).
BlockShape scale_shape(const ScaleSpec &spec, int64_t rows, int64_t columns);

// The scale of a block with this largest magnitude (NaN or Inf if the block holds one), as f32. E8M0 scales
// come back exactly representable in E8M0, or NaN.
float scale_of(const ScaleSpec &spec, float amax);

// Code of one element under a scale: saturating cast of x / scale.
inline uint8_t quantize_element(ElementType element, float x, float scale) {
  return uint8_t(encode(element, x / scale));
}

// A row-major 2-D view; strides in elements.
struct View2D {
  int64_t rows, columns, row_stride;
};

// Quantizes `x` of type F32, BF16 or F16 (widened exactly to f32) into codes and scales. `scales` is dense,
// of scale_shape, of spec.scale_type.
void quantize(const ScaleSpec &spec, ElementType x_type, const void *x, View2D x_view, uint8_t *codes,
              int64_t code_row_stride, void *scales);

// out = code * scale, one f32 multiplication.
void dequantize(const ScaleSpec &spec, const uint8_t *codes, View2D code_view, const void *scales, float *out,
                int64_t out_row_stride);

} // namespace quaver
