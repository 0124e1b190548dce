//===- software_event.cpp - a point in a software stream's work ---------------------===//
#include "runtime/drivers/software/software_event.h"

namespace quaver::hal {

bool SoftwareEvent::is_complete() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return completed_ >= issued_;
}

Status SoftwareEvent::wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  uint64_t ticket = issued_;
  reached_.wait(lock, [&] { return completed_ >= ticket; });
  return status_;
}

uint64_t SoftwareEvent::begin_record() {
  std::lock_guard<std::mutex> lock(mutex_);
  return ++issued_;
}

void SoftwareEvent::complete_record(uint64_t ticket, Status status) {
  // why: notified under the lock, so that a waiter which destroys the event right after wait() cannot do so
  // while this thread still touches the condition variable.
  std::lock_guard<std::mutex> lock(mutex_);
  if (ticket > completed_) {
    completed_ = ticket;
    status_ = std::move(status);
  }
  reached_.notify_all();
}

uint64_t SoftwareEvent::newest_record() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return issued_;
}

void SoftwareEvent::wait_for(uint64_t ticket) const {
  std::unique_lock<std::mutex> lock(mutex_);
  reached_.wait(lock, [&] { return completed_ >= ticket; });
}

} // namespace quaver::hal
