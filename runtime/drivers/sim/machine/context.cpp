//===- context.cpp - registers, memory accesses and faults of a turn --------===//
#include "runtime/drivers/sim/machine/context.h"

#include "runtime/drivers/sim/machine/scheduler.h"

#include <algorithm>
#include <sstream>

namespace quaver::sim {
namespace {

constexpr const char *kNeverWritten = "never written";
constexpr const char *kPendingCopy = "being written by an asynchronous copy that has not been waited for";
constexpr const char *kOutOfBounds = "out of bounds";
constexpr const char *kMisaligned = "misaligned";
constexpr const char *kFreed = "freed";
constexpr const char *kReadOnly = "read-only";
constexpr const char *kOverwritesCopy =
    "which an asynchronous copy that has not been waited for is still writing";
constexpr const char *kWrongSpace = "in another space";

std::string hex(uint64_t value) {
  std::ostringstream out;
  out << "0x" << std::hex << value;
  return out.str();
}

// Were all bytes written, and is no copy into them under way?
const char *unreadable(const uint8_t *shadow, uint32_t bytes) {
  constexpr uint8_t kLook = shadow::kWritten | shadow::kPending;
  uint32_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    uint64_t word;
    std::memcpy(&word, shadow + i, 8);
    if ((word & (0x0101010101010101u * kLook)) != 0x0101010101010101u * shadow::kWritten)
      break;
  }
  for (; i < bytes; ++i)
    if ((shadow[i] & kLook) != shadow::kWritten)
      return shadow[i] & shadow::kPending ? kPendingCopy : kNeverWritten;
  return nullptr;
}

bool is_pending(const uint8_t *shadow, uint32_t bytes) {
  uint8_t any = 0;
  for (uint32_t i = 0; i < bytes; ++i)
    any |= shadow[i];
  return any & shadow::kPending;
}

} // namespace

void Context::narrow(const uint8_t *from, int from_bytes, void *to, int to_bytes) const {
  for (int i = 0; i < kLanes; ++i)
    std::memcpy(static_cast<char *>(to) + i * to_bytes, from + i * from_bytes,
                size_t(std::min(from_bytes, to_bytes)));
}

void Context::widen(uint8_t *to, int to_bytes, const void *from, int from_bytes, bool is_signed) {
  for_each_lane(mask, [&](int i) {
    const auto *source = static_cast<const uint8_t *>(from) + i * from_bytes;
    const bool ones = is_signed && source[from_bytes - 1] >> 7;
    std::memset(to + i * to_bytes, ones ? 0xff : 0, size_t(to_bytes));
    std::memcpy(to + i * to_bytes, source, size_t(std::min(from_bytes, to_bytes)));
  });
}

void Context::addresses(const Instruction &in, const Operand &base, uint64_t out[kLanes]) const {
  if (base.bytes == 4) {
    const auto *a = reinterpret_cast<const uint32_t *>(bases[size_t(base.base)] + base.offset);
    for (int i = 0; i < kLanes; ++i)
      out[i] = uint32_t(a[i] + uint32_t(in.offset));
  } else {
    const auto *a = reinterpret_cast<const uint64_t *>(bases[size_t(base.base)] + base.offset);
    for (int i = 0; i < kLanes; ++i)
      out[i] = a[i] + uint64_t(in.offset);
  }
}

bool Context::grow_local(uint32_t bytes) {
  if (bytes <= warp.local_capacity)
    return true;
  if (bytes > block.launch.options.max_local_bytes)
    return false;
  const uint32_t most = std::max(bytes, block.launch.options.max_local_bytes);
  const uint32_t capacity = (std::min(std::max({bytes, warp.local_capacity * 2, 64u}), most) + 15) / 16 * 16;
  std::vector<std::byte> data(size_t(capacity) * kLanes);
  std::vector<uint8_t> shadows(size_t(capacity) * kLanes);
  for (size_t lane = 0; lane < kLanes; ++lane) {
    std::copy_n(warp.local.begin() + long(lane * warp.local_capacity), warp.local_capacity,
                data.begin() + long(lane * capacity));
    std::copy_n(warp.local_shadow.begin() + long(lane * warp.local_capacity), warp.local_capacity,
                shadows.begin() + long(lane * capacity));
  }
  warp.local.swap(data);
  warp.local_shadow.swap(shadows);
  warp.local_capacity = capacity;
  return true;
}

