// The small-M form: at most kGemvRows rows against panels that are streamed once, in packed order, and
// decoded in registers. Bound by memory: per 64 bytes of E4M3 there are 5 instructions of decoding and 2
// multiply-adds a row.
#pragma once

#include "compiler/Codegen/X86/Kernels/blocked_gemm.h"

namespace quaver::x86::QUAVER_SET_NAMESPACE {

constexpr int kGroupPanels = kGeometry.groupColumns / kTileColumns;
constexpr int kPrefetchBytes = 4096; // a page ahead: the hardware prefetcher stops at page borders

template <class Kind> QUAVER_INLINE void addStep(F32x (&acc)[2], float word, const Columns &b) {
  const F32x x = broadcast(word);
  acc[0] = Kind::Mac::mac(acc[0], x, b.left);
  acc[1] = Kind::Mac::mac(acc[1], x, b.right);
}

// kPanels panels side by side, so that enough accumulators hide the latency of one multiply-add without
// changing the order of any sum.
template <class Kind, int kRows, int kPanels>
QUAVER_INLINE void gemvPanels(const GemmArguments &g, const float *a, int64_t aStride, int64_t panel,
                              float *sums) {
  constexpr int kBytesPerStep = Kind::Panel::kBytesPerStep;
  const int64_t steps = stepsOf<Kind>(g.k);
  constexpr bool kIsMx = Kind::kScaling == Scaling::Mx;
  const int64_t chunkSteps = kIsMx ? 32 : Kind::kScalesSums ? Kind::kChunkSteps : steps;
  F32x total[kPanels][kRows][2];
  QUAVER_UNROLLED
  for (int p = 0; p < kPanels; ++p)
    QUAVER_UNROLLED
  for (int r = 0; r < kRows; ++r)
    total[p][r][0] = total[p][r][1] = zero();
  QUAVER_ROLLED
  for (int64_t s0 = 0; s0 < steps; s0 += chunkSteps) {
    const int64_t last = smaller(s0 + chunkSteps, steps), k = s0 * Kind::Mac::kPerStep;
    F32x acc[kPanels][kRows][2];
    QUAVER_UNROLLED
    for (int p = 0; p < kPanels; ++p)
      QUAVER_UNROLLED
    for (int r = 0; r < kRows; ++r) {
      acc[p][r][0] = Kind::kScalesSums ? zero() : total[p][r][0];
      acc[p][r][1] = Kind::kScalesSums ? zero() : total[p][r][1];
    }
    Columns columnScales[kPanels];
    if constexpr (kIsMx) {
      QUAVER_UNROLLED
      for (int p = 0; p < kPanels; ++p)
        columnScales[p] = scalesOfColumns<Kind>(g, panel + p, k);
    }
    int64_t s = s0;
    QUAVER_ROLLED
    for (; s + 2 <= last; s += 2) {
      QUAVER_UNROLLED
      for (int p = 0; p < kPanels; ++p) {
        const uint8_t *from = panelAt<Kind>(g, panel + p, s);
        QUAVER_UNROLLED
        for (int line = 0; line < 2 * kBytesPerStep; line += 64)
          prefetch(from + kPrefetchBytes + line);
        Columns b[2];
        decodeTwo<typename Kind::Panel>(from, b);
        if constexpr (kIsMx)
          b[0] = scaled<Kind>(b[0], columnScales[p]), b[1] = scaled<Kind>(b[1], columnScales[p]);
        QUAVER_UNROLLED
        for (int r = 0; r < kRows; ++r)
          addStep<Kind>(acc[p][r], a[r * aStride + s], b[0]);
        QUAVER_UNROLLED
        for (int r = 0; r < kRows; ++r)
          addStep<Kind>(acc[p][r], a[r * aStride + s + 1], b[1]);
      }
    }
    if (s < last) {
      QUAVER_UNROLLED
      for (int p = 0; p < kPanels; ++p) {
        Columns b = Kind::Panel::decode(panelAt<Kind>(g, panel + p, s));
        if constexpr (kIsMx)
          b = scaled<Kind>(b, columnScales[p]);
        QUAVER_UNROLLED
        for (int r = 0; r < kRows; ++r)
          addStep<Kind>(acc[p][r], a[r * aStride + s], b);
      }
    }
    QUAVER_UNROLLED
    for (int p = 0; p < kPanels; ++p) {
      F32x scale = zero();
      if constexpr (Kind::kScalesSums)
        scale = broadcast(scaleOfWeights<Kind>(g, panel + p, k));
      QUAVER_UNROLLED
      for (int r = 0; r < kRows; ++r) {
        if constexpr (Kind::kScaling == Scaling::Both) {
          const int64_t i = smaller(r, g.m - 1);
          const F32x rowScale = broadcast(g.aScales[i * g.aScaleRowStride + k / 128 * g.aScaleKStride]);
          acc[p][r][0] = mul(acc[p][r][0], rowScale);
          acc[p][r][1] = mul(acc[p][r][1], rowScale);
        }
        if constexpr (!Kind::kScalesSums) {
          total[p][r][0] = acc[p][r][0];
          total[p][r][1] = acc[p][r][1];
        } else {
          total[p][r][0] = fma(acc[p][r][0], scale, total[p][r][0]);
          total[p][r][1] = fma(acc[p][r][1], scale, total[p][r][1]);
        }
      }
    }
  }
  QUAVER_UNROLLED
  for (int p = 0; p < kPanels; ++p)
    QUAVER_UNROLLED
  for (int r = 0; r < kRows; ++r) {
    float *out = sums + r * kSumsStride + p * kTileColumns;
    store(out, total[p][r][0]);
    store(out + kWidth, total[p][r][1]);
  }
}

template <class Kind, int kRows>
QUAVER_INLINE void gemvRange(const GemmArguments &g, const float *a, int64_t aStride, int64_t begin,
                             int64_t end, float *sums) {
  constexpr int kPanels = kRows <= 2 ? 2 : 1; // at four rows one panel has accumulators enough
  const int64_t panels = ceilDiv(g.n, kTileColumns);
  QUAVER_ROLLED
  for (int64_t group = begin; group < end; ++group) {
    const int64_t first = group * kGroupPanels, last = smaller(first + kGroupPanels, panels);
    int64_t p = first;
    QUAVER_ROLLED
    for (; p + kPanels <= last; p += kPanels)
      gemvPanels<Kind, kRows, kPanels>(g, a, aStride, p, sums + (p - first) * kTileColumns);
    if constexpr (kPanels > 1)
      if (p < last)
        gemvPanels<Kind, kRows, 1>(g, a, aStride, p, sums + (p - first) * kTileColumns);
    const int64_t column = first * kTileColumns, columns = smaller(last * kTileColumns, g.n) - column;
    QUAVER_ROLLED
    for (int64_t r = 0; r < g.m; ++r)
      g.epilogue(sums + r * kSumsStride, 0, r, column, columns, g.bindings, g.constants);
  }
}

template <class Kind> QUAVER_INLINE void gemv(const GemmArguments &g, int64_t begin, int64_t end) {
  const int64_t stride = gemvRowStride(stepsOf<Kind>(g.k));
  float *const a = g.scratch, *const sums = a + kGemvRows * stride;
  QUAVER_ROLLED
  for (int64_t r = 0; r < kGemvRows; ++r) { // rows beyond m repeat the last one; nobody reads their sums
    const int64_t i = smaller(r, g.m - 1);
    if (r < g.m || g.m == 3) {
      packRow<typename Kind::Mac, Kind::kRound>(g.a + i * g.aRowStride * bytesOf(g.aType), g.aType,
                                                g.aColumnStride, 0, g.k, a + r * stride);
      if constexpr (Kind::kScaling == Scaling::Mx)
        scaleRow(g, i, 0, g.k, a + r * stride);
    }
  }
  if (g.m == 1)
    gemvRange<Kind, 1>(g, a, stride, begin, end, sums);
  else if (g.m == 2)
    gemvRange<Kind, 2>(g, a, stride, begin, end, sums);
  else
    gemvRange<Kind, 4>(g, a, stride, begin, end, sums);
}

// The body of every matrix kernel with packed weights.
template <class Kind> QUAVER_INLINE void gemm(QUAVER_GEMM_PARAMETERS) {
  const GemmArguments g{static_cast<const uint8_t *>(a),
                        a_type,
                        a_row_stride,
                        a_column_stride,
                        a_scales,
                        a_scale_row_stride,
                        a_scale_k_stride,
                        static_cast<const uint8_t *>(b),
                        b_scales,
                        b_scale_n_stride,
                        b_scale_k_stride,
                        m,
                        n,
                        k,
                        static_cast<float *>(scratch),
                        bindings,
                        constants,
                        epilogue};
  if (m <= 0 || n <= 0)
    return;
  if (m <= kGemvRows)
    return gemv<Kind>(g, begin, end);
  const int64_t panels = ceilDiv(n, kTileColumns), groups = ceilDiv(n, kGeometry.groupColumns);
  const int64_t height = blockHeight(m, ceilDiv(m, kGeometry.blockRows));
  QUAVER_ROLLED
  for (int64_t at = begin; at < end;) {
    const int64_t rowBlock = at / groups, group = at % groups;
    const int64_t run =
        smaller(smaller(end - at, groups - group), kGeometry.mergedColumns / kGeometry.groupColumns);
    const int64_t row = rowBlock * height;
    computeBlock<Kind, PackedPanels<Kind>>(g, row, smaller(height, m - row), group * kGroupPanels,
                                           smaller((group + run) * kGroupPanels, panels));
    at += run;
  }
}

} // namespace quaver::x86::QUAVER_SET_NAMESPACE
