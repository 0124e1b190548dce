#include "runtime/plan/expr.h"
#include "runtime/plan/expr_printer.h"
#include <algorithm>

namespace quaver::plan {
namespace {

/// Floor division and the remainder with the divisor's sign; INT64_MIN / -1 overflows.
ExprOutcome divide(int64_t a, int64_t b, int64_t *floor, int64_t *mod) {
  if (b == 0)
    return ExprOutcome::kDivisionByZero;
  if (a == INT64_MIN && b == -1)
    return ExprOutcome::kOverflow;
  *floor = a / b;
  *mod = a % b;
  if (*mod != 0 && (*mod < 0) != (b < 0)) {
    --*floor;
    *mod += b;
  }
  return ExprOutcome::kKnown;
}

} // namespace

int expr_operands(Expr::Kind kind) {
  switch (kind) {
  case Expr::CONSTANT:
  case Expr::DIM:
    return 0;
  case Expr::SELECT:
    return 3;
  default:
    return 2;
  }
}

ExprOutcome apply_expr(Expr::Kind kind, int64_t a, int64_t b, int64_t *out) {
  auto checked = [](bool overflow) { return overflow ? ExprOutcome::kOverflow : ExprOutcome::kKnown; };
  int64_t floor = 0, mod = 0;
  switch (kind) {
  case Expr::ADD:
    return checked(__builtin_add_overflow(a, b, out));
  case Expr::SUB:
    return checked(__builtin_sub_overflow(a, b, out));
  case Expr::MUL:
    return checked(__builtin_mul_overflow(a, b, out));
  case Expr::MIN:
    return *out = std::min(a, b), ExprOutcome::kKnown;
  case Expr::MAX:
    return *out = std::max(a, b), ExprOutcome::kKnown;
  case Expr::EQ:
    return *out = a == b, ExprOutcome::kKnown;
  case Expr::LT:
    return *out = a < b, ExprOutcome::kKnown;
  case Expr::FLOOR_DIV:
  case Expr::CEIL_DIV:
  case Expr::MOD: {
    ExprOutcome outcome = divide(a, b, &floor, &mod);
    *out = kind == Expr::MOD ? mod : floor + (kind == Expr::CEIL_DIV && mod != 0);
    return outcome;
  }
  default:
    return ExprOutcome::kUnbound; // not an arithmetic node
  }
}

ExprValues::ExprValues(const Plan &plan, std::span<const std::optional<int64_t>> dims) : plan_(&plan) {
  size_t count = size_t(plan.exprs_size());
  values_.assign(count, 0);
  outcomes_.assign(count, ExprOutcome::kUnbound);
  for (size_t i = 0; i < count; ++i) {
    const Expr &e = plan.exprs(int(i));
    switch (e.kind()) {
    case Expr::CONSTANT:
      values_[i] = e.value();
      outcomes_[i] = ExprOutcome::kKnown;
      break;
    case Expr::DIM:
      if (const std::optional<int64_t> &dim = dims[size_t(e.value())]) {
        values_[i] = *dim;
        outcomes_[i] = ExprOutcome::kKnown;
      }
      break;
    case Expr::SELECT: {
      uint32_t chosen = !is_known(e.a()) ? e.a() : values_[e.a()] != 0 ? e.b() : e.c();
      values_[i] = values_[chosen];
      outcomes_[i] = outcomes_[chosen];
      break;
    }
    default:
      if (!is_known(e.a()) || !is_known(e.b()))
        outcomes_[i] = outcomes_[is_known(e.a()) ? e.b() : e.a()];
      else
        outcomes_[i] = apply_expr(e.kind(), values_[e.a()], values_[e.b()], &values_[i]);
    }
  }
}

StatusOr<int64_t> ExprValues::get(uint32_t expr) const {
  switch (outcomes_[expr]) {
  case ExprOutcome::kKnown:
    return values_[expr];
  case ExprOutcome::kOverflow:
    return OutOfRangeError("the size ", print_expr(*plan_, expr), " does not fit into 64 bits");
  case ExprOutcome::kDivisionByZero:
    return InvalidArgumentError("the size ", print_expr(*plan_, expr), " divides by zero");
  case ExprOutcome::kUnbound:
    break;
  }
  return FailedPreconditionError("the size ", print_expr(*plan_, expr),
                                 " has a dimension that is not known yet");
}

} // namespace quaver::plan
