//===- observe.cpp - counters of memory accesses ----------------------------===//
#include "runtime/drivers/sim/machine/observe.h"

#include "runtime/drivers/sim/machine/races.h"
#include "runtime/drivers/sim/machine/scheduler.h"

#include <algorithm>

namespace quaver::sim {
namespace {

// Passes that 32 banks of 4 bytes need for the words of one access. Wide accesses go in parts of 128 bytes:
// 8 bytes by half-warps, 16 bytes by quarters (CUDA programming guide, shared memory).
uint32_t bank_passes(const uint64_t addresses[kLanes], LaneMask mask, uint32_t bytes) {
  const int lanes_at_once = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  uint32_t passes = 0;
  for (int first = 0; first < kLanes; first += lanes_at_once) {
    std::vector<uint64_t> words[32];
    for (int i = first; i < first + lanes_at_once; ++i)
      if (mask >> i & 1)
        for (uint64_t w = addresses[i] / 4; w <= (addresses[i] + bytes - 1) / 4; ++w)
          if (auto &bank = words[w % 32]; std::find(bank.begin(), bank.end(), w) == bank.end())
            bank.push_back(w);
    size_t most = 0;
    for (const auto &bank : words)
      most = std::max(most, bank.size());
    passes += uint32_t(most);
  }
  return passes;
}

uint32_t fewest_passes(LaneMask mask, uint32_t bytes) {
  const int lanes_at_once = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  uint32_t passes = 0;
  for (int first = 0; first < kLanes; first += lanes_at_once)
    passes += (uint64_t{mask} >> first & ((uint64_t{1} << lanes_at_once) - 1)) != 0;
  return passes;
}

uint64_t sectors(const uint64_t addresses[kLanes], LaneMask mask, uint32_t bytes) {
  std::vector<uint64_t> seen;
  for_each_lane(mask, [&](int i) {
    for (uint64_t s = addresses[i] / 32; s <= (addresses[i] + bytes - 1) / 32; ++s)
      seen.push_back(s);
  });
  std::sort(seen.begin(), seen.end());
  return uint64_t(std::unique(seen.begin(), seen.end()) - seen.begin());
}

void count(Context &c, ptx::Space space, const uint64_t addresses[kLanes], uint32_t bytes, AccessKind kind) {
  Counters &n = c.block.counters;
  if (space == ptx::Space::kGeneric) {
    const uint64_t window = addresses[__builtin_ctz(c.mask)] & ~(kWindowBytes - 1);
    space = window == kSharedWindow  ? ptx::Space::kShared
            : window == kLocalWindow ? ptx::Space::kLocal
            : window == kParamWindow ? ptx::Space::kParam
                                     : ptx::Space::kGlobal;
  }
  const uint64_t total = uint64_t{bytes} * uint64_t(__builtin_popcount(c.mask));
  const bool store = kind == AccessKind::kStore;
  if (space == ptx::Space::kGlobal) {
    (store ? n.global_store_bytes : n.global_load_bytes) += total;
    (store ? n.global_store_sectors : n.global_load_sectors) += sectors(addresses, c.mask, bytes);
  } else if (space == ptx::Space::kShared) {
    (store ? n.shared_store_bytes : n.shared_load_bytes) += total;
    ++n.shared_accesses;
    const uint32_t passes = bank_passes(addresses, c.mask, bytes), fewest = fewest_passes(c.mask, bytes);
    n.shared_conflicts += passes > fewest ? passes - fewest : 0;
  } else if (space == ptx::Space::kLocal) {
    n.local_bytes += total;
  }
}

} // namespace

Outcome observe_access(Context &c, const Instruction &in, ptx::Space space, const uint64_t addresses[kLanes],
                       uint32_t bytes, AccessKind kind) {
  if (c.block.launch.options.counters)
    count(c, space, addresses, bytes, kind);
  if (RaceDetector *races = c.block.launch.races)
    return races->access(c, in, space, addresses, bytes, kind);
  return Outcome::kNext;
}

} // namespace quaver::sim
