// Packed layouts of weights: how B[k, n] lies in memory for a kernel. Plain C++, no LLVM, no intrinsics: it
// runs at compile time, at load time and in tests.
//
// Columns are cut into panels of one register tile; within a panel, step after step of K:
//   panel16_f32, panel32_f32       [ceil(n/P)][k][P]            also _bf16, _f16, _e4m3 (bytes are the codes)
//   panel32x2_bf16                 [ceil(n/32)][ceil(k/2)][32][2]  two neighbours in K lie together, for
//   vdpbf16ps panel32x2_e4m3                 [ceil(n/32)][ceil(k/2)][64]  as above, the 64 codes of a step
//   dealt so that unpacking
//                                  low and high halves of 16-byte lanes gives columns 0-15 and 16-31 in order
// Columns beyond n and the odd step beyond k are zeros.
#pragma once

#include "compiler/Codegen/X86/Kernels/geometry.h"
#include "runtime/numerics/formats.h"

#include <optional>
#include <string>
#include <string_view>

namespace quaver::x86 {

struct PackedLayout {
  ElementType type = ElementType::F32; // F32, F16, BF16 or F8E4M3FN
  int panel = 32;                      // columns of a panel: 16 or 32
  int pair = 1;                        // neighbours in K that lie together: 1, or 2 (BF16, F8E4M3FN)

  bool operator==(const PackedLayout &) const = default;
};

// The layout that kernels of `set` want for weights of `type`. inF32: that multiply in f32 what others
// multiply in bf16.
PackedLayout packedLayout(FeatureSet set, ElementType type, bool inF32 = false);

// "panel32x2_e4m3": the plan's Weight.storage.
std::string layoutName(const PackedLayout &layout);
std::optional<PackedLayout> layoutFromName(std::string_view name);

// Where B's element (k, n) is in the dense weight: index k * kStride + n * nStride. The plan's Weight.packing
// is these four numbers in this order.
struct DenseView {
  int64_t k, n, kStride, nStride;
};

int64_t packedBytes(const PackedLayout &layout, int64_t k, int64_t n);
// `packed` has packedBytes, all of which are written. `dense` elements are of layout.type.
void pack(const PackedLayout &layout, const DenseView &view, const void *dense, void *packed);
// Writes exactly the elements of the view.
void unpack(const PackedLayout &layout, const DenseView &view, const void *packed, void *dense);

} // namespace quaver::x86
