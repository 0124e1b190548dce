// Tile and block sizes of the matrix kernels, one row per feature set. Shared by the kernels, the packing
// functions and the heuristics, so that what is packed, what is launched and what runs cannot drift apart. No
// intrinsics, no LLVM.
#pragma once

#include <cstdint>

namespace quaver::x86 {

enum class FeatureSet : uint8_t {
  Avx2,       // x86-64-v3: AVX2, FMA, F16C
  Avx512,     // x86-64-v4: AVX-512 F, BW, CD, DQ, VL
  Avx512Bf16, // x86-64-v4 + AVX512_BF16, VBMI, VNNI
};

// A "step" is what one multiply-add instruction takes from K: one value, or a pair of bf16 values
// (vdpbf16ps).
struct Geometry {
  int width;         // f32 lanes of a vector
  int tileRows;      // rows of a register tile
  int tileColumns;   // columns of a register tile = width of a packed panel: two vectors
  int blockSteps;    // steps of K per block: one packed row of A is this long
  int blockRows;     // most rows of a workgroup
  int groupColumns;  // columns of a workgroup
  int mergedColumns; // most columns that consecutive workgroups of one call compute together
};

constexpr Geometry geometry(FeatureSet set) {
  // avx512 12x32: 24 accumulators + 2 of B + broadcasts in 32 registers; 256 steps: a panel block of B is 32
  // KB, 12 rows of A 13 KB. avx2 6x16: 12 + 2 + 1 in 16 registers. 96 rows are a multiple of both tiles and
  // reuse each element of B often enough (48 flop per byte of f32) that DRAM does not bound two cores.
  return set == FeatureSet::Avx2 ? Geometry{8, 6, 16, 256, 96, 64, 256}
                                 : Geometry{16, 12, 32, 256, 96, 64, 512};
}

constexpr int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A packed row is padded by one cache line, else all rows of a tile would fall into one set of the L1 cache.
constexpr int64_t packedRowStride(const Geometry &g) { return g.blockSteps + 16; }
constexpr int64_t sumsRowStride(const Geometry &g) { return g.mergedColumns + 16; }

// At most this many rows take the GEMV form: weights are streamed once, in packed order, and never decoded to
// memory.
constexpr int64_t kGemvRows = 4;
constexpr int64_t gemvRowStride(int64_t steps) { return ceilDiv(steps, 32) * 32 + 16; }

// Scratch of one worker, in f32 words: [packed A | decoded panel block of B | sums], or in the GEMV form
// [rows of A | sums].
constexpr int64_t scratchBytes(const Geometry &g, int64_t steps) {
  const int64_t blocked = g.blockRows * packedRowStride(g) + int64_t(g.blockSteps) * g.tileColumns +
                          g.blockRows * sumsRowStride(g);
  const int64_t gemv = kGemvRows * (gemvRowStride(steps) + sumsRowStride(g));
  return 4 * (blocked > gemv ? blocked : gemv);
}

// Scratch of the batched kernels, which pack B themselves: the same, and the columns of one panel before they
// are transposed.
constexpr int64_t batchedScratchBytes(const Geometry &g) {
  return 4 * (g.blockRows * packedRowStride(g) + int64_t(g.blockSteps) * g.tileColumns +
              g.blockRows * sumsRowStride(g) + g.tileColumns * packedRowStride(g));
}

// Columns of one workgroup of quantize_1x128.
constexpr int64_t kQuantizeColumns = 1024;

} // namespace quaver::x86
