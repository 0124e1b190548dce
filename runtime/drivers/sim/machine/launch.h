// Runs a kernel over a grid.
#pragma once
#include "runtime/base/status.h"
#include "runtime/base/thread_pool.h"
#include "runtime/drivers/sim/machine/counters.h"
#include "runtime/drivers/sim/machine/module.h"
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quaver::sim {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
};

/// How tensor cores add. Documents differ from silicon only here; see Rationale.md.
enum class Accumulation : uint8_t {
  kExact, // products exact, added to the accumulator one by one in F32
  kShort, // Hopper's FP8: products aligned to the largest exponent and truncated to 13 fraction bits
};

struct LaunchOptions {
  uint64_t seed = 0;  // 0: warps run in order until they wait; else their order and turns are drawn from it
  bool races = false; // also find data races (happens-before)
  bool counters = false;                  // count everything in Counters
  uint64_t max_steps = uint64_t{1} << 28; // warp instructions that one warp may execute
  uint32_t max_call_depth = 1024;
  uint32_t max_local_bytes = 512 << 10;  // local memory of a thread, PTX ISA 5.1.5
  uint32_t max_shared_bytes = 227 << 10; // static + dynamic shared memory of a block: sm_90's
  Accumulation accumulation = Accumulation::kExact;
  ThreadPool *pool = nullptr;                // blocks run on it; nullptr: on the caller alone
  std::vector<std::string> *notes = nullptr; // where to put remarks that are no errors; nullptr: nowhere
};

/// Runs `kernel` of a loaded module with the parameter block `params` (KernelInfo::parameters says where each
/// lies; its size must be parameter_bytes). Returns when all blocks have run. Blocks are started in ascending
/// order of their linear index.
///
/// A fault stops the launch; the message names the kernel, the PTX line and instruction, block, thread and
/// address: "kernel.ptx:41: kernel 'scale': st.global.f32 [%rd4], %f2: block (1,0,0) thread (31,0,0): 4 bytes
/// at 0x...: 4 bytes past the end of 'argument 0' ...". The fault reported is the one of the lowest block.
/// Codes: InvalidArgument for what is wrong with the launch; FailedPrecondition for a fault of the kernel;
/// Unimplemented for what the machine does not know.
StatusOr<Counters> launch(const LoadedModule &module, std::string_view kernel, Dim3 grid, Dim3 block,
                          uint32_t dynamic_shared_bytes, std::span<const std::byte> params,
                          const LaunchOptions &options = {});

} // namespace quaver::sim
