//===- host_launch.cpp - runs a kernel's workgroups on the pool -------------===//
#include "runtime/drivers/host/host_launch.h"

#include "runtime/drivers/host/host_executable.h"
#include "runtime/hal/buffer.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

namespace quaver::hal {
namespace {

/// A thread's scratch memory: grows, never shrinks, goes with the thread.
class Scratch {
public:
  ~Scratch() { std::free(memory_); }

  /// At least `bytes`, 64-byte aligned; nullptr when there is no memory (or nothing was asked for).
  void *get(size_t bytes) {
    if (bytes <= capacity_)
      return bytes ? memory_ : nullptr;
    size_t rounded = (bytes + kBufferAlignment - 1) & ~(kBufferAlignment - 1);
    std::free(memory_);
    memory_ = std::aligned_alloc(kBufferAlignment, rounded);
    capacity_ = memory_ ? rounded : 0;
    return memory_;
  }

private:
  void *memory_ = nullptr;
  size_t capacity_ = 0;
};

thread_local Scratch scratch;

Status no_scratch(const LaunchParams &params) {
  return ResourceExhaustedError("not enough memory for " + std::to_string(params.scratch_bytes) +
                                " bytes of scratch for kernel '" + params.kernel->symbol() + "'");
}

} // namespace

Status HostWork::copy(void *to, const void *from, size_t bytes, Direction) {
  std::memmove(to, from, bytes); // why: a plan whose ranges overlap is wrong, not undefined
  return OkStatus();
}

Status HostWork::fill(void *to, uint8_t byte, size_t bytes) {
  std::memset(to, byte, bytes);
  return OkStatus();
}

Status run_launch(ThreadPool &pool, const LaunchParams &params) {
  HostKernelFunction function = static_cast<const HostKernel *>(params.kernel)->function;
  void *const *bindings = params.bindings.data();
  const int64_t *constants = params.constants.data();
  if (params.workgroups <= params.grain || pool.size() == 1) {
    void *memory = scratch.get(params.scratch_bytes);
    if (params.scratch_bytes && !memory)
      return no_scratch(params);
    function(bindings, constants, 0, params.workgroups, memory);
    return OkStatus();
  }
  std::atomic<bool> failed{false};
  pool.parallel_for(params.workgroups, params.grain, [&](int64_t begin, int64_t end) {
    void *memory = scratch.get(params.scratch_bytes);
    if (params.scratch_bytes && !memory)
      failed.store(true, std::memory_order_relaxed);
    else
      function(bindings, constants, begin, end, memory);
  });
  return failed.load(std::memory_order_relaxed) ? no_scratch(params) : OkStatus();
}

} // namespace quaver::hal