Context::Place Context::locate_global(uint64_t address, uint32_t bytes, Access kind) {
  Place place;
  const Allocation *a = last_;
  if (!a || address < a->address || address - a->address >= a->bytes) {
    const AllocationTable &table = *block.launch.allocations;
    auto after =
        std::upper_bound(table.begin(), table.end(), address,
                         [](uint64_t x, const std::shared_ptr<Allocation> &y) { return x < y->address; });
    a = after == table.begin() ? nullptr : std::prev(after)->get();
    if (!a || address - a->address >= a->bytes)
      return place.problem = kOutOfBounds, place;
    last_ = a;
  }
  if (a->freed.load(std::memory_order_relaxed) || !a->data)
    return place.problem = kFreed, place;
  if (bytes > a->bytes - (address - a->address))
    return place.problem = kOutOfBounds, place;
  if (a->read_only && kind != Access::kRead && kind != Access::kReadAny)
    return place.problem = kReadOnly, place;
  place.data = a->data.get() + (address - a->address);
  place.shadow = a->shadow.get() + (address - a->address);
  return place;
}

bool Context::in_shared_variable(uint64_t address, uint32_t bytes) const {
  for (const SharedVariable &v : block.launch.program.shared_variables)
    if (address >= v.address && address - v.address < v.bytes)
      return bytes <= v.bytes - (address - v.address);
  return false;
}

Context::Place Context::locate(ptx::Space space, uint64_t address, uint32_t bytes, uint32_t align,
                               Access kind, int lane) {
  Place place;
  if (address % align)
    return place.problem = kMisaligned, place;
  if (space == ptx::Space::kGeneric) {
    const uint64_t window = address & ~(kWindowBytes - 1);
    if (window == kSharedWindow || window == kLocalWindow || window == kParamWindow) {
      address -= window;
      space = window == kSharedWindow  ? ptx::Space::kShared
              : window == kLocalWindow ? ptx::Space::kLocal
                                       : ptx::Space::kParam;
    } else {
      space = ptx::Space::kGlobal;
    }
  }
  switch (space) {
  case ptx::Space::kShared: {
    const uint64_t offset = address - kSharedBase;
    if (address < kSharedBase || offset >= block.shared.size() || bytes > block.shared.size() - offset)
      return place.problem = kOutOfBounds, place;
    if (offset < block.launch.program.dynamic_shared_offset && !in_shared_variable(address, bytes))
      return place.problem = kOutOfBounds, place;
    place.data = block.shared.data() + offset;
    place.shadow = block.shared_shadow.data() + offset;
    if (kind == Access::kWrite && is_pending(place.shadow, bytes))
      return place.problem = kOverwritesCopy, place;
    break;
  }
  case ptx::Space::kLocal:
    if (lane < 0 || address >= group->stack_top || bytes > group->stack_top - address)
      return place.problem = kOutOfBounds, place;
    place.data = warp.local.data() + size_t(lane) * warp.local_capacity + address;
    place.shadow = warp.local_shadow.data() + size_t(lane) * warp.local_capacity + address;
    break;
  case ptx::Space::kParam: {
    const std::span<const std::byte> params = block.launch.params;
    if (address >= params.size() || bytes > params.size() - address)
      return place.problem = kOutOfBounds, place;
    if (kind != Access::kRead && kind != Access::kReadAny)
      return place.problem = kReadOnly, place;
    place.data = const_cast<std::byte *>(params.data()) + address;
    return place;
  }
  default:
    place = locate_global(address, bytes, kind);
    if (place.problem == kOutOfBounds && address >= kSharedWindow && address < kParamWindow + kWindowBytes)
      place.problem = kWrongSpace;
    if (place.problem)
      return place;
  }
  if (kind == Access::kRead || kind == Access::kReadModify)
    place.problem = unreadable(place.shadow, bytes);
  return place;
}

