// Data races: two accesses of one place, at least one a write, not both strong, that nothing orders.
// Happens-before by vector clocks (Lamport; Flanagan and Freund, "FastTrack", PLDI 2009) of warps; PTX
// ISA 9.0, chapter 8 (memory consistency model).
//
// What orders: program order, barriers, bar.warp.sync (lanes of a warp), release and acquire through strong
// accesses, with fences or of their own. Clocks are those of warps: a fence or an acquire of one lane counts
// for its warp. Scopes are not told apart. Two lanes that write one place with the same instruction are not
// reported.
#pragma once
#include "runtime/drivers/sim/machine/observe.h"
#include <map>
#include <unordered_map>
#include <vector>

namespace quaver::sim {

/// For each warp of the launch, by number, how much of its past is known: times up to the value. Warps of one
/// block are dense.
class VectorClock {
public:
  VectorClock() = default;
  VectorClock(uint64_t first, size_t warps) : first_(first), dense_(warps) {}
  uint32_t at(uint64_t warp) const;
  void set(uint64_t warp, uint32_t time);
  void join(const VectorClock &other);

private:
  uint64_t first_ = 0;
  std::vector<uint32_t> dense_;
  std::map<uint64_t, uint32_t> others_;
};

/// Of one launch; its blocks run one after another.
class RaceDetector {
public:
  void begin_block(uint64_t block, size_t warps);
  /// Checks and remembers one access of a warp. kFault: a race was recorded.
  Outcome access(Context &c, const Instruction &in, ptx::Space space, const uint64_t addresses[kLanes],
                 uint32_t bytes, AccessKind kind);

  /// A phase of a barrier, or of anything like it (an mbarrier), that `object` stands for.
  void arrive(const Warp &warp, const void *object, uint64_t phase);
  void leave(const Warp &warp, const void *object, uint64_t phase);
  /// bar.warp.sync.
  void warp_sync(const Warp &warp);
  /// fence.acq_rel, fence.sc, membar.
  void fence(const Warp &warp);

private:
  struct Entry {
    uint64_t warp; // number in the launch
    const Instruction *what;
    uint32_t time, warp_syncs, step;
    uint8_t lane;  // kSeveral: more than one of the instruction
    uint8_t bytes; // mask of the word's bytes
    bool is_write, is_strong;
  };
  struct WarpState {
    VectorClock clock, fenced,
        to_acquire; // fenced: at the last fence; to_acquire: what the next fence takes in
    uint32_t warp_syncs = 0;
  };
  using Word = std::vector<Entry>;

  uint64_t number(const Warp &warp) const { return block_ * warps_per_block_ + warp.index; }
  const Entry *conflict(const Word &word, const Entry &entry, const WarpState &state) const;
  void remember(Word &word, const Entry &entry, const WarpState &state);
  void synchronize(const Warp &warp, uint64_t address, bool reads, bool writes, uint64_t order);
  void tick(const Warp &warp);

  uint64_t block_ = 0, warps_per_block_ = 1;
  std::vector<WarpState> warps_;
  std::unordered_map<uint64_t, Word> global_, shared_; // by address / 4
  std::unordered_map<uint64_t, VectorClock> released_,
      released_shared_; // by address: what an acquire of it takes in
  struct Barrier {
    VectorClock clock, fenced;
  };
  std::map<std::pair<const void *, uint64_t>, Barrier> barriers_; // by object and phase, even or odd
};

} // namespace quaver::sim
