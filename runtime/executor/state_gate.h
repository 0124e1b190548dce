//===- state_gate.h - turns of runs that touch session state ----------------===//
//
// Runs that write a session's state happen one after the other, runs that only read it may overlap. This is a
// turn that a run holds from issue to completion, possibly on different threads, not a lock around kernels:
// runs of entries without state never come near it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

namespace quaver {

class StateGate {
public:
  enum class Access { kNone, kRead, kWrite };

  /// Blocks until the access is possible. Turns are taken in order of arrival, so that a writer is not
  /// starved.
  void enter(Access access);
  /// Gives the turn back; any thread may do it.
  void leave(Access access);

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t next_ticket_ = 0;
  uint64_t serving_ = 0;
  int readers_ = 0;
  bool has_writer_ = false;
};

/// Holds a turn until it is destroyed; may be moved to whoever completes the run.
class StateTurn {
public:
  /// gate: nullptr = nothing to wait for.
  StateTurn(StateGate *gate, StateGate::Access access) : gate_(gate), access_(access) {
    if (gate_)
      gate_->enter(access_);
  }
  StateTurn(StateTurn &&other) noexcept
      : gate_(std::exchange(other.gate_, nullptr)), access_(other.access_) {}
  StateTurn &operator=(StateTurn &&) = delete;
  ~StateTurn() {
    if (gate_)
      gate_->leave(access_);
  }

private:
  StateGate *gate_;
  StateGate::Access access_;
};

} // namespace quaver
