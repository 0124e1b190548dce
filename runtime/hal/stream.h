//===- stream.h - an in-order queue of work ---------------------------------===//
//
// Operations of one stream take effect in the order in which they were issued. Work of different streams is
// unordered except through Events. An issuing call may return before the work is done, or may do the work
// before it returns (an inline host stream does); a caller assumes neither, and synchronizes before it looks
// at results.
//
// Failure: a call that returns an error was not issued. Work that fails later makes the stream fail: what was
// issued after it is skipped (host callbacks still run, and get the error), and synchronize() and
// Event::wait() return the first error. synchronize() also clears it, so that the stream can be used again.
//
// Lifetime: buffers, executables and events that an operation names must stay alive until it has completed.
// The arrays of a LaunchParams are copied before launch() returns. The destructor waits for all issued work.
//
// Thread-safety: thread-compatible. One thread at a time issues to a stream; use one stream per thread.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace quaver::hal {

class Event;
class Kernel;

/// One kernel over workgroups [0, workgroups). 0 workgroups is nothing to do, not an error.
struct LaunchParams {
  const Kernel *kernel = nullptr;
  std::span<void *const> bindings;    // device addresses
  std::span<const int64_t> constants; // sizes and strides
  int64_t workgroups = 0;
  int64_t grain = 1;        // a worker takes at least this many workgroups at once
  size_t scratch_bytes = 0; // for each worker; on a GPU for each workgroup
  int block_threads = 1;    // GPU: threads that compute one workgroup
  size_t shared_bytes = 0;  // GPU: dynamic shared memory of a workgroup
};

class Stream {
public:
  /// Called in stream order with the stream's status so far. It may not issue to or synchronize its own
  /// stream.
  using HostCallback = std::function<void(const Status &)>;

  virtual ~Stream() = default;
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  /// Copies between device addresses of this device. The ranges must not overlap. 0 bytes is allowed.
  virtual Status copy(void *to, const void *from, size_t bytes) = 0;
  /// Copies from host memory, which must stay valid and unchanged until the copy has completed.
  virtual Status copy_from_host(void *to, const void *from_host, size_t bytes) = 0;
  /// Copies to host memory, which must stay valid until the copy has completed.
  virtual Status copy_to_host(void *to_host, const void *from, size_t bytes) = 0;
  /// Sets every byte of a range.
  virtual Status fill(void *to, uint8_t byte, size_t bytes) = 0;
  /// Runs a kernel. The kernel must come from an executable of a device with this stream's device identity.
  virtual Status launch(const LaunchParams &params) = 0;
  /// Calls a host function in stream order.
  virtual Status host_callback(HostCallback callback) = 0;
  /// Makes `event` stand for this point of the stream.
  virtual Status record(Event &event) = 0;
  /// Work issued after this call starts only when `event`, as recorded now, is complete. Its error does not
  /// spread.
  virtual Status wait(Event &event) = 0;
  /// Blocks until all issued work has completed; returns its first error and clears it.
  virtual Status synchronize() = 0;

protected:
  Stream() = default;
};

} // namespace quaver::hal
