//===- run.h - one run of an entry ------------------------------------------===//
//
// A RunContext holds what a run needs and the next run can use again: the arena, evaluated sizes, scratch
// arrays and a stream. A session pools contexts, one for each run under way, so that concurrent runs share
// nothing but weights, code and the device. `Run` is the walk itself.
//
// Where sizes come from, in this order: input shapes bind dimensions; read-backs of inputs (the prologue)
// bind those that depend on input values; then the arena is reserved, data-dependent dimensions at their
// bounds; then the walk binds the rest. What depends on a dimension without a bound is placed when the walk
// has bound it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/executor/entry_program.h"
#include "runtime/executor/loaded_target.h"
#include "runtime/executor/tensor.h"
#include "runtime/hal/device.h"
#include "runtime/hal/stream.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quaver {

/// How long one launch took, measured by Run with `profile` set.
struct LaunchTime {
  std::string label;
  std::string kernel;
  int64_t nanoseconds = 0;
};

struct RunContext {
  SizeValues sizes;
  std::vector<std::vector<int64_t>> shapes; // input shapes that `sizes` was evaluated for
  bool has_sizes = false;
  std::unique_ptr<hal::Buffer> arena;
  std::vector<std::unique_ptr<hal::Buffer>>
      temporaries;                 // staged inputs, dynamic buffers, outputs nobody asked for
  std::vector<std::byte *> bases;  // by buffer of the entry
  std::vector<int64_t> limits;     // bytes, by buffer of the entry; kNotPlaced
  std::vector<uint32_t> unbounded; // buffers to place when a dimension is bound
  std::vector<void *> bindings;
  std::vector<int64_t> constants;
  std::unique_ptr<hal::Stream> stream; // used when the caller brings none
  int64_t high_water = 0;    // of the newest run: end of the last arena byte that was reserved and used
  int64_t dynamic_bytes = 0; // of the newest run: dynamic buffers
};

/// What a run is made of. All members outlive the run, until its work has completed.
struct RunRequest {
  const plan::Plan &plan;
  const EntryProgram &program;
  const LoadedTarget &target;
  std::span<hal::Buffer *const> states; // by state of the plan
  hal::Device &device;
  hal::Stream &stream;
  std::span<const TensorView *const> inputs; // in the entry's order, checked
  std::span<RunOutput *const> outputs;       // in the entry's order, nullptr = not asked for
  std::vector<LaunchTime> *profile = nullptr;
};

class Run {
public:
  Run(const RunRequest &request, RunContext &context)
      : request_(request), program_(request.program), context_(context) {}

  /// Issues the whole run to the stream. Waits for the device only where the plan needs a value (ReadBack,
  /// If, While). On an error work may still be under way: synchronize before the context is used again.
  Status issue();

private:
  static constexpr int64_t kNotPlaced = -1;

  Status evaluate_sizes();
  void measure_high_water();

  // Placing (run_place.cpp).
  Status place_inputs();
  Status reserve_arena();
  Status place_outputs();
  Status place_output(int index, const std::vector<int64_t> &sizes, const std::vector<SizeState> &states);
  Status place_buffers(bool before_prologue);
  Status place_buffer(uint32_t index);
  Status place_unbounded();
  Status finish_outputs();
  StatusOr<int64_t> reserve(uint32_t slot, const std::string &what) const;
  StatusOr<std::byte *> allocate_temporary(size_t bytes);

  // The walk (run_walk.cpp).
  Status walk(size_t begin, size_t end);
  Status launch(const LaunchOperation &op);
  Status copy(const CopyOperation &op);
  Status fill(const FillOperation &op);
  Status read_back(const ReadBackOperation &op);
  Status check(const CheckOperation &op);
  StatusOr<bool> read_condition(const JumpOperation &op);
  /// Address of a place of which `bytes` will be used; nullptr when it is not within its buffer.
  std::byte *address(const BufferPlace &place, int64_t bytes) const;
  Status bad_place(const BufferPlace &place, const std::string &user) const;
  StatusOr<int64_t> size(uint32_t slot, const char *what, const std::string &user) const;
  Status read_device(void *to_host, const void *from, size_t bytes);

  const RunRequest &request_;
  const EntryProgram &program_;
  RunContext &context_;
  std::vector<std::byte *> input_addresses_, output_addresses_; // nullptr = not placed yet
  std::vector<int64_t> output_reserves_;                        // bytes at output_addresses_
};

} // namespace quaver
