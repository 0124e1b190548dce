//===- scheduler.cpp - turns, convergence, deadlocks ------------------------===//
//
// A block's groups take turns on one thread. With seed 0 warps run in order, each until it waits; with
// another seed the order and the length of each turn are drawn from it, which shows kernels that depend on
// either.
//
#include "runtime/drivers/sim/machine/scheduler.h"

#include "runtime/drivers/sim/machine/convergence.h"
#include "runtime/drivers/sim/machine/groups.h"
#include "runtime/drivers/sim/machine/races.h"
#include "runtime/drivers/sim/machine/special_registers.h"

#include <algorithm>
#include <numeric>

namespace quaver::sim {
namespace {

constexpr uint32_t kTurn = 4096;    // instructions
constexpr uint32_t kPatience = 64;  // turns that lanes wait at a meeting while others of their warp run
constexpr uint32_t kShortTurn = 96; // longest turn of a seeded run

class BlockRun {
public:
  explicit BlockRun(Block &block) : block_(block), launch_(block.launch) {}

  void run() {
    std::vector<uint32_t> order(block_.warps.size());
    std::iota(order.begin(), order.end(), 0);
    while (block_.fault.empty()) {
      if (launch_.lowest_fault->load(std::memory_order_relaxed) < block_.index)
        return; // a lower block has faulted: its fault is the one reported
      const uint64_t before = block_.progress;
      if (launch_.options.seed)
        std::shuffle(order.begin(), order.end(), block_.random);
      bool alive = false;
      for (uint32_t w : order) {
        run_warp(block_.warps[w]);
        alive |= !block_.warps[w].groups.empty();
        if (!block_.fault.empty())
          return;
      }
      if (!alive)
        return;
      if (block_.progress == before && !release_meetings())
        return report_stuck(block_);
    }
  }

private:
  void run_warp(Warp &warp) {
    Context c(block_, warp);
    // Groups that appear during the turn have theirs in it: a split's halves go on at once.
    for (size_t i = 0; i < warp.groups.size() && block_.fault.empty(); ++i)
      if (warp.groups[i]->mask)
        turn(c, *warp.groups[i]);
    std::erase_if(warp.groups, [](const std::unique_ptr<Group> &g) { return g->mask == 0; });
  }

  void turn(Context &c, Group &group) {
    set_clocks(block_, c.warp);
    enter_group(c, group);
    const uint32_t budget = launch_.options.seed ? 1 + uint32_t(block_.random() % kShortTurn) : kTurn;
    const uint32_t used = run_group(c, group, budget);
    block_.progress += used;
    if (used == budget)
      lose_patience(c, group);
  }

  // Executes the group until it waits, ends, faults or has used its budget. Returns the instructions
  // executed.
  uint32_t run_group(Context &c, Group &group, uint32_t budget) {
    const Instruction *code = launch_.program.code.data();
    Counters &counters = block_.counters;
    const bool count = launch_.options.counters;
    uint32_t used = 0;
    for (; used < budget; ++used) {
      const Instruction &in = code[group.position];
      if (in.is_leader && at_meeting(group)) [[unlikely]] {
        arrive(c, group);
        return used + 1;
      }
      LaneMask mask = group.mask;
      if (in.has_guard)
        mask &= c.predicate(in.guard);
      if (!mask) {
        ++group.position;
        continue;
      }
      c.mask = mask;
      Outcome outcome = Outcome::kNext;
      if (c.warp.watch)
        outcome = c.warp.watch(c, in);
      if (outcome == Outcome::kNext) {
        if (in.convergence != Convergence::kNone && mask != c.warp.live) [[unlikely]] {
          outcome = execute_converged(c, in);
        } else if (in.convergence == Convergence::kMembers) {
          outcome = execute_members(c, in);
        } else {
          outcome = in.execute(c, in);
        }
      }
      if (outcome == Outcome::kNext) {
        group.waits = false;
        ++group.position;
      } else if (outcome == Outcome::kRetry) {
        group.waits = true;
        return used;
      } else if (outcome == Outcome::kFault) {
        return used;
      } else {
        group.waits = false;
      }
      ++counters.warp_instructions;
      const uint32_t lanes = uint32_t(__builtin_popcount(mask));
      counters.thread_instructions += lanes;
      if (count)
        counters.by_class[size_t(in.cls)] += lanes;
      if (++c.warp.steps > launch_.options.max_steps) [[unlikely]] {
        c.fault(in, -1, "the warp has executed ", launch_.options.max_steps,
                " instructions: an endless loop?");
        return used;
      }
      if (group.mask == 0) // exited, returned or met
        return used + 1;
    }
    return used;
  }

  // The group ran a whole turn: lanes that have waited for it through many are let go without it.
  void lose_patience(Context &c, Group &group) {
    for (std::shared_ptr<Meeting> at = group.meeting; at; at = at->outer)
      if (at->arrived && ++at->patience > kPatience)
        release(c, *at);
  }

  // Nothing moves: lanes at meetings may be those that the others wait for.
  bool release_meetings() {
    bool released = false;
    for (Warp &warp : block_.warps) {
      Context c(block_, warp);
      for (size_t i = 0; i < warp.groups.size(); ++i)
        for (std::shared_ptr<Meeting> at = warp.groups[i]->meeting; at; at = at->outer)
          if (at->arrived) {
            release(c, *at);
            released = true;
          }
    }
    return released;
  }

  Block &block_;
  const Launch &launch_;
};

} // namespace

void run_block(Block &block, uint64_t index) {
  const Launch &launch = block.launch;
  block.index = index;
  block.id = {uint32_t(index % launch.grid.x), uint32_t(index / launch.grid.x % launch.grid.y),
              uint32_t(index / launch.grid.x / launch.grid.y)};
  block.threads = uint32_t(launch.block.count());
  block.random.seed(launch.options.seed * 0x9e3779b97f4a7c15u + index);
  const size_t shared = launch.program.dynamic_shared_offset + launch.dynamic_shared_bytes;
  block.shared.assign(shared, std::byte{0xa5});
  block.shared_shadow.assign(shared, 0);
  for (BarrierState &b : block.barriers)
    b = BarrierState();
  block.reset_states();
  block.progress = 0;
  block.warps.resize((block.threads + kLanes - 1) / kLanes);
  for (uint32_t w = 0; w < block.warps.size(); ++w) {
    Warp &warp = block.warps[w];
    warp.index = w;
    const uint32_t threads = std::min<uint32_t>(kLanes, block.threads - w * kLanes);
    warp.existing = warp.live = threads == kLanes ? kAllLanes : (LaneMask{1} << threads) - 1;
    warp.groups.clear();
    warp.steps = 0;
    warp.watch = nullptr;
    if (!warp.specials)
      warp.specials = std::make_unique<uint8_t[]>(special_register_bytes());
    set_special_registers(block, warp);
    Context c(block, warp);
    c.grow_local(launch.program.functions[0].local_bytes); // within the limit: launch() has checked it
    std::fill(warp.local_shadow.begin(), warp.local_shadow.end(), uint8_t{0});
    start_warp(c);
  }
  if (launch.races)
    launch.races->begin_block(index, block.warps.size());
  BlockRun(block).run();
  ++block.counters.blocks;
}

} // namespace quaver::sim
