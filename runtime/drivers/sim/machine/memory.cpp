//===- memory.cpp - allocations and what was written ------------------------===//
#include "runtime/drivers/sim/machine/memory.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <sstream>

namespace quaver::sim {
namespace {

constexpr uint64_t kFirstAddress = uint64_t{0x7f} << 40; // above the windows of the generic space
constexpr uint64_t kAlignment = 256;                     // cudaMalloc's
constexpr uint64_t kGap = 4096;                          // unmapped between allocations

std::string hex(uint64_t value) {
  std::ostringstream out;
  out << "0x" << std::hex << value;
  return out.str();
}

// The last allocation that begins at or before `address`, or nullptr.
const Allocation *at_or_before(const AllocationTable &table, uint64_t address) {
  auto after =
      std::upper_bound(table.begin(), table.end(), address,
                       [](uint64_t a, const std::shared_ptr<Allocation> &x) { return a < x->address; });
  return after == table.begin() ? nullptr : std::prev(after)->get();
}

} // namespace

std::string describe_address(const AllocationTable &table, uint64_t address) {
  if (address < 4096)
    return "a null pointer with a small offset";
  const Allocation *a = at_or_before(table, address);
  auto name = [](const Allocation &x) {
    return str_cat("'", x.label, "' (", x.bytes, " bytes at ", hex(x.address), ")");
  };
  if (a && address < a->address + a->bytes)
    return str_cat(address - a->address, " bytes into ", name(*a), a->freed ? ", which was freed" : "");
  if (a && address - (a->address + a->bytes) < kGap)
    return str_cat(address - (a->address + a->bytes), " bytes past the end of ", name(*a));
  for (const std::shared_ptr<Allocation> &next : table)
    if (next->address > address && next->address - address <= kGap)
      return str_cat(next->address - address, " bytes before ", name(*next));
  return a ? str_cat("in no allocation; the nearest below is ", name(*a)) : "in no allocation";
}

Memory::Memory(uint64_t limit)
    : table_(std::make_shared<AllocationTable>()), next_(kFirstAddress), limit_(limit) {}

StatusOr<uint64_t> Memory::allocate(uint64_t bytes, std::string label, bool read_only) {
  std::lock_guard lock(mutex_);
  if (bytes > limit_ - in_use_)
    return ResourceExhaustedError("'", label, "': ", bytes, " bytes asked for, ", limit_ - in_use_, " of ",
                                  limit_, " are free");
  auto a = std::make_shared<Allocation>();
  a->address = next_;
  a->bytes = bytes;
  a->label = std::move(label);
  a->read_only = read_only;
  // calloc leaves large blocks to the system's zero pages: nothing is touched before it is used.
  a->data.reset(static_cast<std::byte *>(std::calloc(std::max<uint64_t>(bytes, 1), 1)));
  a->shadow.reset(static_cast<uint8_t *>(std::calloc(std::max<uint64_t>(bytes, 1), 1)));
  if (!a->data || !a->shadow)
    return ResourceExhaustedError("'", a->label, "': the host has no memory for ", bytes,
                                  " bytes and their shadow");
  next_ += (bytes + kGap + kAlignment - 1) / kAlignment * kAlignment;
  in_use_ += bytes;
  auto table = std::make_shared<AllocationTable>(*table_);
  table->push_back(std::move(a)); // addresses ascend
  // Freed allocations are remembered for diagnostics, without their bytes, as long as there are not many.
  if (table->size() > 4096)
    std::erase_if(*table, [](const std::shared_ptr<Allocation> &x) { return x->freed.load(); });
  table_ = std::move(table);
  return table_->back()->address;
}

Status Memory::free(uint64_t address) {
  std::lock_guard lock(mutex_);
  auto at = std::find_if(table_->begin(), table_->end(),
                         [&](const std::shared_ptr<Allocation> &a) { return a->address == address; });
  if (at == table_->end())
    return InvalidArgumentError("free of ", hex(address),
                                ", which no allocation begins at: ", describe_address(*table_, address));
  if ((*at)->freed.exchange(true))
    return InvalidArgumentError("'", (*at)->label, "' is freed a second time");
  in_use_ -= (*at)->bytes;
  // Kernels in flight hold the old table and with it the bytes; the new table has the place without them.
  auto grave = std::make_shared<Allocation>();
  grave->address = address;
  grave->bytes = (*at)->bytes;
  grave->label = (*at)->label;
  grave->freed = true;
  auto table = std::make_shared<AllocationTable>(*table_);
  (*table)[size_t(at - table_->begin())] = std::move(grave);
  table_ = std::move(table);
  return OkStatus();
}

std::shared_ptr<const AllocationTable> Memory::snapshot() const {
  std::lock_guard lock(mutex_);
  return table_;
}

uint64_t Memory::bytes_in_use() const {
  std::lock_guard lock(mutex_);
  return in_use_;
}

StatusOr<std::shared_ptr<Allocation>> Memory::find(uint64_t address, uint64_t bytes) const {
  const std::shared_ptr<const AllocationTable> table = snapshot();
  auto after =
      std::upper_bound(table->begin(), table->end(), address,
                       [](uint64_t a, const std::shared_ptr<Allocation> &x) { return a < x->address; });
  if (after != table->begin()) {
    const std::shared_ptr<Allocation> &a = *std::prev(after);
    if (!a->freed && address - a->address <= a->bytes && bytes <= a->bytes - (address - a->address))
      return a;
  }
  return OutOfRangeError(bytes, " bytes at ", hex(address), " are not in one allocation: the first is ",
                         describe_address(*table, address));
}

Status Memory::copy_in(uint64_t to, const void *from, uint64_t bytes) {
  if (bytes == 0)
    return OkStatus();
  QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<Allocation> a, find(to, bytes));
  std::memcpy(a->data.get() + (to - a->address), from, bytes);
  std::memset(a->shadow.get() + (to - a->address), shadow::kWritten, bytes);
  return OkStatus();
}

