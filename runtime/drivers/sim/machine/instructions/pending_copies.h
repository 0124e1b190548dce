// Asynchronous copies that nobody has waited for: their bytes are marked in the shadow (shadow::kPending).
#pragma once
#include "runtime/drivers/sim/machine/memory.h"
#include <cstdint>
#include <deque>
#include <vector>

namespace quaver::sim {

struct PendingCopy {
  uint8_t *shadow;
  uint32_t bytes;
};
using PendingCopies = std::vector<PendingCopy>;

inline void mark_pending(const PendingCopy &p) {
  for (uint32_t i = 0; i < p.bytes; ++i)
    p.shadow[i] |= shadow::kPending;
}
inline void finish(const PendingCopies &copies) {
  for (const PendingCopy &p : copies)
    for (uint32_t i = 0; i < p.bytes; ++i)
      p.shadow[i] &= uint8_t(~shadow::kPending);
}

/// cp.async copies of the threads of a block.
struct ThreadCopies {
  PendingCopies open; // since the last commit
  std::deque<PendingCopies> groups;
};
struct BlockCopies {
  ThreadCopies threads[1024];
};

} // namespace quaver::sim
