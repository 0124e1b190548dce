#include "runtime/plan/expr.h"
#include "runtime/plan/expr_printer.h"
#include "test/runtime/plan/small_plan.h"
#include <gtest/gtest.h>

namespace quaver::plan {
namespace {

using test::add_expr;

class ExprTest : public testing::Test {
protected:
  uint32_t dim(const char *name, int64_t multiple_of = 0) {
    Dim &d = *plan.add_dims();
    d.set_name(name);
    d.set_multiple_of(multiple_of);
    return add_expr(plan, Expr::DIM, plan.dims_size() - 1);
  }
  uint32_t constant(int64_t v) { return add_expr(plan, Expr::CONSTANT, v); }
  uint32_t node(Expr::Kind kind, uint32_t a, uint32_t b, uint32_t c = 0) {
    return add_expr(plan, kind, 0, a, b, c);
  }
  StatusOr<int64_t> value(uint32_t e, std::vector<std::optional<int64_t>> dims = {}) {
    dims.resize(size_t(plan.dims_size()));
    return ExprValues(plan, dims).get(e);
  }
  Plan plan;
};

TEST_F(ExprTest, division_rounds_as_stated) {
  struct Case {
    int64_t a, b, floor, ceil, mod;
  };
  for (Case c : {Case{7, 2, 3, 4, 1},
                 {-7, 2, -4, -3, 1},
                 {7, -2, -4, -3, -1},
                 {-7, -2, 3, 4, -1},
                 {6, 3, 2, 2, 0},
                 {0, 5, 0, 0, 0},
                 {INT64_MIN, 2, INT64_MIN / 2, INT64_MIN / 2, 0}}) {
    uint32_t a = constant(c.a), b = constant(c.b);
    EXPECT_EQ(*value(node(Expr::FLOOR_DIV, a, b)), c.floor) << c.a << " / " << c.b;
    EXPECT_EQ(*value(node(Expr::CEIL_DIV, a, b)), c.ceil) << c.a << " / " << c.b;
    EXPECT_EQ(*value(node(Expr::MOD, a, b)), c.mod) << c.a << " / " << c.b;
  }
}

TEST_F(ExprTest, arithmetic_and_choice) {
  uint32_t a = constant(5), b = constant(9), zero = constant(0);
  EXPECT_EQ(*value(node(Expr::ADD, a, b)), 14);
  EXPECT_EQ(*value(node(Expr::SUB, a, b)), -4);
  EXPECT_EQ(*value(node(Expr::MUL, a, b)), 45);
  EXPECT_EQ(*value(node(Expr::MIN, a, b)), 5);
  EXPECT_EQ(*value(node(Expr::MAX, a, b)), 9);
  EXPECT_EQ(*value(node(Expr::EQ, a, b)), 0);
  EXPECT_EQ(*value(node(Expr::LT, a, b)), 1);
  EXPECT_EQ(*value(node(Expr::SELECT, zero, a, b)), 9);
  // Only the chosen side counts.
  EXPECT_EQ(*value(node(Expr::SELECT, zero, node(Expr::MOD, a, zero), b)), 9);
}

TEST_F(ExprTest, errors_show_the_expression) {
  uint32_t batch = dim("batch"), sequence = dim("sequence");
  uint32_t product = node(Expr::MUL, batch, sequence);
  EXPECT_EQ(value(product, {int64_t(1) << 40, int64_t(1) << 40}).status().message(),
            "the size batch * sequence does not fit into 64 bits");
  EXPECT_EQ(value(node(Expr::FLOOR_DIV, batch, sequence), {4, 0}).status().message(),
            "the size floordiv(batch, sequence) divides by zero");
  EXPECT_EQ(value(product, {4}).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(value(node(Expr::FLOOR_DIV, constant(INT64_MIN), constant(-1))).status().code(),
            StatusCode::kOutOfRange);
}

TEST_F(ExprTest, prints_with_as_few_brackets_as_it_takes) {
  uint32_t batch = dim("batch"), seq = dim("seq"), c1536 = constant(1536), c64 = constant(64);
  uint32_t product = node(Expr::MUL, node(Expr::MUL, batch, seq), c1536);
  EXPECT_EQ(print_expr(plan, node(Expr::ADD, product, c64)), "batch * seq * 1536 + 64");
  uint32_t sum = node(Expr::ADD, batch, seq);
  EXPECT_EQ(print_expr(plan, node(Expr::MUL, sum, c64)), "(batch + seq) * 64");
  EXPECT_EQ(print_expr(plan, node(Expr::SUB, batch, node(Expr::SUB, seq, c64))), "batch - (seq - 64)");
  EXPECT_EQ(print_expr(plan, node(Expr::SELECT, node(Expr::LT, batch, seq), batch, seq)),
            "select(lt(batch, seq), batch, seq)");
  EXPECT_EQ(print_expr(plan, node(Expr::MAX, node(Expr::CEIL_DIV, sum, c64), c64)),
            "max(ceildiv(batch + seq, 64), 64)");
}

TEST_F(ExprTest, shared_operands_do_not_print_for_ever) {
  uint32_t e = dim("n");
  for (int i = 0; i < 5000; ++i)
    e = node(Expr::ADD, e, e);
  std::string text = print_expr(plan, e, 100);
  EXPECT_LE(text.size(), 103u);
  EXPECT_TRUE(text.ends_with("..."));
}

} // namespace
} // namespace quaver::plan
