//===- software_stream.h - in-order work that the CPU does -----------------===//
//
// For devices whose operations are function calls. Two kinds of streams, one meaning. An inline stream does
// the work inside the issuing call, whose thread is one of the workers: there is nothing to hand over and
// nothing to wait for. A queued stream has a thread that works off what was issued.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/hal/device.h"
#include "runtime/hal/stream.h"

#include <memory>

namespace quaver::hal {

/// The operations of such a device. Each does its work before it returns; streams of several threads call
/// them at the same time.
class SoftwareWork {
public:
  enum class Direction { kDevice, kFromHost, kToHost };

  virtual ~SoftwareWork() = default;
  /// `bytes` is not 0 and no address is null.
  virtual Status copy(void *to, const void *from, size_t bytes, Direction direction) = 0;
  virtual Status fill(void *to, uint8_t byte, size_t bytes) = 0;
  /// What can be wrong with a launch, asked when it is issued.
  virtual Status check_launch(const LaunchParams &params) = 0;
  /// `params.workgroups` is not 0, and check_launch found nothing.
  virtual Status launch(const LaunchParams &params) = 0;
};

/// What is wrong with a launch on any device: no kernel, a negative count, grain 0.
Status check_launch_counts(const LaunchParams &params);

/// A stream of `work`, which must outlive it. Its events are SoftwareEvents.
std::unique_ptr<Stream> make_software_stream(SoftwareWork &work, StreamMode mode);

} // namespace quaver::hal
