// The memory of a simulated GPU: allocations with bounds, and for every byte whether it was ever written.
#pragma once
#include "runtime/base/status.h"
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace quaver::sim {

/// What is known of one byte of memory; flags. 0: never written.
namespace shadow {
inline constexpr uint8_t kWritten = 1;
inline constexpr uint8_t kPending = 2; // an asynchronous copy into it has not been waited for
inline constexpr uint8_t kUnfenced =
    4; // shared memory: written through the generic proxy, no proxy fence since
inline constexpr int kWriterShift = 3; // shared memory: bits 3-7 are the warp that wrote it last
} // namespace shadow

/// One allocation. Its bytes never move while somebody holds it.
struct Allocation {
  uint64_t address = 0;
  uint64_t bytes = 0;
  std::string label;      // for diagnostics: "argument 2", "variable 'table'"
  bool read_only = false; // .const variables
  std::atomic<bool> freed{false};
  struct Free {
    void operator()(void *p) const { std::free(p); }
  };
  std::unique_ptr<std::byte[], Free> data;
  std::unique_ptr<uint8_t[], Free> shadow; // one byte a byte; shadow::k... flags
};

/// The allocations in the order of their addresses at one moment. Kernels run on a snapshot.
using AllocationTable = std::vector<std::shared_ptr<Allocation>>;

/// Global memory. Addresses are the machine's own, not the host's: allocations are 256-byte aligned with
/// unmapped gaps between them, and addresses are never used twice, so that each stray access is seen.
/// Usable from any thread. Copies of the same bytes at the same time as a kernel's are the caller's race.
class Memory {
public:
  /// limit: the most bytes that may be allocated at one time.
  explicit Memory(uint64_t limit = uint64_t{1} << 46);
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// Address of `bytes` never-written bytes (0 bytes: an address that nothing may access).
  /// ResourceExhausted above the limit or when the host has no memory.
  StatusOr<uint64_t> allocate(uint64_t bytes, std::string label, bool read_only = false);
  /// Frees what `allocate` returned. A kernel's later access is an error that names the label.
  /// InvalidArgument for another address or a second free. Kernels in flight keep the bytes.
  Status free(uint64_t address);

  /// Host to device: the bytes count as written.
  Status copy_in(uint64_t to, const void *from, uint64_t bytes);
  /// Device to host. Never-written bytes are an error (they would be on the GPU: nobody knows their value)
  /// unless `even_unwritten`, when they are copied as zeros.
  Status copy_out(void *to, uint64_t from, uint64_t bytes, bool even_unwritten = false) const;
  /// Device to device, overlapping allowed; what was never written stays so.
  Status copy(uint64_t to, uint64_t from, uint64_t bytes);
  /// Writes a repeated pattern of 1, 2, 4 or 8 bytes; `bytes` is a multiple of it.
  Status fill(uint64_t to, uint64_t bytes, const void *pattern, size_t pattern_bytes);
  Status mark_written(uint64_t address, uint64_t bytes);
  Status mark_unwritten(uint64_t address, uint64_t bytes);

  /// The host's view of [address, address + bytes), which must lie in one live allocation. Valid until freed.
  /// Whoever writes through it calls mark_written.
  StatusOr<std::byte *> host_pointer(uint64_t address, uint64_t bytes) const;
  /// True when every byte was written. False also when they are not all in one live allocation.
  bool is_written(uint64_t address, uint64_t bytes) const;

  uint64_t bytes_in_use() const;
  std::shared_ptr<const AllocationTable> snapshot() const;

private:
  StatusOr<std::shared_ptr<Allocation>> find(uint64_t address, uint64_t bytes) const;

  mutable std::mutex mutex_;
  std::shared_ptr<const AllocationTable> table_; // replaced, never changed
  uint64_t next_, in_use_ = 0, limit_;
};

/// Where `address` is, for a diagnostic: "4 bytes past the end of 'argument 1' (1024 bytes at 0x...)",
/// "in 'x', which was freed", "in no allocation".
std::string describe_address(const AllocationTable &table, uint64_t address);

} // namespace quaver::sim
