// Batched products of activations: B is packed block by block into scratch, from any strides, then multiplied
// as if it had been packed ahead. The cost of packing is shared by the rows of a workgroup.
#pragma once

#include "compiler/Codegen/X86/Kernels/blocked_gemm.h"

namespace quaver::x86::QUAVER_SET_NAMESPACE {

// to[j * toStride + i] = from[i * fromStride + j] for 8 x 8 words.
QUAVER_INLINE void transpose8(const float *from, int64_t fromStride, float *to, int64_t toStride) {
  __m256 r[8], t[8];
  QUAVER_UNROLLED
  for (int i = 0; i < 8; ++i)
    r[i] = _mm256_loadu_ps(from + i * fromStride);
  QUAVER_UNROLLED
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
  }
  QUAVER_UNROLLED
  for (int i = 0; i < 2; ++i) {
    r[4 * i] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0x44);
    r[4 * i + 1] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0xEE);
    r[4 * i + 2] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0x44);
    r[4 * i + 3] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0xEE);
  }
  QUAVER_UNROLLED
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * toStride, _mm256_permute2f128_ps(r[i], r[4 + i], 0x20));
    _mm256_storeu_ps(to + (4 + i) * toStride, _mm256_permute2f128_ps(r[i], r[4 + i], 0x31));
  }
}

// One step of kWidth neighbouring columns, from rows k and (Dot) k + 1 of B, each contiguous.
template <class Kind>
QUAVER_INLINE F32x wordsOfColumns(int64_t type, const uint8_t *row, const uint8_t *next) {
  const F32x x = Fma::readA<Kind::kRound>(type, row);
  if constexpr (Kind::Mac::kPerStep == 1) {
    return x;
  } else {
    const F32x y = Fma::readA<Kind::kRound>(type, next); // both are bf16 by now: the low halves are zeros
    return floats(or_(shiftRight<16>(bits(x)), bits(y)));
  }
}

// Copies `count` < kWidth elements to a zeroed vector's place, so that a whole vector can be read.
QUAVER_INLINE const uint8_t *zeroExtended(const uint8_t *from, int64_t bytes, uint8_t *room) {
  QUAVER_ROLLED
  for (int64_t i = 0; i < 4 * kWidth; ++i)
    room[i] = i < bytes ? from[i] : 0;
  return room;
}

