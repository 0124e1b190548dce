//===- host_event.cpp - a point in a host stream's work ---------------------===//
#include "runtime/drivers/host/host_event.h"

namespace quaver::hal {

bool HostEvent::is_complete() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return completed_ >= issued_;
}

Status HostEvent::wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  uint64_t ticket = issued_;
  reached_.wait(lock, [&] { return completed_ >= ticket; });
  return status_;
}

uint64_t HostEvent::begin_record() {
  std::lock_guard<std::mutex> lock(mutex_);
  return ++issued_;
}

void HostEvent::complete_record(uint64_t ticket, Status status) {
  // why: notified under the lock, so that a waiter which destroys the event right after wait() cannot do so
  // while this thread still touches the condition variable.
  std::lock_guard<std::mutex> lock(mutex_);
  if (ticket > completed_) {
    completed_ = ticket;
    status_ = std::move(status);
  }
  reached_.notify_all();
}

uint64_t HostEvent::newest_record() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return issued_;
}

void HostEvent::wait_for(uint64_t ticket) const {
  std::unique_lock<std::mutex> lock(mutex_);
  reached_.wait(lock, [&] { return completed_ >= ticket; });
}

} // namespace quaver::hal
