// Runs one block: turns of its groups, divergence and meeting, deadlocks.
#pragma once
#include "runtime/drivers/sim/machine/block.h"
#include "runtime/drivers/sim/machine/program.h"
#include <atomic>

namespace quaver::sim {

class RaceDetector;

/// What all blocks of a launch share. Immutable while they run, but for `stop`.
struct Launch {
  const Program &program;
  const LoadedModule &module;
  LaunchOptions options;
  Dim3 grid, block;
  uint32_t dynamic_shared_bytes = 0;
  std::span<const std::byte> params;
  const uint8_t *constants = nullptr; // the program's, relocated
  std::shared_ptr<const AllocationTable> allocations;
  std::atomic<uint64_t> *lowest_fault = nullptr; // index of the lowest block that has faulted
  RaceDetector *races = nullptr;                 // nullptr: not asked for
};

/// Runs `block` to its end or its first fault (block.fault). The Block may be reused for the next index.
void run_block(Block &block, uint64_t index);

} // namespace quaver::sim