Status Memory::copy_out(void *to, uint64_t from, uint64_t bytes, bool even_unwritten) const {
  if (bytes == 0)
    return OkStatus();
  QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<Allocation> a, find(from, bytes));
  const uint64_t begin = from - a->address;
  const uint8_t *shadow = a->shadow.get() + begin;
  std::memcpy(to, a->data.get() + begin, bytes);
  const uint8_t *hole = static_cast<const uint8_t *>(std::memchr(shadow, 0, bytes));
  if (!hole)
    return OkStatus();
  if (!even_unwritten)
    return FailedPreconditionError("'", a->label, "': byte ", begin + uint64_t(hole - shadow), " of ",
                                   a->bytes, " was never written");
  for (uint64_t i = 0; i < bytes; ++i)
    if (!shadow[i])
      static_cast<char *>(to)[i] = 0;
  return OkStatus();
}

Status Memory::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  if (bytes == 0)
    return OkStatus();
  QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<Allocation> source, find(from, bytes));
  QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<Allocation> target, find(to, bytes));
  std::memmove(target->data.get() + (to - target->address), source->data.get() + (from - source->address),
               bytes);
  std::memmove(target->shadow.get() + (to - target->address), source->shadow.get() + (from - source->address),
               bytes);
  return OkStatus();
}

Status Memory::fill(uint64_t to, uint64_t bytes, const void *pattern, size_t pattern_bytes) {
  if (pattern_bytes == 0 || pattern_bytes > 8 || bytes % pattern_bytes)
    return InvalidArgumentError("a fill of ", bytes, " bytes with a pattern of ", pattern_bytes);
  if (bytes == 0)
    return OkStatus();
  QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<Allocation> a, find(to, bytes));
  for (uint64_t i = 0; i < bytes; i += pattern_bytes)
    std::memcpy(a->data.get() + (to - a->address) + i, pattern, pattern_bytes);
  std::memset(a->shadow.get() + (to - a->address), shadow::kWritten, bytes);
  return OkStatus();
}

Status Memory::mark_written(uint64_t address, uint64_t bytes) {
  QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<Allocation> a, find(address, bytes));
  std::memset(a->shadow.get() + (address - a->address), shadow::kWritten, bytes);
  return OkStatus();
}

Status Memory::mark_unwritten(uint64_t address, uint64_t bytes) {
  QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<Allocation> a, find(address, bytes));
  std::memset(a->shadow.get() + (address - a->address), 0, bytes);
  return OkStatus();
}

StatusOr<std::byte *> Memory::host_pointer(uint64_t address, uint64_t bytes) const {
  QUAVER_ASSIGN_OR_RETURN(std::shared_ptr<Allocation> a, find(address, bytes));
  return a->data.get() + (address - a->address);
}

bool Memory::is_written(uint64_t address, uint64_t bytes) const {
  StatusOr<std::shared_ptr<Allocation>> a = find(address, bytes);
  return a.ok() && (bytes == 0 || !std::memchr((*a)->shadow.get() + (address - (*a)->address), 0, bytes));
}

} // namespace quaver::sim
