//===- special_registers.cpp - %tid, %laneid and their kin ------------------===//
#include "runtime/drivers/sim/machine/special_registers.h"

#include "runtime/drivers/sim/machine/scheduler.h"

#include <cstring>

namespace quaver::sim {
namespace {

// What a special register holds in a lane.
using Value = uint64_t (*)(const Block &block, const Warp &warp, uint32_t lane);

uint64_t thread_index(const Warp &warp, uint32_t lane) { return uint64_t{warp.index} * kLanes + lane; }
uint64_t zero(const Block &, const Warp &, uint32_t) { return 0; }
uint64_t one(const Block &, const Warp &, uint32_t) { return 1; }
uint64_t clock(const Block &, const Warp &w, uint32_t) { return w.steps * 4; } // 4 cycles an instruction

struct Row {
  std::string_view name, component;
  uint8_t bytes;
  Value value;
};

constexpr Row kRows[] = {
    {"%tid", "x", 4,
     [](const Block &b, const Warp &w, uint32_t l) { return thread_index(w, l) % b.launch.block.x; }},
    {"%tid", "y", 4,
     [](const Block &b, const Warp &w, uint32_t l) {
       return thread_index(w, l) / b.launch.block.x % b.launch.block.y;
     }},
    {"%tid", "z", 4,
     [](const Block &b, const Warp &w, uint32_t l) {
       return thread_index(w, l) / b.launch.block.x / b.launch.block.y;
     }},
    {"%ntid", "x", 4, [](const Block &b, const Warp &, uint32_t) { return uint64_t{b.launch.block.x}; }},
    {"%ntid", "y", 4, [](const Block &b, const Warp &, uint32_t) { return uint64_t{b.launch.block.y}; }},
    {"%ntid", "z", 4, [](const Block &b, const Warp &, uint32_t) { return uint64_t{b.launch.block.z}; }},
    {"%ctaid", "x", 4, [](const Block &b, const Warp &, uint32_t) { return uint64_t{b.id.x}; }},
    {"%ctaid", "y", 4, [](const Block &b, const Warp &, uint32_t) { return uint64_t{b.id.y}; }},
    {"%ctaid", "z", 4, [](const Block &b, const Warp &, uint32_t) { return uint64_t{b.id.z}; }},
    {"%nctaid", "x", 4, [](const Block &b, const Warp &, uint32_t) { return uint64_t{b.launch.grid.x}; }},
    {"%nctaid", "y", 4, [](const Block &b, const Warp &, uint32_t) { return uint64_t{b.launch.grid.y}; }},
    {"%nctaid", "z", 4, [](const Block &b, const Warp &, uint32_t) { return uint64_t{b.launch.grid.z}; }},
    // Clusters of one block: a cluster is a block.
    {"%clusterid", "x", 4, [](const Block &b, const Warp &, uint32_t) { return uint64_t{b.id.x}; }},
    {"%clusterid", "y", 4, [](const Block &b, const Warp &, uint32_t) { return uint64_t{b.id.y}; }},
    {"%clusterid", "z", 4, [](const Block &b, const Warp &, uint32_t) { return uint64_t{b.id.z}; }},
    {"%nclusterid", "x", 4, [](const Block &b, const Warp &, uint32_t) { return uint64_t{b.launch.grid.x}; }},
    {"%nclusterid", "y", 4, [](const Block &b, const Warp &, uint32_t) { return uint64_t{b.launch.grid.y}; }},
    {"%nclusterid", "z", 4, [](const Block &b, const Warp &, uint32_t) { return uint64_t{b.launch.grid.z}; }},
    {"%cluster_ctaid", "x", 4, zero},
    {"%cluster_ctaid", "y", 4, zero},
    {"%cluster_ctaid", "z", 4, zero},
    {"%cluster_nctaid", "x", 4, one},
    {"%cluster_nctaid", "y", 4, one},
    {"%cluster_nctaid", "z", 4, one},
    {"%cluster_ctarank", "", 4, zero},
    {"%cluster_nctarank", "", 4, one},
    {"%is_explicit_cluster", "", 0, zero},
    {"%laneid", "", 4, [](const Block &, const Warp &, uint32_t l) { return uint64_t{l}; }},
    {"%warpid", "", 4, [](const Block &, const Warp &w, uint32_t) { return uint64_t{w.index}; }},
    {"%nwarpid", "", 4,
     [](const Block &b, const Warp &, uint32_t) { return uint64_t{(b.threads + 31) / 32}; }},
    {"%smid", "", 4, zero},
    {"%nsmid", "", 4, one},
    {"%gridid", "", 8, zero},
    {"%lanemask_eq", "", 4, [](const Block &, const Warp &, uint32_t l) { return uint64_t{1} << l; }},
    {"%lanemask_le", "", 4, [](const Block &, const Warp &, uint32_t l) { return (uint64_t{2} << l) - 1; }},
    {"%lanemask_lt", "", 4, [](const Block &, const Warp &, uint32_t l) { return (uint64_t{1} << l) - 1; }},
    {"%lanemask_ge", "", 4,
     [](const Block &, const Warp &, uint32_t l) { return uint64_t{kAllLanes} << l & kAllLanes; }},
    {"%lanemask_gt", "", 4,
     [](const Block &, const Warp &, uint32_t l) { return (uint64_t{kAllLanes} << l << 1) & kAllLanes; }},
    {"%clock", "", 4, clock},
    {"%clock_hi", "", 4, [](const Block &, const Warp &w, uint32_t) { return w.steps * 4 >> 32; }},
    {"%clock64", "", 8, clock},
    {"%globaltimer", "", 8, clock},
    {"%globaltimer_lo", "", 4, clock},
    {"%globaltimer_hi", "", 4, [](const Block &, const Warp &w, uint32_t) { return w.steps * 4 >> 32; }},
    {"%dynamic_smem_size", "", 4,
     [](const Block &b, const Warp &, uint32_t) { return uint64_t{b.launch.dynamic_shared_bytes}; }},
    {"%total_smem_size", "", 4,
     [](const Block &b, const Warp &, uint32_t) {
       return uint64_t{b.launch.program.static_shared_bytes} + b.launch.dynamic_shared_bytes;
     }},
    {"%aggr_smem_size", "", 4,
     [](const Block &b, const Warp &, uint32_t) {
       return uint64_t{b.launch.program.static_shared_bytes} + b.launch.dynamic_shared_bytes;
     }},
};

constexpr size_t kSlotBytes = 8 * kLanes;

void fill(const Block &block, Warp &warp, size_t row) {
  uint8_t *slot = warp.specials.get() + row * kSlotBytes;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint64_t value = kRows[row].value(block, warp, lane);
    const size_t bytes = kRows[row].bytes;
    if (bytes)
      std::memcpy(slot + lane * bytes, &value, bytes);
    else if (lane == 0)
      std::memset(slot, value ? 0xff : 0, 4);
  }
}

} // namespace

std::optional<Operand> special_register(std::string_view name, std::string_view component) {
  size_t row = 0;
  for (const Row &r : kRows) {
    if (r.name == name && r.component == component) {
      Operand operand;
      operand.base = Operand::Base::kSpecial;
      operand.bytes = r.bytes;
      operand.offset = uint32_t(row * kSlotBytes);
      return operand;
    }
    ++row;
  }
  return std::nullopt;
}

size_t special_register_bytes() { return std::size(kRows) * kSlotBytes; }

void set_special_registers(const Block &block, Warp &warp) {
  for (uint32_t row : block.launch.program.special_rows)
    fill(block, warp, row);
}

void set_clocks(const Block &block, Warp &warp) {
  for (uint32_t row : block.launch.program.special_rows)
    if (kRows[row].name.starts_with("%clock") || kRows[row].name.starts_with("%globaltimer"))
      fill(block, warp, row);
}

uint32_t special_row(const Operand &operand) { return uint32_t(operand.offset / kSlotBytes); }

} // namespace quaver::sim
