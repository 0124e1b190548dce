// What an executing instruction sees: its lanes, their registers, memory.
#pragma once
#include "runtime/base/str_cat.h"
#include "runtime/drivers/sim/machine/block.h"
#include "runtime/drivers/sim/machine/instruction.h"
#include <cassert>
#include <cstring>
#include <type_traits>

namespace quaver::sim {

/// Addresses of the generic space: windows of shared, local and parameter memory lie below all global memory.
inline constexpr uint64_t kSharedWindow = uint64_t{1} << 40; // + address in .shared
inline constexpr uint64_t kLocalWindow = uint64_t{2} << 40;  // + address in .local
inline constexpr uint64_t kParamWindow = uint64_t{3} << 40;  // + offset in the kernel's parameters
inline constexpr uint64_t kWindowBytes = uint64_t{1} << 24;
/// Address of a block's first shared byte. Not 0, so that a null pointer faults; 1024 as on sm_90, so that
/// alignments up to 1024 are those of the variables.
inline constexpr uint32_t kSharedBase = 1024;

enum class Access : uint8_t {
  kRead,    // every byte must have been written
  kReadAny, // no such check: the caller looks at the shadow itself
  kWrite,
  kReadModify, // an atomic's
};

/// One turn of one group of lanes. Handlers are free functions (Execute); they read operands, compute 32
/// lanes without looking at the mask where that is harmless, and write under the mask.
class Context {
public:
  Block &block;
  Warp &warp;
  Group *group = nullptr; // whose turn it is
  LaneMask mask = 0;      // lanes that execute now: guard and convergence applied; never 0 in a handler
  const uint8_t *bases[3] = {};

  Context(Block &b, Warp &w) : block(b), warp(w) {}

  // Registers. T is an unsigned, signed or float type of 1, 2, 4, 8 bytes, or Bits128.
  /// The operand's 32 lanes, as they lie in the register file if the width is T's, else truncated into
  /// `room`.
  template <class T> const T *lanes(const Operand &operand, T *room) const {
    const uint8_t *at = bases[size_t(operand.base)] + operand.offset;
    if (operand.bytes == sizeof(T)) [[likely]]
      return reinterpret_cast<const T *>(at);
    narrow(at, operand.bytes, room, sizeof(T));
    return room;
  }
  /// Writes the lanes in `mask`. A register wider than T is sign- or zero-extended as T says.
  template <class T> void set(const Operand &operand, const T *values) {
    if (operand.is_sink)
      return;
    uint8_t *at = const_cast<uint8_t *>(bases[0]) + operand.offset;
    if (operand.bytes == sizeof(T)) [[likely]] {
      if (mask == kAllLanes) {
        std::memcpy(at, values, sizeof(T) * kLanes);
      } else {
        T *to = reinterpret_cast<T *>(at);
        for (int i = 0; i < kLanes; ++i)
          to[i] = mask >> i & 1 ? values[i] : to[i];
      }
      return;
    }
    widen(at, operand.bytes, values, sizeof(T), std::is_signed_v<T> && std::is_integral_v<T>);
  }
  /// A predicate operand's lanes, negation applied.
  LaneMask predicate(const Operand &operand) const {
    LaneMask m;
    std::memcpy(&m, bases[size_t(operand.base)] + operand.offset, sizeof m);
    return operand.negated ? ~m : m;
  }
  void set_predicate(const Operand &operand, LaneMask values) {
    if (operand.is_sink)
      return;
    auto *at = reinterpret_cast<LaneMask *>(const_cast<uint8_t *>(bases[0]) + operand.offset);
    *at = (*at & ~mask) | (values & mask);
  }

  // Memory.
  /// Enough of each thread's local memory for a stack of `bytes`. False: above the limit; nothing was
  /// recorded.
  bool grow_local(uint32_t bytes);
  /// Addresses of an instruction's lanes: base operand + offset; a 4-byte base wraps at 2^32.
  void addresses(const Instruction &in, const Operand &base, uint64_t out[kLanes]) const;
  /// The bytes behind `address` of `space` for one lane, checked: alignment to `align`, bounds, freed,
  /// read-only, never written (kRead). A write marks them written. nullptr: a fault was recorded; return
  /// kFault. `shadow_out`, if asked for, gets the bytes' shadow, or nullptr where the space has none
  /// (parameters).
  std::byte *access(const Instruction &in, ptx::Space space, uint64_t address, uint32_t bytes, uint32_t align,
                    Access kind, int lane, uint8_t **shadow_out = nullptr);
  /// The same for bytes that several lanes touch in a row; nullptr if any check fails, with no fault: the
  /// caller then goes lane by lane, which finds whose it is.
  std::byte *try_access(ptx::Space space, uint64_t address, uint32_t bytes, uint32_t align, Access kind);

  const AllocationTable *allocations() const;
  /// Where an address of a space is, in words.
  std::string describe(ptx::Space space, uint64_t address) const;

  // Faults.
  /// Records the block's fault, naming kernel, line, block and this lane's thread (lane -1: the warp).
  /// Returns kFault.
  template <class... Parts> Outcome fault(const Instruction &in, int lane, const Parts &...parts) {
    return record_fault(in, lane, str_cat(parts...));
  }
  /// A remark that is no error, once a line.
  void note(const Instruction &in, std::string text);

private:
  struct Place {
    std::byte *data = nullptr;
    uint8_t *shadow = nullptr;
    const char *problem = nullptr; // nullptr: none
  };
  Place locate(ptx::Space space, uint64_t address, uint32_t bytes, uint32_t align, Access kind, int lane);
  bool in_shared_variable(uint64_t address, uint32_t bytes) const;
  Place locate_global(uint64_t address, uint32_t bytes, Access kind);
  void mark_written(uint8_t *shadow, uint32_t bytes);
  const Allocation *last_ = nullptr; // found last

  void narrow(const uint8_t *from, int from_bytes, void *to, int to_bytes) const;
  void widen(uint8_t *to, int to_bytes, const void *from, int from_bytes, bool is_signed);
  Outcome record_fault(const Instruction &in, int lane, std::string text);
};

/// A 16-byte register's lane.
struct alignas(16) Bits128 {
  uint64_t low = 0, high = 0;
};

/// Calls f(lane) for each lane of a mask, ascending.
template <class F> void for_each_lane(LaneMask mask, F &&f) {
  for (; mask; mask &= mask - 1)
    f(__builtin_ctz(mask));
}

} // namespace quaver::sim
