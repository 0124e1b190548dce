// Arena offsets. A place is a range of the arena used by storages one after another; its size is the largest
// of theirs, an expression, so that the peak is a formula that is exact once the dimensions are bound.
#include "compiler/PlanEmit/Storage.h"

using quaver::graph::DimBounds;
using quaver::graph::DimExpr;

namespace quaver::plan_emit {
namespace {

constexpr int64_t kAlignment = 64;

struct Place {
  DimExpr bytes;
  llvm::SmallVector<std::pair<int, int>> busy; // lifetimes, inclusive
  bool isFree(int first, int last) const {
    return llvm::all_of(busy, [&](auto &b) { return last < b.first || first > b.second; });
  }
};

// A size at one sample of the dimensions: small ones and large ones, since which buffer is largest may
// change.
int64_t at(const DimExpr &e, int64_t sample, graph::ShapeAnalysis &shapes) {
  auto value = e.evaluate([&](llvm::StringRef s) -> std::optional<int64_t> {
    DimBounds b = shapes.boundsOf(s);
    int64_t v = std::max<int64_t>(sample, b.min);
    return b.max ? std::min(v, *b.max) : v;
  });
  return value.value_or(0);
}

DimExpr aligned(const DimExpr &bytes, graph::ShapeAnalysis &shapes) {
  auto boundsOf = [&](llvm::StringRef s) { return shapes.boundsOf(s); };
  if (bytes.provablyDivisibleBy(kAlignment, boundsOf))
    return bytes;
  return DimExpr::ceilDiv(bytes, DimExpr(kAlignment)) * DimExpr(kAlignment);
}

} // namespace

DimExpr placeInArena(llvm::MutableArrayRef<Storage> storages, graph::ShapeAnalysis &shapes) {
  llvm::SmallVector<int> order;
  for (auto [i, s] : llvm::enumerate(storages))
    if (s.memory == Memory::Arena)
      order.push_back(i);
  constexpr int64_t kLarge = 512, kSmall = 8;
  // Large ones first: they found the places that small ones then share.
  llvm::stable_sort(order, [&](int x, int y) {
    return at(storages[x].bytes, kLarge, shapes) > at(storages[y].bytes, kLarge, shapes);
  });
  std::vector<Place> places;
  std::vector<int> placeOf(storages.size(), -1);
  for (int i : order) {
    Storage &s = storages[i];
    DimExpr bytes = aligned(s.bytes, shapes);
    int best = -1;
    int64_t bestCost = 0;
    for (auto [p, place] : llvm::enumerate(places)) {
      if (!place.isFree(s.first, s.last))
        continue;
      // Growth counts heavily, then how much of the place would lie idle.
      int64_t cost = 0;
      for (int64_t sample : {kSmall, kLarge}) {
        int64_t have = at(place.bytes, sample, shapes), want = at(bytes, sample, shapes);
        cost += want > have ? 1000 * (want - have) : have - want;
      }
      if (best < 0 || cost < bestCost)
        best = p, bestCost = cost;
    }
    int64_t alone = 0;
    for (int64_t sample : {kSmall, kLarge})
      alone += 1000 * at(bytes, sample, shapes);
    if (best < 0 || bestCost > alone) {
      best = places.size();
      places.push_back({bytes, {}});
    } else if (places[best].bytes != bytes) {
      places[best].bytes = DimExpr::max(places[best].bytes, bytes);
    }
    places[best].busy.push_back({s.first, s.last});
    placeOf[i] = best;
  }
  DimExpr offset(0);
  llvm::SmallVector<DimExpr> offsets;
  for (Place &p : places) {
    offsets.push_back(offset);
    offset = offset + p.bytes;
  }
  for (int i : order)
    storages[i].offset = offsets[placeOf[i]];
  return offset;
}

} // namespace quaver::plan_emit
