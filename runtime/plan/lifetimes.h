// From when to when an entry uses its buffers.
#pragma once
#include "runtime/plan/plan.pb.h"
#include <functional>
#include <vector>

namespace quaver::plan {

/// Calls `visit` with every instruction and its number, in program order, those of nested blocks after the
/// one that holds them (a while's `before` first). Numbers are what inspection shows.
void visit_instructions(const Block &block, const std::function<void(const Instruction &, int)> &visit);

/// First and last instruction that touch a buffer; nothing touches it if first is -1. What a loop uses of
/// before it lives until the loop's end.
struct Lifetime {
  int first = -1, last = -1;
};
std::vector<Lifetime> buffer_lifetimes(const Entry &entry);

} // namespace quaver::plan
