//===- races.cpp - unordered accesses ---------------------------------------===//
#include "runtime/drivers/sim/machine/races.h"

#include "runtime/drivers/sim/machine/instructions/memory_order.h"
#include "runtime/drivers/sim/machine/scheduler.h"

#include <algorithm>
#include <sstream>

namespace quaver::sim {
namespace {

constexpr uint8_t kSeveral = 255;
constexpr size_t kMostEntries = 8; // of a word; beyond, the oldest is forgotten

} // namespace

uint32_t VectorClock::at(uint64_t warp) const {
  if (warp - first_ < dense_.size())
    return dense_[warp - first_];
  auto found = others_.find(warp);
  return found == others_.end() ? 0 : found->second;
}

void VectorClock::set(uint64_t warp, uint32_t time) {
  if (warp - first_ < dense_.size())
    dense_[warp - first_] = time;
  else
    others_[warp] = time;
}

void VectorClock::join(const VectorClock &other) {
  for (size_t i = 0; i < other.dense_.size(); ++i)
    if (other.dense_[i] > at(other.first_ + i))
      set(other.first_ + i, other.dense_[i]);
  for (auto [warp, time] : other.others_)
    if (time > at(warp))
      set(warp, time);
}

void RaceDetector::begin_block(uint64_t block, size_t warps) {
  block_ = block;
  warps_per_block_ = warps;
  shared_.clear();
  released_shared_.clear();
  barriers_.clear();
  warps_.assign(warps, {});
  for (size_t w = 0; w < warps; ++w) {
    WarpState &state = warps_[w];
    state.clock = state.fenced = state.to_acquire = VectorClock(block * warps, warps);
    state.clock.set(block * warps + w, 1);
  }
}

// Later accesses of the warp are not part of what others have been told.
void RaceDetector::tick(const Warp &warp) {
  VectorClock &clock = warps_[warp.index].clock;
  clock.set(number(warp), clock.at(number(warp)) + 1);
}

void RaceDetector::arrive(const Warp &warp, const void *object, uint64_t phase) {
  WarpState &state = warps_[warp.index];
  Barrier &b = barriers_[{object, phase & 1}];
  b.clock.join(state.clock);
  b.fenced.join(state.fenced);
  ++state.warp_syncs;
  tick(warp);
}

void RaceDetector::leave(const Warp &warp, const void *object, uint64_t phase) {
  WarpState &state = warps_[warp.index];
  const Barrier &b = barriers_[{object, phase & 1}];
  state.clock.join(b.clock);
  state.fenced.join(b.fenced); // what all have made visible before the barrier, one may announce behind it
  ++state.warp_syncs;
}

void RaceDetector::warp_sync(const Warp &warp) { ++warps_[warp.index].warp_syncs; }

void RaceDetector::fence(const Warp &warp) {
  WarpState &state = warps_[warp.index];
  state.clock.join(state.to_acquire);
  state.fenced = state.clock;
  tick(warp);
}

// A strong access: what it announces, and what it learns.
void RaceDetector::synchronize(const Warp &warp, uint64_t address, bool reads, bool writes, uint64_t order) {
  WarpState &state = warps_[warp.index];
  auto &released = address < kSharedWindow ? released_shared_ : released_;
  auto known = released.find(address);
  if (reads && known != released.end()) {
    (order & kAcquire ? state.clock : state.to_acquire).join(known->second);
    ++state.warp_syncs; // lanes may have told each other
  }
  if (!writes)
    return;
  VectorClock &told = released[address];
  if (!reads) // a plain store ends what others have released here
    told = VectorClock();
  told.join(order & kRelease ? state.clock : state.fenced);
  if (order & kRelease)
    tick(warp);
}

const RaceDetector::Entry *RaceDetector::conflict(const Word &word, const Entry &e,
                                                  const WarpState &state) const {
  for (const Entry &old : word) {
    if (!(old.bytes & e.bytes) || !(old.is_write || e.is_write) || (old.is_strong && e.is_strong))
      continue;
    if (old.warp != e.warp) {
      if (state.clock.at(old.warp) < old.time)
        return &old;
    } else if ((old.lane != e.lane || e.lane == kSeveral) && old.warp_syncs == e.warp_syncs &&
               old.step != e.step) {
      return &old;
    }
  }
  return nullptr;
}

void RaceDetector::remember(Word &word, const Entry &e, const WarpState &state) {
  for (Entry &old : word)
    if (old.warp == e.warp && old.step == e.step && old.what == e.what) { // another lane of this instruction
      old.lane = old.lane == e.lane ? old.lane : kSeveral;
      old.bytes |= e.bytes;
      return;
    }
  // What is ordered before this access and covered by it cannot race with anything that this one does not. An
  // earlier read says nothing beside a write.
  std::erase_if(word, [&](const Entry &old) {
    const bool ordered = old.warp == e.warp ? old.lane == e.lane || old.warp_syncs != e.warp_syncs
                                            : state.clock.at(old.warp) >= old.time;
    return ordered && !(old.bytes & ~e.bytes) && (e.is_write || !old.is_write) &&
           (old.is_strong || !e.is_strong);
  });
  if (word.size() == kMostEntries)
    word.erase(word.begin());
  word.push_back(e);
}

Outcome RaceDetector::access(Context &c, const Instruction &in, ptx::Space space,
                             const uint64_t addresses[kLanes], uint32_t bytes, AccessKind kind) {
  WarpState &state = warps_[c.warp.index];
  Entry entry;
  entry.warp = number(c.warp);
  entry.what = &in;
  entry.time = state.clock.at(entry.warp);
  entry.step = uint32_t(c.warp.steps);
  entry.is_write = kind != AccessKind::kLoad;
  entry.is_strong = kind == AccessKind::kAtomic || in.variant & kStrong;
  const uint64_t order = entry.is_strong ? in.variant & (kAcquire | kRelease) : 0;
  for (LaneMask left = c.mask; left; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    uint64_t address = addresses[lane];
    ptx::Space where = space;
    if (space == ptx::Space::kGeneric) {
      const uint64_t window = address & ~(kWindowBytes - 1);
      where = window == kSharedWindow                            ? ptx::Space::kShared
              : window == kLocalWindow || window == kParamWindow ? ptx::Space::kLocal
                                                                 : ptx::Space::kGlobal;
      address -= where == ptx::Space::kShared ? kSharedWindow : 0;
    }
    if (where != ptx::Space::kShared && where != ptx::Space::kGlobal)
      continue;
    auto &words = where == ptx::Space::kShared ? shared_ : global_;
    if (entry.is_strong)
      synchronize(c.warp, address, kind != AccessKind::kStore, entry.is_write, order);
    entry.warp_syncs = state.warp_syncs;
    entry.lane = uint8_t(lane);
    for (uint64_t word = address / 4; word <= (address + bytes - 1) / 4; ++word) {
      const uint64_t first = std::max(address, word * 4), end = std::min(address + bytes, word * 4 + 4);
      entry.bytes = uint8_t(((1u << (end - first)) - 1) << (first - word * 4));
      Word &known = words[word];
      if (const Entry *old = conflict(known, entry, state)) {
        std::ostringstream at;
        at << "0x" << std::hex << first;
        const uint64_t block = old->warp / warps_per_block_, warp = old->warp % warps_per_block_;
        return c.fault(in, lane, "data race at ", at.str(), " of .", spelling(where), " memory (",
                       c.describe(where, first), "): this ",
                       kind == AccessKind::kLoad     ? "read"
                       : kind == AccessKind::kAtomic ? "atomic"
                                                     : "write",
                       " and the ", old->is_write ? "write" : "read", " by ",
                       block == block_ ? "" : str_cat("block ", block, " "), "warp ", warp,
                       old->lane == kSeveral ? "" : str_cat(" lane ", int(old->lane)), " at line ",
                       old->what->source->at.line, " (", old->what->source->text,
                       ") are not ordered by a barrier, fence or strong access");
      }
      remember(known, entry, state);
    }
  }
  return Outcome::kNext;
}

} // namespace quaver::sim
