// The loop nest of all matrix kernels.
//
//   for each run of workgroups that share a row block (at most mergedColumns wide):
//     for each K block (blockSteps):
//       pack the rows of A                                    -> scratch, read from L1/L2 by every panel
//       for each panel: [decode its block -> scratch]; for each register tile of rows: multiply-add, sums in
//       scratch
//     epilogue, one call a row
//
// Each sum is formed over ascending k by one accumulator, whatever the tile, the row count or the split of
// workgroups: results do not depend on them. With 128x128 scales the sum of each 128 block is formed first,
// then sum = fma(block * a_scale, b_scale, sum).
#pragma once

#include "compiler/Codegen/X86/Kernels/operands.h"

namespace quaver::x86::QUAVER_SET_NAMESPACE {

// Mx: E8M0 scales of 32 neighbours in K on either side, which the operands are multiplied by before anything
// else.
enum class Scaling { None, Weights, Both, Mx };

// What distinguishes the kernels: the multiply-add, the panel format, whether f32 activations pass through
// bf16, scales.
template <class MacT, class PanelT, bool kRoundT, Scaling kScalingT> struct GemmKind {
  using Mac = MacT;
  using Panel = PanelT;
  static constexpr bool kRound = kRoundT;
  static constexpr Scaling kScaling = kScalingT;
  static constexpr int kBlockK = kGeometry.blockSteps * Mac::kPerStep;
  // Are sums multiplied by scales, one scale block after the other?
  static constexpr bool kScalesSums = kScaling == Scaling::Weights || kScaling == Scaling::Both;
  // Steps between additions to the sums: one scale block, or all of a K block.
  static constexpr int kChunkSteps = kScalesSums ? 128 / Mac::kPerStep : kGeometry.blockSteps;
};

struct ConvShape {
  int64_t height, width, kernelHeight, kernelWidth, strideY, strideX, padY, padX, dilationY, dilationX,
      outWidth;
};

struct GemmArguments {
  const uint8_t *a;
  int64_t aType, aRowStride, aColumnStride;
  const float *aScales;
  int64_t aScaleRowStride, aScaleKStride;
  const uint8_t *b;
  const float *bScales;
  int64_t bScaleNStride, bScaleKStride;
  int64_t m, n, k;
  float *scratch;
  Bindings bindings;
  Constants constants;
  Epilogue epilogue;
  // Batched products only.
  int64_t batch = 0;
  int64_t bType = 0, bRowStride = 0, bColumnStride = 0;
  const ConvShape *conv = nullptr; // convolutions only
};

constexpr int kTileRows = kGeometry.tileRows, kTileColumns = kGeometry.tileColumns;
constexpr int64_t kAStride = packedRowStride(kGeometry), kSumsStride = sumsRowStride(kGeometry);

template <class Kind> QUAVER_INLINE int64_t stepsOf(int64_t k) { return ceilDiv(k, Kind::Mac::kPerStep); }

template <class Kind>
QUAVER_INLINE const uint8_t *panelAt(const GemmArguments &g, int64_t panel, int64_t step) {
  return g.b + (panel * stepsOf<Kind>(g.k) + step) * Kind::Panel::kBytesPerStep;
}

template <class Kind> QUAVER_INLINE float scaleOfWeights(const GemmArguments &g, int64_t panel, int64_t k) {
  const float scale = g.bScales[panel * kTileColumns / 128 * g.bScaleNStride + k / 128 * g.bScaleKStride];
  return scale * Kind::Panel::kFactor; // an exact power of two
}

// 2^(e - 127) of each byte; NaN of 255.
QUAVER_INLINE F32x e8m0ToFloat(I32x e) {
  const I32x power = max32(shiftLeft<23>(e), splat(0x400000)); // 2^-127 is subnormal
  return floats(selectLess(splat(254), e, splat(0x7FC00000), power));
}

// Mx: scales of a panel's columns for the block of 32 that holds k.
template <class Kind>
QUAVER_INLINE Columns scalesOfColumns(const GemmArguments &g, int64_t panel, int64_t k) {
  const int64_t first = panel * kTileColumns, count = smaller(kTileColumns, g.n - first);
  const uint8_t *from =
      reinterpret_cast<const uint8_t *>(g.bScales) + k / 32 * g.bScaleKStride + first * g.bScaleNStride;
  alignas(64) int32_t e[kTileColumns];
  if (g.bScaleNStride == 1 && count == kTileColumns) {
    for (int64_t c = 0; c < kTileColumns; ++c)
      e[c] = from[c];
  } else {
    QUAVER_ROLLED
    for (int64_t c = 0; c < kTileColumns; ++c)
      e[c] = c < count ? from[c * g.bScaleNStride] : 127;
  }
  return {e8m0ToFloat(loadInts(e)), e8m0ToFloat(loadInts(e + kWidth))};
}

// Mx: decoded weights times their scales, exact: the factor first, which brings nothing near the limits of
// f32.
template <class Kind> QUAVER_INLINE Columns scaled(const Columns &b, const Columns &scales) {
  const F32x factor = broadcast(Kind::Panel::kFactor);
  return {mul(mul(b.left, factor), scales.left), mul(mul(b.right, factor), scales.right)};
}

// Mx: multiplies words [k0, k0 + count) of a packed row by the row's scales. k0 is a multiple of 32.
QUAVER_INLINE void scaleRow(const GemmArguments &g, int64_t row, int64_t k0, int64_t count, float *words) {
  if (!g.aScales)
    return;
  const uint8_t *scales = reinterpret_cast<const uint8_t *>(g.aScales) + row * g.aScaleRowStride;
  QUAVER_ROLLED
  for (int64_t i = 0; i < count; i += kWidth) {
    const F32x scale = e8m0ToFloat(splat(scales[(k0 + i) / 32 * g.aScaleKStride]));
    store(words + i, mul(load(words + i), scale));
  }
}

// What to fetch into the cache while computing: one piece of B a step, from `from` on, `stride` bytes apart.
// A stride of 0 fetches nothing new, at no cost and without a second copy of the loop.
struct Ahead {
  const uint8_t *from;
  int64_t stride;
};

// One register tile over `steps` of K: kRows x 2 vectors. Returns in `sums`, row-major with kSumsStride.
template <class Kind, bool kFetches, int kRows>
QUAVER_INLINE void tile(const GemmArguments &g, const float *a, const float *b, int64_t steps, float *sums,
                        bool isFirst, int64_t row, int64_t k, float bScale, Ahead ahead) {
  constexpr bool kContinues = !Kind::kScalesSums; // the accumulators are the sums themselves
  F32x acc[kRows][2];
  QUAVER_UNROLLED
  for (int r = 0; r < kRows; ++r) {
    acc[r][0] = kContinues && !isFirst ? load(sums + r * kSumsStride) : zero();
    acc[r][1] = kContinues && !isFirst ? load(sums + r * kSumsStride + kWidth) : zero();
  }
  QUAVER_UNROLLED_BY_4
  for (int64_t s = 0; s < steps; ++s) {
    const F32x left = load(b + s * kTileColumns), right = load(b + s * kTileColumns + kWidth);
    if constexpr (kFetches) {
      prefetch(ahead.from + s * ahead.stride);
      if constexpr (Kind::Panel::kBytesPerStep > 64)
        prefetch(ahead.from + s * ahead.stride + 64);
    }
    QUAVER_UNROLLED
    for (int r = 0; r < kRows; ++r) {
      const F32x x = broadcast(a[r * kAStride + s]);
      acc[r][0] = Kind::Mac::mac(acc[r][0], x, left);
      acc[r][1] = Kind::Mac::mac(acc[r][1], x, right);
    }
  }
  const F32x scale = broadcast(bScale);
  QUAVER_UNROLLED
  for (int r = 0; r < kRows; ++r) {
    float *out = sums + r * kSumsStride;
    if constexpr (Kind::kScaling == Scaling::Both) {
      // Rows beyond the matrix repeat its last row's scale; nobody reads their sums.
      const int64_t i = smaller(row + r, g.m - 1);
      const F32x rowScale = broadcast(g.aScales[i * g.aScaleRowStride + k / 128 * g.aScaleKStride]);
      acc[r][0] = mul(acc[r][0], rowScale);
      acc[r][1] = mul(acc[r][1], rowScale);
    }
    if constexpr (!kContinues) {
      acc[r][0] = fma(acc[r][0], scale, isFirst ? zero() : load(out));
      acc[r][1] = fma(acc[r][1], scale, isFirst ? zero() : load(out + kWidth));
    }
    store(out, acc[r][0]);
    store(out + kWidth, acc[r][1]);
  }
}

// All rows of the block against one panel block. Leftover rows take the next larger tile, whose extra rows
// are zeros.
template <class Kind, bool kFetches>
QUAVER_INLINE void rowsTimesPanel(const GemmArguments &g, const float *a, const float *b, int64_t steps,
                                  float *sums, bool isFirst, int64_t row, int64_t rows, int64_t k,
                                  float bScale, Ahead ahead) {
  constexpr int kMost = kTileRows, kMany = kTileRows * 2 / 3, kFew = kTileRows / 3;
  int64_t r = 0;
  QUAVER_ROLLED
  for (; rows - r > kMany; r += kMost) {
    tile<Kind, kFetches, kMost>(g, a, b, steps, sums, isFirst, row + r, k, bScale, ahead);
    a += kMost * kAStride;
    sums += kMost * kSumsStride;
    ahead.from += steps * ahead.stride;
  }
  const int64_t left = rows - r;
  if (left > kFew)
    tile<Kind, kFetches, kMany>(g, a, b, steps, sums, isFirst, row + r, k, bScale, ahead);
  else if (left > 1)
    tile<Kind, kFetches, kFew>(g, a, b, steps, sums, isFirst, row + r, k, bScale, ahead);
  else if (left == 1)
    tile<Kind, kFetches, 1>(g, a, b, steps, sums, isFirst, row + r, k, bScale, ahead);
}

template <class Kind>
QUAVER_INLINE void decodePanel(const uint8_t *from, int64_t steps, float *to, const uint8_t *ahead) {
  constexpr int kBytesPerStep = Kind::Panel::kBytesPerStep;
  int64_t s = 0;
  QUAVER_ROLLED
  for (; s + 2 <= steps; s += 2, to += 2 * kTileColumns) {
    QUAVER_UNROLLED
    for (int line = 0; line < 2 * kBytesPerStep; line += 64)
      prefetch(ahead + s * kBytesPerStep + line);
    Columns c[2];
    decodeTwo<typename Kind::Panel>(from + s * kBytesPerStep, c);
    QUAVER_UNROLLED
    for (int i = 0; i < 2; ++i) {
      store(to + i * kTileColumns, c[i].left);
      store(to + i * kTileColumns + kWidth, c[i].right);
    }
  }
  if (s < steps) {
    const Columns c = Kind::Panel::decode(from + s * kBytesPerStep);
    store(to, c.left);
    store(to + kWidth, c.right);
  }
}

// Where blocks of B come from: here, panels packed ahead. Returns words [steps][kTileColumns] of panel p,
// from `firstStep` on; `room` holds one block of a panel.
template <class Kind> struct PackedPanels {
  static constexpr bool kFetches = !Kind::Panel::kDecodes; // else decoding fetches
  QUAVER_INLINE const float *block(const GemmArguments &g, int64_t p, int64_t firstStep, int64_t steps,
                                   float *room, const uint8_t *ahead) {
    const uint8_t *from = panelAt<Kind>(g, p, firstStep);
    if constexpr (!Kind::Panel::kDecodes)
      return reinterpret_cast<const float *>(from);
    decodePanel<Kind>(from, steps, room, ahead);
    if constexpr (Kind::kScaling == Scaling::Mx)
      scalePanel(g, p, firstStep, steps, room);
    return room;
  }

private:
  QUAVER_INLINE void scalePanel(const GemmArguments &g, int64_t p, int64_t firstStep, int64_t steps,
                                float *room) {
    QUAVER_ROLLED
    for (int64_t s0 = 0; s0 < steps; s0 += 32) {
      const Columns scales = scalesOfColumns<Kind>(g, p, firstStep + s0);
      QUAVER_ROLLED
      for (int64_t s = s0; s < smaller(s0 + 32, steps); ++s) {
        float *const at = room + s * kTileColumns;
        const Columns b = scaled<Kind>({load(at), load(at + kWidth)}, scales);
        store(at, b.left);
        store(at + kWidth, b.right);
      }
    }
  }
};

// Packs K range [k0, k0 + count) of rows [row, row + rows) of A; rows beyond, up to full tiles, are zeros.
template <class Kind>
QUAVER_INLINE void packRows(const GemmArguments &g, int64_t row, int64_t rows, int64_t k0, int64_t count,
                            float *to) {
  const int64_t padded = smaller(ceilDiv(rows, kTileRows) * kTileRows, kGeometry.blockRows);
  QUAVER_ROLLED
  for (int64_t r = 0; r < padded; ++r, to += kAStride) {
    if (r < rows) {
      packRow<typename Kind::Mac, Kind::kRound>(g.a + (row + r) * g.aRowStride * bytesOf(g.aType), g.aType,
                                                g.aColumnStride, k0, count, to);
      if constexpr (Kind::kScaling == Scaling::Mx)
        scaleRow(g, row + r, k0, count, to);
      continue;
    }
    QUAVER_ROLLED
    for (int64_t s = 0; s < stepsOf<Kind>(count); s += kWidth)
      store(to + s, zero());
  }
}

// Rows [row, row + rows) x panels [panel, lastPanel), all of K, then the epilogue.
template <class Kind, class Panels>
QUAVER_INLINE void computeBlock(const GemmArguments &g, int64_t row, int64_t rows, int64_t panel,
                                int64_t lastPanel) {
  float *const packedA = g.scratch;
  float *const room = packedA + kGeometry.blockRows * kAStride;
  float *const sums = room + kGeometry.blockSteps * kTileColumns;
  const int64_t aheadStride =
      Kind::Panel::kBytesPerStep / ceilDiv(rows, kTileRows); // each tile fetches its share
  QUAVER_ROLLED
  for (int64_t k0 = 0; k0 < g.k; k0 += Kind::kBlockK) {
    const int64_t count = smaller(Kind::kBlockK, g.k - k0), steps = stepsOf<Kind>(count);
    packRows<Kind>(g, row, rows, k0, count, packedA);
    QUAVER_ROLLED
    for (int64_t p = panel; p < lastPanel; ++p) {
      QUAVER_ROLLED
      for (int64_t s = 0; s < steps; s += Kind::kChunkSteps) {
        const int64_t chunk = smaller(Kind::kChunkSteps, steps - s), k = k0 + s * Kind::Mac::kPerStep;
        // The same block of the next panel; after the last one, the next block of the first.
        const int64_t step = k / Kind::Mac::kPerStep;
        const uint8_t *ahead = p + 1 < lastPanel ? panelAt<Kind>(g, p + 1, step)
                                                 : panelAt<Kind>(g, panel, step + kGeometry.blockSteps);
        const float *b = Panels::block(g, p, step, chunk, room, ahead);
        float bScale = 1;
        if constexpr (Kind::kScalesSums)
          bScale = scaleOfWeights<Kind>(g, p, k);
        rowsTimesPanel<Kind, Panels::kFetches>(g, packedA + s, b, chunk, sums + (p - panel) * kTileColumns,
                                               k == 0, row, rows, k, bScale, {ahead, aheadStride});
      }
    }
  }
  const int64_t column = panel * kTileColumns, columns = smaller(lastPanel * kTileColumns, g.n) - column;
  if (g.k == 0) { // nothing has set the sums
    QUAVER_ROLLED
    for (int64_t i = 0; i < rows * kSumsStride; i += kWidth)
      store(sums + i, zero());
  }
  QUAVER_ROLLED
  for (int64_t r = 0; r < rows; ++r)
    g.epilogue(sums + r * kSumsStride, g.batch, row + r, column, columns, g.bindings, g.constants);
}

// Rows of a block: nearly equal heights, so that the last block is not a splinter.
QUAVER_INLINE int64_t blockHeight(int64_t m, int64_t rowBlocks) {
  return ceilDiv(ceilDiv(m, rowBlocks), kTileRows) * kTileRows;
}

} // namespace quaver::x86::QUAVER_SET_NAMESPACE
