// What the expressions of a plan mean.
#pragma once
#include "runtime/base/status.h"
#include "runtime/plan/plan.pb.h"
#include <optional>
#include <span>
#include <vector>

namespace quaver::plan {

/// What became of an expression: a value, or why there is none.
enum class ExprOutcome : uint8_t { kKnown, kUnbound, kOverflow, kDivisionByZero };

/// Operands of a kind: 0, 2 or 3.
int expr_operands(Expr::Kind kind);

/// One arithmetic node over known operands (any kind but CONSTANT, DIM and SELECT). Division rounds to
/// negative infinity (FLOOR_DIV) or positive infinity (CEIL_DIV), MOD has the divisor's sign, comparisons
/// give 0 or 1.
ExprOutcome apply_expr(Expr::Kind kind, int64_t a, int64_t b, int64_t *out);

/// All expressions of a plan at one value of each dimension. An expression whose operand has no value has
/// none, for the same reason; of SELECT only the chosen side counts.
class ExprValues {
public:
  /// The plan's expressions must be well-formed (validate.h). dims[i] is the value of plan.dims(i), or
  /// nothing.
  ExprValues(const Plan &plan, std::span<const std::optional<int64_t>> dims);

  ExprOutcome outcome(uint32_t expr) const { return outcomes_[expr]; }
  /// Of a known expression.
  int64_t operator[](uint32_t expr) const { return values_[expr]; }
  bool is_known(uint32_t expr) const { return outcomes_[expr] == ExprOutcome::kKnown; }
  /// The value, or an error that shows the expression.
  StatusOr<int64_t> get(uint32_t expr) const;

private:
  const Plan *plan_;
  std::vector<int64_t> values_;
  std::vector<ExprOutcome> outcomes_;
};

} // namespace quaver::plan
