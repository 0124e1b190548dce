// The state of a running thread block: its warps, their groups of lanes, its shared memory.
#pragma once
#include "runtime/drivers/sim/machine/instruction.h"
#include "runtime/drivers/sim/machine/launch.h"
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace quaver::sim {

/// Registers of one activation of a function. Groups of one warp that are in the same activation share it:
/// their lanes are disjoint.
struct Frame {
  std::unique_ptr<uint8_t[]> registers;
  uint8_t *base = nullptr;       // 64-byte aligned in `registers`
  uint32_t function = 0;         // index in Program::functions
  uint32_t call = 0;             // position of the call
  uint32_t local_base = 0;       // first byte of its variables in each thread's local memory
  uint32_t depth = 0;            // calls deep
  std::shared_ptr<Frame> caller; // nullptr: the kernel itself
};

/// A place where the groups that a branch made meet again: its immediate post-dominator. Lanes that reach it
/// stay until all expected ones have, or have exited. Waiting here is a service, not a rule of PTX: lanes
/// that wait long are let go (see scheduler.cpp), so that threads of a warp never depend on each other's
/// progress.
struct Meeting {
  uint32_t position = 0; // kReturnPosition: the end of the function
  std::shared_ptr<Frame> frame;
  LaneMask expected = 0, arrived = 0;
  uint32_t stack_top = 0;
  uint32_t patience = 0; // turns that others have taken since lanes arrived
  std::shared_ptr<Meeting> outer;
};

/// Lanes of a warp that are at the same place. A warp starts as one group; branches split groups.
struct Group {
  LaneMask mask = 0;
  uint32_t position = 0; // in Program::code
  std::shared_ptr<Frame> frame;
  std::shared_ptr<Meeting> meeting; // the innermost that it is expected at
  uint32_t stack_top = 0;           // bytes of local memory in use
  bool waits = false;               // the last turn ended in kRetry, or lanes are missing for a convergence
  bool arrived = false;             // bar.sync: this wait has been counted at the barrier
  uint64_t ticket = 0;              // bar.sync: the phase that it waits for the end of
};

struct Warp {
  uint32_t index = 0;                         // in the block
  LaneMask existing = 0;                      // lanes that are threads of the block
  LaneMask live = 0;                          // those that have not exited
  std::vector<std::unique_ptr<Group>> groups; // empty ones (mask 0) go at the end of a turn
  std::unique_ptr<uint8_t[]> specials;        // lanes of special registers
  std::vector<std::byte> local;               // [lane][local_capacity]
  std::vector<uint8_t> local_shadow;
  uint32_t local_capacity = 0;
  uint64_t steps = 0;
  /// Called before each instruction of the warp when set: wgmma's check of registers in flight. Not kNext:
  /// that outcome is the instruction's.
  Outcome (*watch)(Context &, const Instruction &) = nullptr;
};

/// barrier.sync and its kin, ID 0-15.
struct BarrierState {
  uint32_t expected = 0; // threads, in whole warps; 0: no phase under way, or one of all threads
  uint32_t arrived = 0;  // likewise
  uint64_t phase = 0;
  const Instruction *first = nullptr;                        // that began the phase
  uint32_t reduce_all = 1, reduce_any = 0, reduce_count = 0; // of the phase under way
  uint32_t last_all = 0, last_any = 0, last_count = 0;       // of the phase that ended last
};

struct Launch; // what all blocks of a launch share (scheduler.h)

struct Block {
  const Launch &launch;
  uint64_t index = 0; // linear
  Dim3 id;            // %ctaid
  uint32_t threads = 0;
  std::vector<Warp> warps;
  std::vector<std::byte> shared; // address kSharedBase + i
  std::vector<uint8_t> shared_shadow;
  BarrierState barriers[16];
  std::mt19937_64 random;
  Counters counters;
  std::vector<std::string> notes;
  uint64_t progress = 0; // instructions executed; a group that waits can see whether others moved
  std::string fault;     // empty: none
  StatusCode fault_code = StatusCode::kOk;

  explicit Block(const Launch &l) : launch(l) {}

  /// State that an instruction group keeps for a block (mbarriers, copies in flight): made at first use.
  template <class T> T &state() {
    static const char key = 0;
    std::shared_ptr<void> &slot = states_[&key];
    if (!slot)
      slot = std::make_shared<T>();
    return *static_cast<T *>(slot.get());
  }

  void reset_states() { states_.clear(); }

private:
  std::unordered_map<const void *, std::shared_ptr<void>> states_;
};

} // namespace quaver::sim
