//===- size_program.cpp - an entry's size expressions, ready to evaluate ----===//
#include "runtime/executor/size_program.h"

#include "runtime/plan/expr_printer.h"

namespace quaver {
using Kind = plan::Expr;

SizeProgram::SizeProgram(const plan::Plan &plan, const std::vector<uint32_t> &roots) : plan_(plan) {
  const int count = plan.exprs_size();
  std::vector<uint8_t> reached(count, 0);
  for (uint32_t root : roots)
    reached[root] = 1;
  // An upper bound may come later in the arena than the DIM it belongs to, so a sweep may have to be
  // repeated; each repetition reaches at least one more dimension.
  std::vector<uint8_t> dim_reached(plan.dims_size(), 0);
  for (bool again = true; again;) {
    again = false;
    for (int i = count - 1; i >= 0; --i) {
      if (!reached[i])
        continue;
      const plan::Expr &expr = plan.exprs(i);
      int operands = plan::expr_operands(expr.kind());
      if (operands > 0)
        reached[expr.a()] = reached[expr.b()] = 1;
      if (operands == 3)
        reached[expr.c()] = 1;
      if (expr.kind() == Kind::DIM && !dim_reached[expr.value()]) {
        dim_reached[expr.value()] = 1;
        const plan::Dim &dim = plan.dims(static_cast<int>(expr.value()));
        uint32_t bound = dim.upper_bound_plus_1();
        if (dim.data_dependent() && bound && !reached[bound - 1]) {
          reached[bound - 1] = 1;
          again = true;
        }
      }
    }
  }

  slot_of_expr_.assign(count, UINT32_MAX);
  for (int i = 0; i < count; ++i) {
    if (!reached[i])
      continue;
    const plan::Expr &expr = plan.exprs(i);
    Node node{expr.kind(), 0, 0, 0, expr.value()};
    bool late = expr.kind() == Kind::DIM && plan.dims(static_cast<int>(expr.value())).data_dependent();
    int operands = plan::expr_operands(expr.kind());
    if (operands > 0) {
      node.a = slot_of_expr_[expr.a()];
      node.b = slot_of_expr_[expr.b()];
      late = is_late_[node.a] || is_late_[node.b];
    }
    if (operands == 3) {
      node.c = slot_of_expr_[expr.c()];
      late = late || is_late_[node.c];
    }
    uint32_t slot = static_cast<uint32_t>(nodes_.size());
    slot_of_expr_[i] = slot;
    expr_of_slot_.push_back(static_cast<uint32_t>(i));
    nodes_.push_back(node);
    is_late_.push_back(late);
    if (late)
      late_.push_back(slot);
  }
  for (int d = 0; d < plan.dims_size(); ++d) {
    dim_names_.push_back(plan.dims(d).name());
    if (uint32_t bound = plan.dims(d).upper_bound_plus_1(); dim_reached[d] && plan.dims(d).data_dependent())
      late_dims_.push_back({static_cast<uint32_t>(d), bound ? slot_of_expr_[bound - 1] : kUnbounded});
  }
}

void SizeProgram::prepare(SizeValues &values) const {
  values.dims.assign(dim_names_.size(), 0);
  values.dim_bound.assign(dim_names_.size(), 0);
  values.values.assign(nodes_.size(), 0);
  values.states.assign(nodes_.size(), SizeState::kUnbound);
  values.reserve = values.values;
  values.reserve_states = values.states;
}

void SizeProgram::evaluate_node(const Node &node, const std::vector<int64_t> &dims,
                                const std::vector<uint8_t> &bound, uint32_t slot,
                                std::vector<int64_t> &values, std::vector<SizeState> &states) const {
  switch (node.kind) {
  case Kind::CONSTANT:
    values[slot] = node.value;
    states[slot] = SizeState::kKnown;
    return;
  case Kind::DIM:
    values[slot] = dims[node.value];
    states[slot] = bound[node.value] ? SizeState::kKnown : SizeState::kUnbound;
    return;
  case Kind::SELECT: {
    // Only the chosen side counts: the other may divide by zero.
    uint32_t chosen = values[node.a] != 0 ? node.b : node.c;
    bool known = states[node.a] == SizeState::kKnown;
    states[slot] = known ? states[chosen] : states[node.a];
    values[slot] = values[chosen];
    return;
  }
  default:
    if (states[node.a] != SizeState::kKnown)
      states[slot] = states[node.a];
    else if (states[node.b] != SizeState::kKnown)
      states[slot] = states[node.b];
    else
      states[slot] = plan::apply_expr(node.kind, values[node.a], values[node.b], &values[slot]);
  }
}

void SizeProgram::evaluate(SizeValues &v) const {
  for (uint32_t slot = 0; slot < nodes_.size(); ++slot)
    evaluate_node(nodes_[slot], v.dims, v.dim_bound, slot, v.values, v.states);
  evaluate_reserve(v);
}

void SizeProgram::evaluate_late(SizeValues &v) const {
  for (uint32_t slot : late_)
    evaluate_node(nodes_[slot], v.dims, v.dim_bound, slot, v.values, v.states);
}

void SizeProgram::forget_late(SizeValues &v) const {
  for (const LateDim &late : late_dims_)
    v.dim_bound[late.dim] = 0;
  if (late_.empty())
    return;
  evaluate_late(v);
  evaluate_reserve(v);
}

Status SizeProgram::bind_late(SizeValues &v, uint32_t dim, int64_t value) const {
  for (const LateDim &late : late_dims_)
    if (late.dim == dim && late.upper_bound != kUnbounded &&
        v.reserve_states[late.upper_bound] == SizeState::kKnown && value > v.reserve[late.upper_bound])
      return DataLossError("dimension '" + dim_names_[dim] + "' was computed as " + std::to_string(value) +
                           ", more than its bound " + std::to_string(v.reserve[late.upper_bound]) +
                           ": the plan is wrong, compile the model again");
  v.dims[dim] = value;
  v.dim_bound[dim] = 1;
  evaluate_late(v);
  return OkStatus();
}

void SizeProgram::evaluate_reserve(SizeValues &v) const {
  v.reserve = v.values;
  v.reserve_states = v.states;
  if (late_.empty())
    return;
  std::vector<int64_t> dims = v.dims;
  std::vector<uint8_t> bound = v.dim_bound;
  // A bound may name other data-dependent dimensions: each round binds those whose bounds became known.
  for (size_t round = 0; round < late_dims_.size() + 1; ++round) {
    for (uint32_t slot : late_)
      evaluate_node(nodes_[slot], dims, bound, slot, v.reserve, v.reserve_states);
    for (const LateDim &late : late_dims_)
      if (!bound[late.dim] && late.upper_bound != kUnbounded &&
          v.reserve_states[late.upper_bound] == SizeState::kKnown) {
        dims[late.dim] = v.reserve[late.upper_bound];
        bound[late.dim] = 1;
      }
  }
}

Status SizeProgram::explain(const SizeValues &values, uint32_t slot, const std::string &what,
                            bool reserve) const {
  SizeState state = (reserve ? values.reserve_states : values.states)[slot];
  std::string text = what + " is " + plan::print_expr(plan_, expr_of_slot_[slot], 200) + ", ";
  switch (state) {
  case SizeState::kOverflow:
    return InvalidArgumentError(text +
                                "which does not fit into 64 bits for these input shapes: use smaller ones");
  case SizeState::kDivisionByZero:
    return InvalidArgumentError(text + "which divides by zero for these input shapes");
  case SizeState::kUnbound:
    return FailedPreconditionError(text +
                                   "which is not known yet at this point of the run: the plan is wrong, "
                                   "compile the model again");
  case SizeState::kKnown:
    break;
  }
  return InvalidArgumentError(text + "that is " +
                              std::to_string((reserve ? values.reserve : values.values)[slot]) +
                              " for these input shapes, which is out of range");
}

} // namespace quaver