template <class Kind> struct StridedPanels {
  static constexpr bool kFetches = false;
  QUAVER_INLINE const float *block(const GemmArguments &g, int64_t p, int64_t firstStep, int64_t steps,
                                   float *room, const uint8_t *) {
    constexpr int kPerStep = Kind::Mac::kPerStep;
    const int64_t bytes = bytesOf(g.bType), columns = smaller(kTileColumns, g.n - p * kTileColumns);
    const int64_t k0 = firstStep * kPerStep, count = smaller(steps * kPerStep, g.k - k0);
    const uint8_t *from = g.b + p * kTileColumns * g.bColumnStride * bytes;
    if (g.bColumnStride == 1)
      packByRows(g, from + k0 * g.bRowStride * bytes, count, columns, bytes, room);
    else
      packByColumns(g, from, k0, count, columns, bytes, room);
    return room;
  }

private:
  // Columns are neighbours: every step is two vectors of a row (or of two rows).
  QUAVER_INLINE void packByRows(const GemmArguments &g, const uint8_t *from, int64_t count, int64_t columns,
                                int64_t bytes, float *to) {
    alignas(64) uint8_t zeros[4 * kWidth], tail[4][4 * kWidth];
    zeroExtended(nullptr, 0, zeros);
    const int64_t stride = g.bRowStride * bytes, half = kWidth * bytes;
    QUAVER_ROLLED
    for (int64_t k = 0; k < count; k += Kind::Mac::kPerStep, to += kTileColumns) {
      const uint8_t *row = from + k * stride, *next = k + 1 < count ? row + stride : nullptr;
      if (columns == kTileColumns) {
        store(to, wordsOfColumns<Kind>(g.bType, row, next ? next : zeros));
        store(to + kWidth, wordsOfColumns<Kind>(g.bType, row + half, next ? next + half : zeros));
        continue;
      }
      const int64_t left = smaller(columns, kWidth) * bytes, right = columns * bytes - left;
      zeroExtended(row, left, tail[0]);
      zeroExtended(row + left, right, tail[1]);
      zeroExtended(next, next ? left : 0, tail[2]);
      zeroExtended(next + (next ? left : 0), next ? right : 0, tail[3]);
      store(to, wordsOfColumns<Kind>(g.bType, tail[0], tail[2]));
      store(to + kWidth, wordsOfColumns<Kind>(g.bType, tail[1], tail[3]));
    }
  }

  // Any strides, good where K is contiguous: each column is packed as a row of A would be, then all are
  // transposed.
  QUAVER_INLINE void packByColumns(const GemmArguments &g, const uint8_t *from, int64_t k0, int64_t count,
                                   int64_t columns, int64_t bytes, float *to) {
    float *const packed = g.scratch + kGeometry.blockRows * (kAStride + kSumsStride) +
                          int64_t(kGeometry.blockSteps) * kTileColumns;
    const int64_t steps = stepsOf<Kind>(count), whole = ceilDiv(steps, kWidth) * kWidth;
    QUAVER_ROLLED
    for (int64_t c = 0; c < kTileColumns; ++c) {
      if (c < columns) {
        packRow<typename Kind::Mac, Kind::kRound>(from + c * g.bColumnStride * bytes, g.bType, g.bRowStride,
                                                  k0, count, packed + c * kAStride);
        continue;
      }
      QUAVER_ROLLED
      for (int64_t s = 0; s < whole; s += kWidth)
        store(packed + c * kAStride + s, zero());
    }
    QUAVER_ROLLED
    for (int64_t s = 0; s < steps; s += 8)
      QUAVER_ROLLED
    for (int64_t c = 0; c < kTileColumns; c += 8)
      transpose8(packed + c * kAStride + s, kAStride, to + s * kTileColumns + c, kTileColumns);
  }
};

// The body of the batched kernels.
template <class Kind> QUAVER_INLINE void batchedMatmul(QUAVER_BATCHED_PARAMETERS) {
  if (m <= 0 || n <= 0)
    return;
  const int64_t rowBlocks = ceilDiv(m, kGeometry.blockRows),
                columnBlocks = ceilDiv(n, kGeometry.mergedColumns);
  const int64_t height = blockHeight(m, rowBlocks), panelsPerBlock = kGeometry.mergedColumns / kTileColumns;
  QUAVER_ROLLED
  for (int64_t at = begin; at < end; ++at) {
    const int64_t columnBlock = at % columnBlocks, row = at / columnBlocks % rowBlocks * height;
    const int64_t batch = at / (columnBlocks * rowBlocks);
    GemmArguments g{};
    g.a = static_cast<const uint8_t *>(a) + batch_offset(0, batch, constants) * bytesOf(a_type);
    g.aType = a_type;
    g.aRowStride = a_row_stride;
    g.aColumnStride = a_column_stride;
    g.b = static_cast<const uint8_t *>(b) + batch_offset(1, batch, constants) * bytesOf(b_type);
    g.bType = b_type;
    g.bRowStride = b_row_stride;
    g.bColumnStride = b_column_stride;
    g.m = m;
    g.n = n;
    g.k = k;
    g.scratch = static_cast<float *>(scratch);
    g.bindings = bindings;
    g.constants = constants;
    g.epilogue = epilogue;
    g.batch = batch;
    computeBlock<Kind, StridedPanels<Kind>>(
        g, row, smaller(height, m - row), columnBlock * panelsPerBlock,
        smaller((columnBlock + 1) * panelsPerBlock, ceilDiv(n, kTileColumns)));
  }
}

} // namespace quaver::x86::QUAVER_SET_NAMESPACE
