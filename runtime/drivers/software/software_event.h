//===- software_event.h - a point in a software stream's work -----------------------===//
#pragma once

#include "runtime/hal/event.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace quaver::hal {

/// Every record takes a ticket; the event is complete when the newest ticket was reached.
class SoftwareEvent final : public Event {
public:
  bool is_complete() const override;
  Status wait() override;

  /// At issue: returns the ticket of a new record.
  uint64_t begin_record();
  /// When the stream reaches the point: completes `ticket` with the stream's status.
  void complete_record(uint64_t ticket, Status status);
  /// At issue of a wait: the ticket to wait for.
  uint64_t newest_record() const;
  /// Blocks until `ticket` was reached.
  void wait_for(uint64_t ticket) const;

private:
  mutable std::mutex mutex_;
  mutable std::condition_variable reached_;
  uint64_t issued_ = 0;
  uint64_t completed_ = 0;
  Status status_; // of the newest completed record
};

} // namespace quaver::hal
