// Convolutions as products: filters [m, channels * kernel] by the windows of an image [channels * kernel,
// positions], whose panels are gathered block by block into scratch. The cost of gathering is shared by the
// filters of a workgroup.
#pragma once

#include "compiler/Codegen/X86/Kernels/blocked_gemm.h"

namespace quaver::x86::QUAVER_SET_NAMESPACE {

template <class Kind> struct ImagePanels {
  static constexpr bool kFetches = false;

  QUAVER_INLINE const float *block(const GemmArguments &g, int64_t p, int64_t firstStep, int64_t steps,
                                   float *room, const uint8_t *) {
    const ConvShape &c = *g.conv;
    // Where the window of each column begins in its plane; columns beyond the last lie far above it.
    alignas(64) int32_t top[kTileColumns], left[kTileColumns], at[kTileColumns];
    QUAVER_ROLLED
    for (int64_t j = 0; j < kTileColumns; ++j) {
      const int64_t column = p * kTileColumns + j;
      const int64_t y = column / c.outWidth * c.strideY - c.padY,
                    x = column % c.outWidth * c.strideX - c.padX;
      const bool exists = column < g.n;
      top[j] = exists ? int32_t(y) : INT32_MIN / 2;
      left[j] = exists ? int32_t(x) : 0;
      at[j] = exists ? int32_t(y * c.width + x) : 0;
    }
    const bool isRun = c.strideX == 1 && top[0] == top[kTileColumns - 1];
    const int64_t bytes = bytesOf(g.bType), plane = c.height * c.width * bytes;
    const int64_t window = c.kernelHeight * c.kernelWidth;
    const uint8_t *from = g.b + firstStep / window * plane;
    int64_t ky = firstStep % window / c.kernelWidth, kx = firstStep % c.kernelWidth;
    QUAVER_ROLLED
    for (int64_t s = 0; s < steps; ++s) {
      const int64_t dy = ky * c.dilationY, dx = kx * c.dilationX;
      step(c, from, g.bType, bytes, top, left, at, dy, dx, isRun, room + s * kTileColumns);
      if (++kx == c.kernelWidth) {
        kx = 0;
        if (++ky == c.kernelHeight)
          ky = 0, from += plane;
      }
    }
    return room;
  }

private:
  // The elements of all columns at (dy, dx) of their windows; zeros outside the plane.
  QUAVER_INLINE void step(const ConvShape &c, const uint8_t *plane, int64_t type, int64_t bytes,
                          const int32_t *top, const int32_t *left, const int32_t *at, int64_t dy, int64_t dx,
                          bool isRun, float *to) {
    const int64_t y = top[0] + dy, x = left[0] + dx;
    if (isRun && (y < 0 || y >= c.height)) {
      store(to, zero());
      store(to + kWidth, zero());
      return;
    }
    if (isRun && x >= 0 && x + kTileColumns <= c.width) {
      const uint8_t *row = plane + (y * c.width + x) * bytes;
      store(to, Fma::readA<false>(type, row));
      store(to + kWidth, Fma::readA<false>(type, row + kWidth * bytes));
      return;
    }
    const int64_t offset = dy * c.width + dx;
    if (type == kTypeF32) {
      QUAVER_UNROLLED
      for (int h = 0; h < kTileColumns; h += kWidth) {
        const I32x row = add32(loadInts(top + h), splat(int(dy))),
                   column = add32(loadInts(left + h), splat(int(dx)));
        const I32x valid = and_(inRange(row, int(c.height)), inRange(column, int(c.width)));
        const I32x index = add32(loadInts(at + h), splat(int(offset)));
        store(to + h, gather(reinterpret_cast<const float *>(plane), index, valid));
      }
      return;
    }
    alignas(64) uint16_t gathered[kTileColumns];
    QUAVER_ROLLED
    for (int64_t j = 0; j < kTileColumns; ++j) {
      const int64_t row = top[j] + dy, column = left[j] + dx;
      const bool valid = row >= 0 && row < c.height && column >= 0 && column < c.width;
      gathered[j] = valid ? reinterpret_cast<const uint16_t *>(plane)[at[j] + offset] : 0;
    }
    store(to, Fma::readA<false>(type, reinterpret_cast<const uint8_t *>(gathered)));
    store(to + kWidth, Fma::readA<false>(type, reinterpret_cast<const uint8_t *>(gathered + kWidth)));
  }

  // All ones where 0 <= i < n.
  QUAVER_INLINE I32x inRange(I32x i, int n) {
    const I32x ones = splat(-1), none = splat(0);
    return and_(selectLess(ones, i, ones, none), selectLess(i, splat(n), ones, none));
  }
};

// The body of the convolution kernels.
template <class Kind> QUAVER_INLINE void convolve(QUAVER_CONV_PARAMETERS) {
  const int64_t n = out_height * out_width, k = channels * kernel_height * kernel_width;
  if (m <= 0 || n <= 0)
    return;
  const ConvShape shape{height, width, kernel_height, kernel_width, stride_y, stride_x,
                        pad_y,  pad_x, dilation_y,    dilation_x,   out_width};
  const int64_t rowBlocks = ceilDiv(m, kGeometry.blockRows),
                columnBlocks = ceilDiv(n, kGeometry.mergedColumns);
  const int64_t blockRows = blockHeight(m, rowBlocks),
                panelsPerBlock = kGeometry.mergedColumns / kTileColumns;
  QUAVER_ROLLED
  for (int64_t workgroup = begin; workgroup < end; ++workgroup) {
    const int64_t columnBlock = workgroup % columnBlocks,
                  row = workgroup / columnBlocks % rowBlocks * blockRows;
    const int64_t batch = workgroup / (columnBlocks * rowBlocks); // image * groups + group
    GemmArguments g{};
    g.a = static_cast<const uint8_t *>(filter) + batch % groups * m * k * bytesOf(filter_type);
    g.aType = filter_type;
    g.aRowStride = k;
    g.aColumnStride = 1;
    g.b = static_cast<const uint8_t *>(x) + batch * channels * height * width * bytesOf(x_type);
    g.bType = x_type;
    g.m = m;
    g.n = n;
    g.k = k;
    g.scratch = static_cast<float *>(scratch);
    g.bindings = bindings;
    g.constants = constants;
    g.epilogue = epilogue;
    g.batch = batch;
    g.conv = &shape;
    computeBlock<Kind, ImagePanels<Kind>>(
        g, row, smaller(blockRows, m - row), columnBlock * panelsPerBlock,
        smaller((columnBlock + 1) * panelsPerBlock, ceilDiv(n, kTileColumns)));
  }
}

} // namespace quaver::x86::QUAVER_SET_NAMESPACE
