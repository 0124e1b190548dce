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

} // namespace quaver
