//===- launch.cpp - a kernel over a grid ------------------------------------===//
#include "runtime/drivers/sim/machine/launch.h"

#include "runtime/drivers/sim/machine/context.h"
#include "runtime/drivers/sim/machine/races.h"
#include "runtime/drivers/sim/machine/scheduler.h"

#include <algorithm>
#include <mutex>

namespace quaver::sim {
namespace {

// PTX ISA and CUDA: compute capability 9.0's limits.
Status check(const Program &program, Dim3 grid, Dim3 block, uint32_t dynamic_shared_bytes,
             std::span<const std::byte> params, const LaunchOptions &options) {
  const KernelInfo &k = program.kernel;
  auto text = [](Dim3 d) { return str_cat("(", d.x, ",", d.y, ",", d.z, ")"); };
  if (grid.count() == 0 || grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535)
    return InvalidArgumentError("kernel '", k.name, "': grid ", text(grid),
                                " is not in (1..2^31-1, 1..65535, 1..65535)");
  if (block.count() == 0 || block.x > 1024 || block.y > 1024 || block.z > 64 || block.count() > 1024)
    return InvalidArgumentError("kernel '", k.name, "': block ", text(block),
                                " is not in (1..1024, 1..1024, 1..64) with at most 1024 threads");
  const uint32_t *need = k.required_threads, *most = k.max_threads;
  if (need[0] && (block.x != need[0] || block.y != need[1] || block.z != need[2]))
    return InvalidArgumentError("kernel '", k.name, "' is compiled for blocks of ",
                                text({need[0], need[1], need[2]}), " (.reqntid), launched with ",
                                text(block));
  if (most[0] && block.count() > Dim3{most[0], most[1], most[2]}.count())
    return InvalidArgumentError("kernel '", k.name, "' is compiled for at most ",
                                Dim3{most[0], most[1], most[2]}.count(),
                                " threads in a block (.maxntid), launched with ", block.count());
  if (uint64_t{program.static_shared_bytes} + dynamic_shared_bytes > options.max_shared_bytes)
    return InvalidArgumentError("kernel '", k.name, "' needs ", program.static_shared_bytes,
                                " bytes of static and ", dynamic_shared_bytes,
                                " of dynamic shared memory; a block has at most ", options.max_shared_bytes);
  if (params.size() != k.parameter_bytes)
    return InvalidArgumentError("kernel '", k.name, "' has ", k.parameter_bytes,
                                " bytes of parameters, given ", params.size());
  if (program.functions[0].local_bytes > options.max_local_bytes)
    return InvalidArgumentError("kernel '", k.name, "' needs ", program.functions[0].local_bytes,
                                " bytes of local memory for a thread, ", options.max_local_bytes,
                                " are allowed");
  return OkStatus();
}

// The program's constants at a 64-byte boundary, addresses of variables filled in.
class Constants {
public:
  Constants(const Program &program, const LoadedModule &module) : bytes_(program.constants.size() + 64) {
    base_ = bytes_.data() + (64 - reinterpret_cast<uintptr_t>(bytes_.data()) % 64) % 64;
    std::copy(program.constants.begin(), program.constants.end(), base_);
    for (const Relocation &r : program.relocations) {
      const uint64_t address = module.symbols()[r.symbol].address + uint64_t(r.addend);
      for (size_t lane = 0; lane < kLanes; ++lane)
        std::memcpy(base_ + r.pool_offset + 8 * lane, &address, 8);
    }
  }
  const uint8_t *base() const { return base_; }

private:
  std::vector<uint8_t> bytes_;
  uint8_t *base_;
};

} // namespace

StatusOr<Counters> launch(const LoadedModule &module, std::string_view kernel, Dim3 grid, Dim3 block,
                          uint32_t dynamic_shared_bytes, std::span<const std::byte> params,
                          const LaunchOptions &options) {
  QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program, module.module().program(kernel));
  QUAVER_RETURN_IF_ERROR(check(*program, grid, block, dynamic_shared_bytes, params, options));
  const Constants constants(*program, module);
  std::atomic<uint64_t> lowest_fault{~uint64_t{0}};
  Launch launch{*program,
                module,
                options,
                grid,
                block,
                dynamic_shared_bytes,
                params,
                constants.base(),
                module.memory().snapshot(),
                &lowest_fault};
  RaceDetector races;
  if (options.races)
    launch.races = &races;
  std::atomic<uint64_t> next{0};
  std::mutex mutex; // of what follows
  Counters total;
  std::string fault;
  std::vector<std::string> notes;
  auto work = [&](int64_t, int64_t) {
    Block state(launch);
    for (uint64_t index; (index = next.fetch_add(1)) < grid.count() && index < lowest_fault.load();) {
      run_block(state, index);
      if (state.fault.empty())
        continue;
      std::lock_guard lock(mutex);
      if (index < lowest_fault.load()) {
        lowest_fault.store(index);
        fault = state.fault;
      }
      break;
    }
    std::lock_guard lock(mutex);
    total += state.counters;
    for (std::string &note : state.notes)
      if (std::find(notes.begin(), notes.end(), note) == notes.end())
        notes.push_back(std::move(note));
  };
  if (options.pool && grid.count() > 1 && !options.races)
    options.pool->parallel_for(options.pool->size(), 1, work);
  else
    work(0, 1);
  if (options.notes)
    options.notes->insert(options.notes->end(), notes.begin(), notes.end());
  if (!fault.empty())
    return FailedPreconditionError(fault);
  return total;
}

} // namespace quaver::sim
