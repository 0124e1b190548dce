//===- size_program.h - an entry's size expressions, ready to evaluate -----===//
//
// The plan's expression arena holds the sizes of all entries and targets. A SizeProgram is the part that one
// entry reaches, renumbered into dense *slots*, operands before users, so that one pass over a flat array
// evaluates it.
//
// Three kinds of value are kept apart: expressions of bound dimensions are known from the start; those of
// data-dependent dimensions become known after their ReadBack (`late`); and every expression has a reserve
// value, in which data-dependent dimensions stand at their upper bounds, by which memory is reserved.
//
// Thread-safety: a built program is immutable; SizeValues belong to one run.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/base/status.h"
#include "runtime/plan/expr.h"

#include <cstdint>
#include <string>
#include <vector>

namespace quaver {

using SizeState = plan::ExprOutcome;

/// The values of a program's slots during one run.
struct SizeValues {
  std::vector<int64_t> dims;      // by dimension index of the plan
  std::vector<uint8_t> dim_bound; // 0 or 1
  std::vector<int64_t> values;    // by slot
  std::vector<SizeState> states;
  std::vector<int64_t> reserve; // by slot; data-dependent dimensions at their upper bounds
  std::vector<SizeState> reserve_states;
};

class SizeProgram {
public:
  /// Builds the program of all expressions in `roots` (indices into plan.exprs; validated). The plan must
  /// outlive it.
  SizeProgram(const plan::Plan &plan, const std::vector<uint32_t> &roots);

  /// The slot of a root or of anything that a root reaches.
  uint32_t slot(uint32_t expr) const { return slot_of_expr_[expr]; }
  size_t size() const { return nodes_.size(); }
  bool has_late() const { return !late_.empty(); }
  bool is_late(uint32_t slot) const { return is_late_[slot]; }

  /// Sizes `values` for this program, with all dimensions unbound.
  void prepare(SizeValues &values) const;
  /// Evaluates all slots after the static dimensions were bound, and the reserve values.
  void evaluate(SizeValues &values) const;
  /// Before another run with the same shapes: data-dependent dimensions are unknown again.
  void forget_late(SizeValues &values) const;
  /// The reserve values anew: data-dependent dimensions that are bound count as they are, the others at their
  /// bounds, and those without a bound leave what depends on them unknown.
  void evaluate_reserve(SizeValues &values) const;
  /// Binds a data-dependent dimension and evaluates what depends on it. A value that is negative or above the
  /// upper bound is an error: memory was reserved by the bound.
  Status bind_late(SizeValues &values, uint32_t dim, int64_t value) const;

  /// Why a slot has no value, as a sentence; `what` names the use. `reserve` asks for the reserve value.
  Status explain(const SizeValues &values, uint32_t slot, const std::string &what,
                 bool reserve = false) const;

private:
  struct Node {
    plan::Expr::Kind kind;
    uint32_t a, b, c; // slots
    int64_t value;    // CONSTANT, or the dimension index of DIM
  };
  void evaluate_node(const Node &node, const std::vector<int64_t> &dims, const std::vector<uint8_t> &bound,
                     uint32_t slot, std::vector<int64_t> &values, std::vector<SizeState> &states) const;
  void evaluate_late(SizeValues &values) const;

  const plan::Plan &plan_; // for messages
  std::vector<Node> nodes_;
  std::vector<uint32_t> slot_of_expr_, expr_of_slot_;
  std::vector<uint32_t> late_; // slots, ascending
  std::vector<uint8_t> is_late_;
  static constexpr uint32_t kUnbounded = UINT32_MAX;
  struct LateDim {
    uint32_t dim;
    uint32_t upper_bound; // slot or kUnbounded
  };
  std::vector<LateDim> late_dims_;
  std::vector<std::string> dim_names_;
};

} // namespace quaver
