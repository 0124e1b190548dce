//===- device.h - a place where kernels run ---------------------------------===//
//
// A Device makes buffers, streams, events and executables. Everything made by a device must be destroyed
// before it. Thread-safety: all methods may be called from any thread.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace quaver::hal {

class Buffer;
class Event;
class Executable;
class Stream;

/// What the opener of a device may choose.
struct DeviceOptions {
  int threads =
      0; // workers of a host launch, the calling thread included; 0 = one for each CPU this process may use
};

/// What a device says of itself.
struct DeviceInfo {
  std::string name;                // as it was opened: "host", "cuda:0"
  std::string description;         // for people: the CPU's or GPU's name
  int workers = 1;                 // launches are split for this many workers
  bool is_host_addressable = true; // device addresses are host addresses: nothing needs staging
};

enum class StreamMode {
  kInline, // work may be done by the issuing call itself: least latency
  kQueued, // issuing calls return at once, work is done in the background
};

/// A code module as the artifact holds it. Not copied: `code` must stay valid during load_executable only.
struct ExecutableSource {
  std::string_view name;                 // for messages: the module's path in the artifact
  std::string_view target;               // "x86-64-v3", "sm_90a"
  std::span<const std::string> features; // CPUID names the code needs; empty for GPUs
  std::span<const std::byte> code;
};

class Device {
public:
  virtual ~Device() = default;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  virtual const DeviceInfo &info() const = 0;

  /// Devices of one identity can launch each other's executables and address each other's buffers ("host"
  /// whatever the number of threads, "cuda:0").
  virtual std::string_view identity() const = 0;

  /// How well this device runs code of a target: higher is better. An error says in one sentence why it
  /// cannot, with the remedy ("needs avx512_bf16, which this CPU lacks: recompile with --target x86-64-v3").
  virtual StatusOr<int> rank_target(std::string_view target, std::span<const std::string> features) const = 0;

  /// Memory of `bytes` (may be 0), 64-byte aligned, contents undefined. kResourceExhausted when there is not
  /// enough.
  virtual StatusOr<std::unique_ptr<Buffer>> allocate(size_t bytes) = 0;

  /// Wraps caller-owned memory that this device can address. `release` (may be empty) is called when the
  /// Buffer is destroyed. The address needs the alignment of its elements only.
  virtual StatusOr<std::unique_ptr<Buffer>> import_buffer(void *address, size_t bytes,
                                                          std::function<void()> release) = 0;

  virtual StatusOr<std::unique_ptr<Stream>> create_stream(StreamMode mode) = 0;
  virtual StatusOr<std::unique_ptr<Event>> create_event() = 0;

  /// Loads a module after the checks of rank_target.
  virtual StatusOr<std::shared_ptr<Executable>> load_executable(const ExecutableSource &source) = 0;

protected:
  Device() = default;
};

} // namespace quaver::hal
