//===- host_launch.h - runs a kernel's workgroups on the pool ---------------===//
#pragma once

#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"
#include "runtime/drivers/software/software_stream.h"

namespace quaver::hal {

/// Runs all workgroups and returns when they are done. A launch of at most one grain runs on the calling
/// thread. Scratch belongs to the thread and is kept for its next launch, so a warm launch allocates nothing.
Status run_launch(ThreadPool &pool, const LaunchParams &params);

/// Copies, fills and launches on host memory.
class HostWork final : public SoftwareWork {
public:
  explicit HostWork(ThreadPool &pool) : pool_(pool) {}
  Status copy(void *to, const void *from, size_t bytes, Direction direction) override;
  Status fill(void *to, uint8_t byte, size_t bytes) override;
  Status check_launch(const LaunchParams &params) override { return OkStatus(); }
  Status launch(const LaunchParams &params) override { return run_launch(pool_, params); }

private:
  ThreadPool &pool_;
};

} // namespace quaver::hal
