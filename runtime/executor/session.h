//===- session.h - a model on a device, ready to run ------------------------===//
//
// Thread-safety: all methods may be called from any thread, run() too: concurrent runs have an arena each, no
// lock is held while kernels run, and only runs that write the same StateSet take turns. The model is kept
// alive; runs still under way on caller's streams must complete before the session is destroyed.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/base/status.h"
#include "runtime/executor/model.h"
#include "runtime/executor/run.h"
#include "runtime/executor/state_set.h"
#include "runtime/executor/tensor.h"
#include "runtime/hal/driver.h"
#include "runtime/hal/event.h"

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace quaver {

struct SessionOptions {
  std::string device = "host"; // device string: driver[:rest]
  std::string target = "";     // empty = the best that the device runs
  int threads = 0;             // 0 = all CPUs this process may use
  uint64_t seed = 0;           // of the model's random generator
};

struct RunOptions {
  hal::Stream *stream = nullptr;              // null: run() returns when the run has completed
  hal::Event *completion = nullptr;           // recorded after the run's work
  StateSet *states = nullptr;                 // null: the session's own
  std::vector<LaunchTime> *profile = nullptr; // receives the time of every launch, which serializes them
};

/// All in bytes.
struct MemoryUse {
  size_t weights = 0;           // mapped or uploaded
  size_t states = 0;            // of the session's own set
  size_t arenas = 0;            // reserved now, for all concurrent runs
  size_t arenas_high_water = 0; // largest `arenas` so far
  size_t run_high_water =
      0; // largest use of its arena by one run so far; equals the plan's peak for its shapes
  size_t dynamic_high_water =
      0; // most that one run needed for buffers whose size depends on data without a bound
};

class Session {
public:
  static StatusOr<std::unique_ptr<Session>>
  create(std::shared_ptr<Model> model, const hal::DriverRegistry &drivers, const SessionOptions &options);
  ~Session();

  const Model &model() const { return *model_; }
  const plan::Target &target() const { return model_->plan().targets(target_->index()); }
  hal::Device &device() { return *device_; }
  const std::vector<EntryProgram> &entries() const { return target_->entries(); }
  /// Empty name = the first entry.
  StatusOr<const EntryProgram *> find_entry(std::string_view name) const { return target_->find_entry(name); }

  /// Runs an entry of this session. With a stream in `options` it returns when the work is issued (it waits
  /// only where the plan reads a value back); inputs, outputs and the stream stay alive until the work has
  /// completed. Outputs that are not named are computed and dropped. Output memory must not overlap input
  /// memory.
  Status run(const EntryProgram &entry, std::span<const RunInput> inputs, std::span<RunOutput> outputs,
             const RunOptions &options = {});

  /// Bytes to reserve for each output of `entry` for inputs of these shapes; inputs' data is not looked at.
  /// Exact, or the upper bound where a size depends on data.
  Status output_bytes(const EntryProgram &entry, std::span<const RunInput> inputs,
                      std::vector<size_t> *out_bytes) const;
  /// Bytes of the arena of a run with inputs of these shapes.
  StatusOr<size_t> peak_bytes(const EntryProgram &entry, std::span<const RunInput> inputs) const;

  /// The session's own states, made at first use.
  StatusOr<StateSet *> states();
  /// Another set, which must be destroyed before the session.
  StatusOr<std::unique_ptr<StateSet>> create_states();

  MemoryUse memory() const;

private:
  Session(std::shared_ptr<Model> model, std::shared_ptr<hal::Device> device,
          std::shared_ptr<const LoadedTarget> target, uint64_t seed);
  size_t index_of(const EntryProgram &entry) const { return static_cast<size_t>(&entry - entries().data()); }
  Status evaluate_for(const EntryProgram &entry, std::span<const RunInput> inputs, SizeValues &values) const;
  StatusOr<std::unique_ptr<RunContext>> take_context(size_t entry);
  void give_back(size_t entry, std::unique_ptr<RunContext> context);
  void account(size_t arena_before, size_t arena_after, int64_t run_high_water, int64_t dynamic_bytes);

  std::shared_ptr<Model> model_;
  std::shared_ptr<hal::Device> device_;
  std::shared_ptr<const LoadedTarget> target_;
  uint64_t seed_;
  mutable std::mutex mutex_; // guards what follows; never held around a run
  std::vector<std::vector<std::unique_ptr<RunContext>>> free_contexts_; // by entry
  std::unique_ptr<StateSet> states_;
  MemoryUse memory_;
};

} // namespace quaver
