// What a launch counts.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace quaver::sim {

/// Classes of instructions, for counting. X(enumerator, name)
#define QUAVER_SIM_CLASSES(X)                                                                                \
  X(kInteger, "integer")                                                                                     \
  X(kFloat16, "f16")                                                                                         \
  X(kFloat32, "f32")                                                                                         \
  X(kFloat64, "f64")                                                                                         \
  X(kSpecialFunction, "special function")                                                                    \
  X(kConvert, "convert")                                                                                     \
  X(kMove, "move")                                                                                           \
  X(kCompare, "compare and select")                                                                          \
  X(kControl, "control")                                                                                     \
  X(kLoad, "load")                                                                                           \
  X(kStore, "store")                                                                                         \
  X(kAtomic, "atomic")                                                                                       \
  X(kWarp, "warp exchange")                                                                                  \
  X(kBarrier, "barrier and fence")                                                                           \
  X(kTensorCore, "tensor core")                                                                              \
  X(kAsyncCopy, "asynchronous copy")

enum class InstructionClass : uint8_t {
#define QUAVER_ENUMERATOR(name, text) name,
  QUAVER_SIM_CLASSES(QUAVER_ENUMERATOR)
#undef QUAVER_ENUMERATOR
      kCount
};
std::string_view class_name(InstructionClass c);

struct Counters {
  // Always counted.
  uint64_t thread_instructions = 0; // active lanes, summed
  uint64_t warp_instructions = 0;
  uint64_t blocks = 0;
  // Only with LaunchOptions::counters.
  std::array<uint64_t, size_t(InstructionClass::kCount)> by_class{}; // thread instructions
  uint64_t global_load_bytes = 0, global_store_bytes = 0;            // asked for by the lanes
  uint64_t global_load_sectors = 0, global_store_sectors = 0; // distinct 32-byte sectors of each warp access
  uint64_t shared_load_bytes = 0, shared_store_bytes = 0;
  uint64_t shared_accesses = 0; // warp accesses of shared memory
  uint64_t shared_conflicts =
      0; // passes beyond the fewest possible: 32 banks of 4 bytes, equal words are one
  uint64_t local_bytes = 0;
  uint64_t divergent_branches = 0; // branches whose lanes went two ways
  uint64_t tensor_core_flops = 0;  // multiply and add counted as two

  Counters &operator+=(const Counters &other);
};

/// The counters as lines "name: number".
std::string to_string(const Counters &counters);

} // namespace quaver::sim
