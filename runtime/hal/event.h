//===- event.h - a point in a stream's work ---------------------------------===//
//
// An Event is recorded into a stream and completes when all work issued to that stream before the record has
// completed. It may be recorded again; it then stands for the newest record. An event that was never recorded
// counts as complete: waiting for it returns at once (as CUDA has it).
//
// Ownership: the creator owns it and destroys it only after every stream it was recorded into or that waits
// for it has passed that point. Thread-safety: all methods may be called from any thread.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/base/status.h"

namespace quaver::hal {

class Event {
public:
  virtual ~Event() = default;
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;

  /// True when the newest recorded point was reached, whether the work before it succeeded or failed.
  virtual bool is_complete() const = 0;

  /// Blocks until complete. Returns the error of the stream's work before the recorded point, if it had one.
  virtual Status wait() = 0;

protected:
  Event() = default;
};

} // namespace quaver::hal
