//===- control_flow.cpp - where ways meet again -----------------------------===//
#include "runtime/drivers/sim/machine/program.h"

#include "runtime/drivers/sim/machine/control.h"

#include <algorithm>

namespace quaver::sim {
namespace {

struct BasicBlock {
  uint32_t begin = 0, end = 0; // positions
  std::vector<uint32_t> next;  // blocks; the virtual exit is number `blocks.size()`
  std::vector<uint32_t> previous;
};

class MeetingPoints {
public:
  MeetingPoints(Program &program, const FunctionCode &function) : program_(program), function_(function) {}

  void run() {
    find_leaders();
    find_blocks();
    order();
    dominate();
    for (size_t b = 0; b + 1 < blocks_.size(); ++b) {
      const int meet = dominator_[b];
      const bool at_end = meet < 0 || size_t(meet) + 1 == blocks_.size();
      program_.meets_at[blocks_[b].end - 1] = at_end ? kReturnPosition : blocks_[size_t(meet)].begin;
    }
  }

private:
  void find_leaders() {
    program_.meets_at.resize(program_.code.size(), kReturnPosition);
    auto lead = [&](uint32_t position) {
      if (position < function_.end)
        program_.code[position].is_leader = true;
    };
    lead(function_.begin);
    for (uint32_t i = function_.begin; i < function_.end; ++i) {
      const Instruction &in = program_.code[i];
      const ControlKind kind = control_kind(in);
      if (kind == ControlKind::kNone)
        continue;
      lead(i + 1);
      if (kind == ControlKind::kBranch)
        lead(in.target);
      if (kind == ControlKind::kBranchList)
        for (uint32_t target : static_cast<const BranchTargets *>(in.extra)->positions)
          lead(target);
    }
  }

  void find_blocks() {
    block_of_.assign(function_.end - function_.begin, 0);
    for (uint32_t i = function_.begin; i < function_.end; ++i) {
      if (program_.code[i].is_leader)
        blocks_.push_back({i, i, {}, {}});
      blocks_.back().end = i + 1;
      block_of_[i - function_.begin] = uint32_t(blocks_.size() - 1);
    }
    const uint32_t exit = uint32_t(blocks_.size());
    blocks_.push_back({});
    for (uint32_t b = 0; b < exit; ++b) {
      const Instruction &last = program_.code[blocks_[b].end - 1];
      const ControlKind kind = control_kind(last);
      auto to = [&](uint32_t position) {
        const uint32_t target = position < function_.end ? block_of_[position - function_.begin] : exit;
        blocks_[b].next.push_back(target);
        blocks_[target].previous.push_back(b);
      };
      if (kind == ControlKind::kBranch)
        to(last.target);
      if (kind == ControlKind::kBranchList)
        for (uint32_t target : static_cast<const BranchTargets *>(last.extra)->positions)
          to(target);
      if (kind == ControlKind::kEnd)
        to(function_.end);
      if (kind == ControlKind::kNone || kind == ControlKind::kCall || last.has_guard)
        to(blocks_[b].end);
    }
  }

  // Postorder of the reversed graph from the virtual exit.
  void order() {
    number_.assign(blocks_.size(), -1);
    std::vector<std::pair<uint32_t, size_t>> stack{{uint32_t(blocks_.size() - 1), 0}};
    std::vector<bool> seen(blocks_.size());
    seen.back() = true;
    while (!stack.empty()) {
      auto &[b, i] = stack.back();
      if (i < blocks_[b].previous.size()) {
        const uint32_t p = blocks_[b].previous[i++];
        if (!seen[p]) {
          seen[p] = true;
          stack.push_back({p, 0});
        }
      } else {
        number_[b] = int(postorder_.size());
        postorder_.push_back(b);
        stack.pop_back();
      }
    }
  }

  void dominate() {
    dominator_.assign(blocks_.size(), -1);
    const int exit = int(blocks_.size() - 1);
    dominator_[size_t(exit)] = exit;
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = postorder_.size(); i-- > 0;) {
        const uint32_t b = postorder_[i];
        if (int(b) == exit)
          continue;
        int found = -1;
        for (uint32_t n : blocks_[b].next)
          if (number_[n] >= 0 && dominator_[n] >= 0)
            found = found < 0 ? int(n) : intersect(found, int(n));
        if (found != dominator_[b]) {
          dominator_[b] = found;
          changed = true;
        }
      }
    }
  }

  int intersect(int a, int b) const {
    while (a != b) {
      while (number_[size_t(a)] < number_[size_t(b)])
        a = dominator_[size_t(a)];
      while (number_[size_t(b)] < number_[size_t(a)])
        b = dominator_[size_t(b)];
    }
    return a;
  }

  Program &program_;
  const FunctionCode &function_;
  std::vector<BasicBlock> blocks_;
  std::vector<uint32_t> block_of_, postorder_;
  std::vector<int> number_, dominator_; // -1: cannot reach the function's end
};

} // namespace

void find_meeting_points(Program &program, const FunctionCode &function) {
  MeetingPoints(program, function).run();
}

} // namespace quaver::sim