void Context::mark_written(uint8_t *shadow, uint32_t bytes) {
  const bool shared = shadow >= block.shared_shadow.data() &&
                      shadow < block.shared_shadow.data() + block.shared_shadow.size();
  std::memset(shadow,
              shared ? int(shadow::kWritten | shadow::kUnfenced | (warp.index & 31) << shadow::kWriterShift)
                     : int(shadow::kWritten),
              bytes);
}

std::byte *Context::try_access(ptx::Space space, uint64_t address, uint32_t bytes, uint32_t align,
                               Access kind) {
  const Place place = locate(space, address, bytes, align, kind, -1);
  if (place.problem)
    return nullptr;
  if ((kind == Access::kWrite || kind == Access::kReadModify) && place.shadow)
    mark_written(place.shadow, bytes);
  return place.data;
}

std::byte *Context::access(const Instruction &in, ptx::Space space, uint64_t address, uint32_t bytes,
                           uint32_t align, Access kind, int lane, uint8_t **shadow_out) {
  const Place place = locate(space, address, bytes, align, kind, lane);
  if (place.problem) {
    const char *verb = kind == Access::kWrite        ? "write"
                       : kind == Access::kReadModify ? "atomic access"
                                                     : "read";
    if (place.problem == kMisaligned)
      fault(in, lane, "misaligned ", verb, " of ", bytes, " bytes at ", hex(address),
            ", which is not a multiple of ", align, ": ", describe(space, address));
    else if (place.problem == kNeverWritten || place.problem == kPendingCopy)
      fault(in, lane, "read of ", bytes, " bytes at ", hex(address), " that are ", place.problem, ": ",
            describe(space, address));
    else if (place.problem == kOverwritesCopy)
      fault(in, lane, "write of ", bytes, " bytes at ", hex(address), ", ", place.problem, ": ",
            describe(space, address));
    else if (place.problem == kFreed)
      fault(in, lane, verb, " of ", bytes, " bytes at ", hex(address),
            " in freed memory: ", describe(space, address));
    else if (place.problem == kReadOnly)
      fault(in, lane, verb, " of ", bytes, " bytes at ", hex(address),
            " in memory that can only be read: ", describe(space, address));
    else if (place.problem == kWrongSpace)
      fault(in, lane, verb, " of ", bytes, " bytes at ", hex(address),
            " in the wrong space: ", describe(space, address));
    else
      fault(in, lane, verb, " of ", bytes, " bytes at ", hex(address),
            " out of bounds: ", describe(space, address));
    return nullptr;
  }
  if ((kind == Access::kWrite || kind == Access::kReadModify) && place.shadow)
    mark_written(place.shadow, bytes);
  if (shadow_out)
    *shadow_out = place.shadow;
  return place.data;
}

