//===- host_stream.h - in-order work on the host ----------------------------===//
//
// Two kinds, one meaning. An inline stream does the work inside the issuing call, whose thread is one of the
// workers: there is nothing to hand over and nothing to wait for. A queued stream has a thread that works off
// what was issued.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/base/thread_pool.h"
#include "runtime/hal/device.h"
#include "runtime/hal/stream.h"

#include <memory>

namespace quaver::hal {

/// A stream whose launches run on `pool`, which must outlive it.
std::unique_ptr<Stream> make_host_stream(ThreadPool &pool, StreamMode mode);

} // namespace quaver::hal
