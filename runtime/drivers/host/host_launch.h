//===- host_launch.h - runs a kernel's workgroups on the pool ---------------===//
#pragma once

#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"
#include "runtime/hal/stream.h"

namespace quaver::hal {

/// What can be wrong with a launch before it starts.
Status check_launch(const LaunchParams &params);

/// Runs all workgroups and returns when they are done. A launch of at most one grain runs on the calling
/// thread. Scratch belongs to the thread and is kept for its next launch, so a warm launch allocates nothing.
Status run_launch(ThreadPool &pool, const LaunchParams &params);

} // namespace quaver::hal
