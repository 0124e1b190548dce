#include "compiler/Codegen/X86/Kernels/pack.h"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace quaver::x86 {
namespace {

using enum ElementType;
std::vector<PackedLayout> layouts() {
  return {{F32, 16, 1},  {F32, 32, 1},  {F16, 16, 1},      {F16, 32, 1},      {BF16, 16, 1},
          {BF16, 32, 1}, {BF16, 32, 2}, {F8E4M3FN, 16, 1}, {F8E4M3FN, 32, 1}, {F8E4M3FN, 32, 2}};
}

TEST(Pack, NamesRoundTrip) {
  for (const PackedLayout &l : layouts())
    EXPECT_EQ(layoutFromName(layoutName(l)), l);
  EXPECT_EQ(layoutName({F8E4M3FN, 32, 2}), "panel32x2_e4m3");
  EXPECT_EQ(layoutName(packedLayout(FeatureSet::Avx2, F32)), "panel16_f32");
  EXPECT_FALSE(layoutFromName("panel16x2_bf16") || layoutFromName("dense"));
}

// Packing then unpacking restores the view, touches nothing else, and pads with zeros.
TEST(Pack, RoundTripsRaggedViews) {
  for (const PackedLayout &l : layouts())
    for (const int64_t k : {1, 2, 7, 128})
      for (const int64_t n : {1, 16, 31, 32, 65})
        for (const bool transposed : {false, true}) {
          const DenseView view = transposed ? DenseView{k, n, 1, k + 2} : DenseView{k, n, n + 1, 1};
          const int64_t bytes = bytes_of(l.type), count = (k + 2) * (n + 1) + n * (k + 2);
          std::vector<uint8_t> dense(count * bytes), packed(packedBytes(l, k, n) + 8, 0xEE),
              back(dense.size(), 0xCC);
          for (size_t i = 0; i < dense.size(); ++i)
            dense[i] = uint8_t(i * 7 % 251 + 1);
          pack(l, view, dense.data(), packed.data());
          unpack(l, view, packed.data(), back.data());
          size_t nonZero = 0;
          for (size_t i = 0; i + 8 < packed.size(); ++i)
            nonZero += packed[i] != 0;
          EXPECT_EQ(nonZero, size_t(k * n * bytes)) << layoutName(l);
          for (size_t i = packed.size() - 8; i < packed.size(); ++i)
            EXPECT_EQ(packed[i], 0xEE);
          std::vector<uint8_t> expected(back.size(), 0xCC);
          for (int64_t i = 0; i < k; ++i)
            for (int64_t j = 0; j < n; ++j) {
              const int64_t at = (i * view.kStride + j * view.nStride) * bytes;
              std::memcpy(&expected[at], &dense[at], bytes);
            }
          EXPECT_EQ(back, expected) << layoutName(l) << " " << k << "x" << n;
        }
}

TEST(Pack, PlacesOfPairs) {
  // panel32x2_e4m3: lane L of 16 bytes holds columns 4L..4L+3 in its low half, 16+4L.. in its high half, both
  // of k, k+1.
  std::vector<uint8_t> dense(2 * 32), packed(64);
  for (int i = 0; i < 64; ++i)
    dense[i] = uint8_t(i);
  pack({F8E4M3FN, 32, 2}, {2, 32, 32, 1}, dense.data(), packed.data());
  for (int c = 0; c < 32; ++c)
    for (int h = 0; h < 2; ++h)
      EXPECT_EQ(packed[c % 16 / 4 * 16 + c / 16 * 8 + c % 4 * 2 + h], h * 32 + c);
}

} // namespace
} // namespace quaver::x86
