//===- tensor_copy.cpp - cp.async.bulk.tensor -------------------------------===//
// PTX ISA 9.0, sections 9.7.9.25.5 and 5.5 (tensors). Tiled mode, ranks 1 to 5, without interleave. The box
// lies densely in shared memory, innermost dimension first; a swizzle of 16 << b bytes exclusive-ors address
// bits 4.. with bits 7.., as many as b.
//
#include "runtime/drivers/sim/machine/instructions/bulk_copy.h"
#include "runtime/drivers/sim/machine/instructions/lanewise.h"
#include "runtime/drivers/sim/machine/instructions/mbarrier.h"
#include "runtime/drivers/sim/machine/observe.h"
#include "runtime/drivers/sim/machine/scheduler.h"
#include "runtime/drivers/sim/tensor_map.h"

namespace quaver::sim {
namespace {

using ptx::Space;
using ptx::Type;

struct TensorCopy {
  uint32_t rank = 0;
  bool is_load = true, is_multicast = false;
  int64_t shared_offset = 0, map_offset = 0, barrier_offset = 0;
};

uint64_t lane_address(Context &c, const Instruction &in, const Operand &base, int64_t offset, int lane) {
  Instruction at = in;
  at.offset = offset;
  uint64_t all[kLanes];
  c.addresses(at, base, all);
  return all[lane];
}

bool read_map(Context &c, const Instruction &in, uint64_t address, uint32_t rank, int lane, TensorMap &out) {
  const std::byte *bytes = c.access(in, Space::kGeneric, address, kTensorMapBytes, 64, Access::kRead, lane);
  if (!bytes)
    return false;
  StatusOr<TensorMap> map =
      decode_tensor_map(std::span<const std::byte, kTensorMapBytes>(bytes, kTensorMapBytes));
  if (!map.ok() || map->rank != rank) {
    c.fault(in, lane,
            map.ok() ? str_cat("the tensor map has rank ", map->rank, ", the instruction ", rank)
                     : map.status().message());
    return false;
  }
  out = *map;
  return true;
}

uint64_t not_a_number(TensorMapType type) {
  return type == TensorMapType::kF64 ? 0x7fffffffffffffff : element_bytes(type) == 2 ? 0x7fff : 0x7fffffff;
}

// Copies one box for a lane. False: a fault was recorded.
bool copy_box(Context &c, const Instruction &in, const TensorMap &m, const int32_t *first, uint64_t shared,
              bool is_load, int lane, PendingCopies &written) {
  const uint32_t bytes = element_bytes(m.type);
  uint64_t elements = 1;
  for (uint32_t i = 0; i < m.rank; ++i)
    elements *= m.box[i];
  if (shared % 128) {
    c.fault(in, lane, "the shared address 0x", std::hex, shared,
            " of a tensor copy is not a multiple of 128");
    return false;
  }
  const uint64_t swizzle_mask = (uint64_t{1} << int(m.swizzle)) - 1;
  for (uint64_t e = 0; e < elements; ++e) {
    uint64_t rest = e, global = m.address;
    bool inside = true;
    for (uint32_t i = 0; i < m.rank; ++i) {
      const int64_t at = int64_t{first[i]} + int64_t(rest % m.box[i] * m.element_strides[i]);
      rest /= m.box[i];
      inside &= at >= 0 && uint64_t(at) < m.sizes[i];
      global += uint64_t(at) * (i ? m.strides[i - 1] : bytes);
    }
    uint64_t to = shared + e * bytes;
    to ^= (to >> 7 & swizzle_mask) << 4;
    uint8_t *known = nullptr;
    std::byte *place =
        c.access(in, Space::kShared, to, bytes, 1, is_load ? Access::kWrite : Access::kRead, lane, &known);
    if (!place)
      return false;
    if (is_load) {
      const uint64_t fill = m.nan_fill ? not_a_number(m.type) : 0;
      const void *from = &fill;
      if (inside && !(from = c.access(in, Space::kGlobal, global, bytes, bytes, Access::kRead, lane)))
        return false;
      std::memcpy(place, from, bytes);
      std::memset(known, shadow::kWritten | shadow::kPending, bytes);
      written.push_back({known, bytes});
      continue;
    }
    if (known[0] & shadow::kUnfenced) {
      c.fault(in, lane, "reads 0x", std::hex, to, std::dec, " through the asynchronous proxy, which warp ",
              known[0] >> shadow::kWriterShift,
              " wrote by an ordinary store with no fence.proxy.async since");
      return false;
    }
    if (!inside)
      continue;
    std::byte *target = c.access(in, Space::kGlobal, global, bytes, bytes, Access::kWrite, lane);
    if (!target)
      return false;
    std::memcpy(target, place, bytes);
  }
  const LaunchOptions &options = c.block.launch.options;
  if (!options.counters && !options.races)
    return true;
  uint64_t addresses[kLanes] = {};
  addresses[lane] = shared;
  const LaneMask all = c.mask;
  c.mask = LaneMask{1} << lane;
  const Outcome seen = observe_access(c, in, Space::kShared, addresses, uint32_t(elements * bytes),
                                      is_load ? AccessKind::kStore : AccessKind::kLoad);
  c.mask = all;
  return seen == Outcome::kNext;
}

// Operands of a load: shared, map, coordinates, mbarrier, mask; of a store: map, coordinates, shared.
Outcome copy_tensor(Context &c, const Instruction &in) {
  const TensorCopy &v = *static_cast<const TensorCopy *>(in.extra);
  const Operand *shared = v.is_load ? &in.operands[0] : &in.operands[1 + v.rank],
                *map = &in.operands[v.is_load ? 1 : 0];
  for (LaneMask left = c.mask; left; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    TensorMap m;
    if (!read_map(c, in, lane_address(c, in, *map, v.map_offset, lane), v.rank, lane, m))
      return Outcome::kFault;
    int32_t first[5] = {}, room[kLanes];
    for (uint32_t i = 0; i < v.rank; ++i)
      first[i] = c.lanes(map[1 + i], room)[lane];
    if (v.is_multicast) {
      uint16_t mask_room[kLanes];
      if (const uint16_t mask = c.lanes(in.operands[in.operand_count - 1], mask_room)[lane]; mask != 1)
        return c.fault(in, lane, "multicast to blocks ", mask, " of a cluster of one block");
    }
    const uint64_t at = lane_address(c, in, *shared, v.shared_offset, lane);
    PendingCopies written;
    if (!copy_box(c, in, m, first, (at & ~(kWindowBytes - 1)) == kSharedWindow ? at - kSharedWindow : at,
                  v.is_load, lane, written))
      return Outcome::kFault;
    if (!v.is_load)
      continue;
    Mbarrier *b = find_mbarrier(c, in, lane_address(c, in, map[1 + v.rank], v.barrier_offset, lane), lane);
    if (!b)
      return Outcome::kFault;
    b->copies.insert(b->copies.end(), written.begin(), written.end());
    int64_t bytes = element_bytes(m.type);
    for (uint32_t i = 0; i < m.rank; ++i)
      bytes *= m.box[i];
    if (!add_transactions(c, in, *b, -bytes, lane))
      return Outcome::kFault;
  }
  return Outcome::kNext;
}

// [map, {c0, c1}]: the map's address, then the coordinates.
void map_and_coordinates(Decoder &d, size_t i, TensorCopy &v) {
  const ptx::Operand &o = d.operand(i);
  if (o.kind != ptx::Operand::Kind::kAddress || o.elements.size() != 2 ||
      o.elements[1].kind != ptx::Operand::Kind::kVector || o.elements[1].elements.size() != v.rank)
    return d.invalid("a tensor is [map, {coordinates}] with ", v.rank, " coordinates");
  d.address(i, /*allow_more=*/true);
  v.map_offset = d.out.offset;
  for (const ptx::Operand &coordinate : o.elements[1].elements)
    d.value(coordinate, Type::kB32);
}

} // namespace

void decode_tensor_copy(Decoder &d) {
  TensorCopy v;
  v.rank = uint32_t(d.take_one({"1d", "2d", "3d", "4d", "5d"}) + 1);
  d.take("tile");
  const bool to_shared = d.take("shared::cluster"), cta = d.take("shared::cta"), global = d.take("global");
  v.is_load = d.take("mbarrier::complete_tx::bytes");
  const bool grouped = d.take("bulk_group");
  v.is_multicast = d.take("multicast::cluster");
  const bool has_policy = d.take("L2::cache_hint");
  if (v.rank == 0 || !global || v.is_load == grouped || !(to_shared || cta) || (grouped && to_shared))
    return d.unsupported("'cp.async.bulk.tensor' in this form");
  const size_t count = (v.is_load ? 3 : 2) + v.is_multicast + has_policy;
  d.expect_operands(count, count);
  d.out.execute = copy_tensor;
  if (v.is_load) {
    d.address(0);
    v.shared_offset = d.out.offset;
    map_and_coordinates(d, 1, v);
    d.address(2);
    v.barrier_offset = d.out.offset;
    if (has_policy)
      d.value(count - 1, Type::kB64);
    if (v.is_multicast)
      d.value(3, Type::kB16);
  } else {
    map_and_coordinates(d, 0, v);
    d.address(1);
    v.shared_offset = d.out.offset;
    if (has_policy)
      d.value(2, Type::kB64);
  }
  d.out.space = Space::kShared;
  d.out.extra = d.keep(v);
}

} // namespace quaver::sim