std::string Context::describe(ptx::Space space, uint64_t address) const {
  const uint64_t window = address & ~(kWindowBytes - 1);
  if (space != ptx::Space::kShared && space != ptx::Space::kLocal && space != ptx::Space::kParam) {
    const char *name = window == kSharedWindow  ? "shared"
                       : window == kLocalWindow ? "local"
                       : window == kParamWindow ? "param"
                                                : nullptr;
    if (name && space != ptx::Space::kGeneric)
      return str_cat("a generic address of .", name, " memory (address ", hex(address - window), " there)");
    if (name) {
      space = window == kSharedWindow  ? ptx::Space::kShared
              : window == kLocalWindow ? ptx::Space::kLocal
                                       : ptx::Space::kParam;
      address -= window;
    }
  }
  switch (space) {
  case ptx::Space::kShared: {
    const Program &program = block.launch.program;
    if (address >= kSharedWindow && window == kSharedWindow)
      return "a generic address where one of .shared memory is needed (cvta.to.shared)";
    const SharedVariable *nearest = nullptr;
    for (const SharedVariable &v : program.shared_variables)
      if (address >= v.address && (!nearest || v.address > nearest->address))
        nearest = &v;
    const uint32_t dynamic = kSharedBase + program.dynamic_shared_offset;
    if (block.launch.dynamic_shared_bytes && address >= dynamic)
      return address - dynamic < block.launch.dynamic_shared_bytes
                 ? str_cat(address - dynamic, " bytes into dynamic shared memory")
                 : str_cat(address - dynamic - block.launch.dynamic_shared_bytes,
                           " bytes past the end of dynamic shared memory (",
                           block.launch.dynamic_shared_bytes, " bytes)");
    if (nearest && address < nearest->address + nearest->bytes)
      return str_cat(address - nearest->address, " bytes into shared variable '", nearest->name, "' (",
                     nearest->bytes, " bytes)");
    if (nearest)
      return str_cat(address - nearest->address - nearest->bytes, " bytes past the end of shared variable '",
                     nearest->name, "' (", nearest->bytes, " bytes)");
    return str_cat("shared memory is [", hex(kSharedBase), ", ", hex(kSharedBase + block.shared.size()), ")");
  }
  case ptx::Space::kLocal:
    return str_cat("local memory of the thread has ", group ? group->stack_top : 0, " bytes here");
  case ptx::Space::kParam:
    return str_cat("the kernel's parameters have ", block.launch.params.size(), " bytes");
  default: {
    std::string text = describe_address(*block.launch.allocations, address);
    if (address >= kSharedBase && address < kSharedBase + block.shared.size() &&
        space == ptx::Space::kGeneric)
      text += "; an address of .shared memory needs cvta.shared before generic use";
    return text;
  }
  }
}

const AllocationTable *Context::allocations() const { return block.launch.allocations.get(); }

void Context::note(const Instruction &in, std::string text) {
  std::string line = str_cat(block.launch.module.module().name(), ":", in.source->at.line, ": kernel '",
                             block.launch.program.kernel.name, "': ", text);
  if (std::find(block.notes.begin(), block.notes.end(), line) == block.notes.end())
    block.notes.push_back(std::move(line));
}

Outcome Context::record_fault(const Instruction &in, int lane, std::string text) {
  if (!block.fault.empty())
    return Outcome::kFault;
  const Launch &launch = block.launch;
  std::string code;
  for (char c : in.source->text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank)
      code += c;
    else if (!code.empty() && code.back() != ' ')
      code += ' ';
  }
  const size_t position = size_t(&in - launch.program.code.data());
  const uint32_t function =
      position < launch.program.function_of.size() ? launch.program.function_of[position] : 0;
  std::ostringstream out;
  out << launch.module.module().name() << ":" << in.source->at.line << ": kernel '"
      << launch.program.kernel.name << "'";
  if (function)
    out << ", function '" << launch.program.functions[function].name << "'";
  out << ": " << code << ": block (" << block.id.x << "," << block.id.y << "," << block.id.z << ")";
  if (lane >= 0) {
    const uint32_t t = warp.index * kLanes + uint32_t(lane);
    out << " thread (" << t % launch.block.x << "," << t / launch.block.x % launch.block.y << ","
        << t / launch.block.x / launch.block.y << ")";
  } else {
    out << " warp " << warp.index;
  }
  out << ": " << text;
  block.fault = std::move(out).str();
  block.fault_code = StatusCode::kFailedPrecondition;
  return Outcome::kFault;
}

} // namespace quaver::sim
