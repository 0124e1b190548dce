//===- counters.cpp - what a launch counts ----------------------------------===//
#include "runtime/drivers/sim/machine/counters.h"

#include <sstream>

namespace quaver::sim {

std::string_view class_name(InstructionClass c) {
  constexpr std::string_view kNames[] = {
#define QUAVER_NAME(name, text) text,
      QUAVER_SIM_CLASSES(QUAVER_NAME)
#undef QUAVER_NAME
  };
  return kNames[size_t(c)];
}

Counters &Counters::operator+=(const Counters &other) {
  thread_instructions += other.thread_instructions;
  warp_instructions += other.warp_instructions;
  blocks += other.blocks;
  for (size_t i = 0; i < by_class.size(); ++i)
    by_class[i] += other.by_class[i];
  global_load_bytes += other.global_load_bytes;
  global_store_bytes += other.global_store_bytes;
  global_load_sectors += other.global_load_sectors;
  global_store_sectors += other.global_store_sectors;
  shared_load_bytes += other.shared_load_bytes;
  shared_store_bytes += other.shared_store_bytes;
  shared_accesses += other.shared_accesses;
  shared_conflicts += other.shared_conflicts;
  local_bytes += other.local_bytes;
  divergent_branches += other.divergent_branches;
  tensor_core_flops += other.tensor_core_flops;
  return *this;
}

std::string to_string(const Counters &c) {
  std::ostringstream out;
  out << "blocks: " << c.blocks << "\nwarp instructions: " << c.warp_instructions
      << "\nthread instructions: " << c.thread_instructions << "\n";
  for (size_t i = 0; i < c.by_class.size(); ++i)
    if (c.by_class[i])
      out << "  " << class_name(InstructionClass(i)) << ": " << c.by_class[i] << "\n";
  out << "divergent branches: " << c.divergent_branches << "\nglobal bytes loaded: " << c.global_load_bytes
      << "\nglobal sectors loaded: " << c.global_load_sectors
      << "\nglobal bytes stored: " << c.global_store_bytes
      << "\nglobal sectors stored: " << c.global_store_sectors
      << "\nshared bytes loaded: " << c.shared_load_bytes << "\nshared bytes stored: " << c.shared_store_bytes
      << "\nshared accesses: " << c.shared_accesses << "\nshared bank conflicts: " << c.shared_conflicts
      << "\nlocal bytes: " << c.local_bytes << "\n";
  if (c.tensor_core_flops)
    out << "tensor core flops: " << c.tensor_core_flops << "\n";
  return out.str();
}

} // namespace quaver::sim
