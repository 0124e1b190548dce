//===- size_program_test.cpp - size expressions -----------------------------===//
#include "runtime/executor/size_program.h"
#include "test/lib/plan_builder.h"

#include <gtest/gtest.h>

namespace quaver::test {
namespace {

using Kind = plan::Expr;

struct Evaluated {
  SizeState state;
  int64_t value;
};

/// Evaluates one expression with the static dimensions bound to `dims`.
Evaluated evaluate(const PlanBuilder &p, E root, std::vector<int64_t> dims = {}) {
  SizeProgram program(p.plan, {root.index});
  SizeValues values;
  program.prepare(values);
  for (size_t i = 0; i < dims.size(); ++i) {
    values.dims[i] = dims[i];
    values.dim_bound[i] = 1;
  }
  program.evaluate(values);
  uint32_t slot = program.slot(root.index);
  return {values.states[slot], values.values[slot]};
}

int64_t binary(Kind::Kind kind, int64_t a, int64_t b) {
  PlanBuilder p;
  Evaluated result = evaluate(p, p.binary(kind, p.constant(a), p.constant(b)));
  EXPECT_EQ(result.state, SizeState::kKnown);
  return result.value;
}

SizeState failure(Kind::Kind kind, int64_t a, int64_t b) {
  PlanBuilder p;
  return evaluate(p, p.binary(kind, p.constant(a), p.constant(b))).state;
}

TEST(SizeProgram, arithmetic) {
  EXPECT_EQ(binary(Kind::ADD, 2, 3), 5);
  EXPECT_EQ(binary(Kind::SUB, 2, 3), -1);
  EXPECT_EQ(binary(Kind::MUL, -2, 3), -6);
  EXPECT_EQ(binary(Kind::FLOOR_DIV, 7, 2), 3);
  EXPECT_EQ(binary(Kind::FLOOR_DIV, -7, 2), -4);
  EXPECT_EQ(binary(Kind::FLOOR_DIV, 7, -2), -4);
  EXPECT_EQ(binary(Kind::CEIL_DIV, 7, 2), 4);
  EXPECT_EQ(binary(Kind::CEIL_DIV, 8, 2), 4);
  EXPECT_EQ(binary(Kind::CEIL_DIV, -7, 2), -3);
  EXPECT_EQ(binary(Kind::MOD, -7, 3), 2);
  EXPECT_EQ(binary(Kind::MOD, 7, -3), -2);
  EXPECT_EQ(binary(Kind::MIN, 7, 3), 3);
  EXPECT_EQ(binary(Kind::MAX, 7, 3), 7);
  EXPECT_EQ(binary(Kind::EQ, 3, 3), 1);
  EXPECT_EQ(binary(Kind::LT, 3, 3), 0);
}

TEST(SizeProgram, nothing_wraps_around) {
  EXPECT_EQ(failure(Kind::ADD, INT64_MAX, 1), SizeState::kOverflow);
  EXPECT_EQ(failure(Kind::SUB, INT64_MIN, 1), SizeState::kOverflow);
  EXPECT_EQ(failure(Kind::MUL, INT64_MAX, 2), SizeState::kOverflow);
  EXPECT_EQ(failure(Kind::FLOOR_DIV, INT64_MIN, -1), SizeState::kOverflow);
  EXPECT_EQ(failure(Kind::FLOOR_DIV, 1, 0), SizeState::kDivisionByZero);
  EXPECT_EQ(failure(Kind::MOD, 1, 0), SizeState::kDivisionByZero);
  EXPECT_EQ(failure(Kind::CEIL_DIV, 1, 0), SizeState::kDivisionByZero);
}

TEST(SizeProgram, only_the_chosen_side_of_select_counts) {
  PlanBuilder p;
  E n = p.dim("n");
  E divided = p.binary(Kind::FLOOR_DIV, p.constant(10), n), minus = p.constant(-1);
  E chosen = p.select(n, divided, minus);
  EXPECT_EQ(evaluate(p, chosen, {5}).value, 2);
  EXPECT_EQ(evaluate(p, chosen, {0}).state, SizeState::kKnown);
  EXPECT_EQ(evaluate(p, chosen, {0}).value, -1);
}

TEST(SizeProgram, errors_reach_the_users) {
  PlanBuilder p;
  E n = p.dim("n");
  E sum = p.add(p.binary(Kind::FLOOR_DIV, p.constant(1), n), p.constant(1));
  EXPECT_EQ(evaluate(p, sum, {0}).state, SizeState::kDivisionByZero);
  EXPECT_EQ(evaluate(p, sum).state, SizeState::kUnbound);
}

TEST(SizeProgram, late_dimensions_have_a_reserve_and_then_a_value) {
  PlanBuilder p;
  uint32_t count_dim;
  E n = p.dim("n"), count = p.late_dim("count", n, &count_dim);
  E bytes = p.mul(count, 8);
  SizeProgram program(p.plan, {bytes.index});
  SizeValues values;
  program.prepare(values);
  values.dims[0] = 10;
  values.dim_bound[0] = 1;
  program.evaluate(values);
  uint32_t slot = program.slot(bytes.index);
  EXPECT_TRUE(program.has_late());
  EXPECT_EQ(values.states[slot], SizeState::kUnbound);
  EXPECT_EQ(values.reserve_states[slot], SizeState::kKnown);
  EXPECT_EQ(values.reserve[slot], 80);
  EXPECT_FALSE(program.bind_late(values, count_dim, 11).ok());
  ASSERT_TRUE(program.bind_late(values, count_dim, 3).ok());
  EXPECT_EQ(values.states[slot], SizeState::kKnown);
  EXPECT_EQ(values.values[slot], 24);
  EXPECT_EQ(values.reserve[slot], 80);
  program.forget_late(values);
  EXPECT_EQ(values.states[slot], SizeState::kUnbound);
}

// A late dimension whose bound is another one's value.
TEST(SizeProgram, late_bounds_may_nest) {
  PlanBuilder p;
  uint32_t outer_dim, inner_dim;
  E n = p.dim("n"), outer = p.late_dim("outer", n, &outer_dim);
  E inner = p.late_dim("inner", p.mul(outer, 2), &inner_dim);
  SizeProgram program(p.plan, {inner.index});
  SizeValues values;
  program.prepare(values);
  values.dims[0] = 5;
  values.dim_bound[0] = 1;
  program.evaluate(values);
  EXPECT_EQ(values.reserve[program.slot(inner.index)], 10);
}

TEST(SizeProgram, holds_only_what_is_reached) {
  PlanBuilder p;
  E n = p.dim("n");
  for (int i = 0; i < 100; ++i)
    p.mul(n, 1000 + i);
  E used = p.add(n, n);
  EXPECT_EQ(SizeProgram(p.plan, {used.index}).size(), 2u);
}

} // namespace
} // namespace quaver::test
