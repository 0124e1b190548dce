//===- state_set.h - the states of one user of a session --------------------===//
//
// Key-value caches, moments, a random generator: what outlives a run. A session has one set of its own; more
// can be made, one for each conversation, say, and named in a run. States are reserved at their capacity and
// start as their initial weight says, or zero. The state `quaver.random` (u64) starts with the seed as its
// first element.
//
// Thread-safety: all methods may be called from any thread; they take turns with runs through the gate.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/base/status.h"
#include "runtime/executor/loaded_target.h"
#include "runtime/executor/state_gate.h"
#include "runtime/hal/buffer.h"
#include "runtime/hal/device.h"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace quaver {

inline constexpr std::string_view kRandomStateName = "quaver.random";

class StateSet {
public:
  /// Allocates and resets all states of the plan. The arguments must outlive the set.
  static StatusOr<std::unique_ptr<StateSet>> create(const plan::Plan &plan, const LoadedTarget &target,
                                                    hal::Device &device, uint64_t seed);

  /// Back to the initial contents: the state named `name`, or all when it is empty.
  Status reset(std::string_view name);
  StatusOr<size_t> bytes(std::string_view name) const;
  /// Copies a state's bytes out and in. The span must have exactly bytes(name) bytes.
  Status save(std::string_view name, std::span<std::byte> out);
  Status load(std::string_view name, std::span<const std::byte> in);

  /// For runs: by state of the plan, and the turn to take.
  std::span<hal::Buffer *const> buffers() const { return pointers_; }
  StateGate &gate() { return gate_; }
  /// Only runs of this target may use the set.
  const LoadedTarget &target() const { return target_; }
  size_t total_bytes() const;

private:
  StateSet(const plan::Plan &plan, const LoadedTarget &target, hal::Device &device, uint64_t seed)
      : plan_(plan), target_(target), device_(device), seed_(seed) {}
  StatusOr<int> find(std::string_view name) const;
  Status reset_one(int index, hal::Stream &stream);

  const plan::Plan &plan_;
  const LoadedTarget &target_;
  hal::Device &device_;
  uint64_t seed_;
  std::vector<std::unique_ptr<hal::Buffer>> buffers_;
  std::vector<hal::Buffer *> pointers_;
  StateGate gate_;
};

} // namespace quaver
