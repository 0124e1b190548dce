#include "compiler/Codegen/X86/Kernels/pack.h"

#include <cassert>
#include <cstring>

namespace quaver::x86 {
namespace {

bool isValid(const PackedLayout &l) {
  const bool canPair = l.type == ElementType::BF16 || l.type == ElementType::F8E4M3FN;
  const bool knownType = canPair || l.type == ElementType::F32 || l.type == ElementType::F16;
  const bool pairFits = l.pair == 1 || (l.pair == 2 && canPair && l.panel == 32);
  return knownType && (l.panel == 16 || l.panel == 32) && pairFits;
}

// Element of column c, half h within one step.
int64_t placeInStep(const PackedLayout &l, int64_t c, int64_t h) {
  if (l.pair == 1)
    return c;
  if (l.type != ElementType::F8E4M3FN)
    return 2 * c + h;
  const int64_t word = 2 * (c % 16) + h; // of the left or right vector, after unpacking
  return 16 * (word / 8) + 8 * (c / 16) + word % 8;
}

// Calls body(dense index, packed index) for every element, panel by panel.
template <class Body> void forEachElement(const PackedLayout &l, const DenseView &v, Body &&body) {
  const int64_t steps = ceilDiv(v.k, l.pair), perStep = int64_t(l.panel) * l.pair;
  int64_t place[64];
  for (int64_t c = 0; c < l.panel; ++c)
    for (int64_t h = 0; h < l.pair; ++h)
      place[c * l.pair + h] = placeInStep(l, c, h);
  for (int64_t n0 = 0; n0 < v.n; n0 += l.panel) {
    const int64_t columns = v.n - n0 < l.panel ? v.n - n0 : l.panel;
    for (int64_t k = 0; k < v.k; ++k) {
      const int64_t step = (n0 / l.panel * steps + k / l.pair) * perStep, h = k % l.pair;
      for (int64_t c = 0; c < columns; ++c)
        body(k * v.kStride + (n0 + c) * v.nStride, step + place[c * l.pair + h]);
    }
  }
}

template <class T> void packAs(const PackedLayout &l, const DenseView &v, const void *dense, void *packed) {
  const auto *from = static_cast<const T *>(dense);
  auto *to = static_cast<T *>(packed);
  forEachElement(l, v, [&](int64_t d, int64_t p) { to[p] = from[d]; });
}
template <class T> void unpackAs(const PackedLayout &l, const DenseView &v, const void *packed, void *dense) {
  const auto *from = static_cast<const T *>(packed);
  auto *to = static_cast<T *>(dense);
  forEachElement(l, v, [&](int64_t d, int64_t p) { to[d] = from[p]; });
}

} // namespace

PackedLayout packedLayout(FeatureSet set, ElementType type, bool inF32) {
  const bool pairs =
      set == FeatureSet::Avx512Bf16 && !inF32 && type != ElementType::F32 && type != ElementType::F16;
  const PackedLayout layout{type, geometry(set).tileColumns, pairs ? 2 : 1};
  assert(isValid(layout) && "packedLayout: f32, f16, bf16 or f8E4M3FN weights");
  return layout;
}

std::string layoutName(const PackedLayout &layout) {
  return "panel" + std::to_string(layout.panel) + (layout.pair == 2 ? "x2_" : "_") +
         std::string(short_name(layout.type));
}

std::optional<PackedLayout> layoutFromName(std::string_view name) {
  for (const ElementType type :
       {ElementType::F32, ElementType::F16, ElementType::BF16, ElementType::F8E4M3FN})
    for (const int panel : {16, 32})
      for (const int pair : {1, 2}) {
        const PackedLayout layout{type, panel, pair};
        if (isValid(layout) && layoutName(layout) == name)
          return layout;
      }
  return std::nullopt;
}

int64_t packedBytes(const PackedLayout &layout, int64_t k, int64_t n) {
  const int64_t perStep = int64_t(layout.panel) * layout.pair;
  return ceilDiv(n, layout.panel) * ceilDiv(k, layout.pair) * perStep * bytes_of(layout.type);
}

void pack(const PackedLayout &layout, const DenseView &view, const void *dense, void *packed) {
  assert(isValid(layout) && "pack: an unknown layout");
  if (view.n % layout.panel || view.k % layout.pair)
    std::memset(packed, 0, size_t(packedBytes(layout, view.k, view.n)));
  switch (bytes_of(layout.type)) {
  case 4:
    return packAs<uint32_t>(layout, view, dense, packed);
  case 2:
    return packAs<uint16_t>(layout, view, dense, packed);
  default:
    return packAs<uint8_t>(layout, view, dense, packed);
  }
}

void unpack(const PackedLayout &layout, const DenseView &view, const void *packed, void *dense) {
  assert(isValid(layout) && "unpack: an unknown layout");
  switch (bytes_of(layout.type)) {
  case 4:
    return unpackAs<uint32_t>(layout, view, packed, dense);
  case 2:
    return unpackAs<uint16_t>(layout, view, packed, dense);
  default:
    return unpackAs<uint8_t>(layout, view, packed, dense);
  }
}

} // namespace quaver::x86
