// .weak .relaxed .acquire .release .acq_rel .volatile and their scopes. PTX ISA 9.0, chapter 8.
#pragma once
#include "runtime/drivers/sim/machine/decoder.h"

namespace quaver::sim {

// Bits of Instruction::variant of loads, stores, atomics and fences.
inline constexpr uint64_t kStrong = 1, kAcquire = 2,
                          kRelease = 4;    // kStrong: morally strong, no race with its like
inline constexpr int kMemoryOrderBits = 8; // handlers' own bits begin here

inline uint64_t take_memory_order(Decoder &d) {
  uint64_t order = 0;
  if (d.take("relaxed") || d.take("volatile"))
    order = kStrong;
  if (d.take("mmio"))
    order |= kStrong;
  if (d.take("acquire"))
    order = kStrong | kAcquire;
  if (d.take("release"))
    order = kStrong | kRelease;
  if (d.take("acq_rel") || d.take("sc"))
    order = kStrong | kAcquire | kRelease;
  d.take("weak");
  d.take_one({"cta", "cluster", "gpu", "sys"});
  return order;
}

} // namespace quaver::sim
