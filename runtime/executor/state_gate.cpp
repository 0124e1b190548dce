//===- state_gate.cpp - turns of runs that touch session state --------------===//
#include "runtime/executor/state_gate.h"

namespace quaver {

void StateGate::enter(Access access) {
  if (access == Access::kNone)
    return;
  std::unique_lock<std::mutex> lock(mutex_);
  uint64_t ticket = next_ticket_++;
  changed_.wait(
      lock, [&] { return serving_ == ticket && !has_writer_ && (access == Access::kRead || readers_ == 0); });
  ++serving_;
  if (access == Access::kRead)
    ++readers_;
  else
    has_writer_ = true;
  changed_.notify_all(); // the next reader may follow at once
}

void StateGate::leave(Access access) {
  if (access == Access::kNone)
    return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (access == Access::kRead)
    --readers_;
  else
    has_writer_ = false;
  changed_.notify_all();
}

} // namespace quaver
