#include "runtime/plan/validate.h"
#include "test/runtime/plan/small_plan.h"
#include <gtest/gtest.h>

namespace quaver::plan {
namespace {

using namespace test;

class Validate : public testing::Test {
protected:
  Validate() { build_small_model(model_); }
  Plan &plan() { return model_.plan; }
  Entry &entry() { return *plan().mutable_targets(0)->mutable_entries(0); }
  Instruction &instruction(int i) { return *entry().mutable_body()->mutable_instructions(i); }
  uint32_t constant(int64_t value) { return add_expr(plan(), Expr::CONSTANT, value); }
  void expect_bad(const std::string &part) {
    Status s = validate(plan());
    EXPECT_FALSE(s.ok());
    EXPECT_NE(s.message().find(part), std::string::npos) << s.message();
  }

  SmallModel model_;
};

TEST_F(Validate, accepts_the_small_plan) { EXPECT_TRUE(validate(plan()).ok()) << validate(plan()).message(); }
TEST_F(Validate, accepts_an_empty_plan) { EXPECT_TRUE(validate(Plan()).ok()); }

TEST_F(Validate, refuses_features_it_does_not_know) {
  plan().add_features("ranks");
  EXPECT_EQ(validate(plan()).code(), StatusCode::kFailedPrecondition);
  expect_bad("feature \"ranks\"");
}

TEST_F(Validate, expressions_come_before_their_users) {
  uint32_t e = add_expr(plan(), Expr::ADD, 0, 0, 0);
  plan().mutable_exprs(int(e))->set_b(e);
  expect_bad("does not come before it");
}
TEST_F(Validate, expression_kinds_are_known) {
  plan().mutable_exprs(int(constant(1)))->set_kind(Expr::Kind(77));
  expect_bad("unknown kind 77");
}
TEST_F(Validate, dimensions_exist) {
  add_expr(plan(), Expr::DIM, 9);
  expect_bad("names dimension 9");
}
TEST_F(Validate, constants_do_not_overflow) {
  entry().set_arena_bytes(add_expr(plan(), Expr::MUL, 0, constant(INT64_MAX), constant(2)));
  expect_bad("does not fit into 64 bits");
}
TEST_F(Validate, constants_do_not_divide_by_zero) {
  entry().set_arena_bytes(add_expr(plan(), Expr::CEIL_DIV, 0, constant(1), constant(0)));
  expect_bad("ceildiv(1, 0) divides by zero");
}
TEST_F(Validate, sizes_are_not_negative) {
  instruction(1).mutable_launch()->set_workgroups(constant(-3));
  expect_bad("workgroups is -3");
}
TEST_F(Validate, indices_are_in_range) {
  entry().set_arena_bytes(1000000);
  expect_bad("arena bytes is expression 1000000 of");
}
TEST_F(Validate, limits_make_sense) {
  plan().mutable_dims(0)->set_max(-1);
  expect_bad("dimension batch has limits");
}
TEST_F(Validate, names_are_unique) {
  plan().mutable_dims(1)->set_name("batch");
  expect_bad("\"batch\" is empty or taken");
}
TEST_F(Validate, outputs_have_names) {
  entry().mutable_outputs(1)->set_name("y");
  expect_bad("\"y\" of an output is empty or taken");
}
TEST_F(Validate, element_types_are_known) {
  entry().mutable_inputs(0)->set_type(ElementType(99));
  expect_bad("unknown element type 99");
}
TEST_F(Validate, dense_weights_fill_their_blob) {
  plan().mutable_weights(0)->set_shape(0, 5);
  expect_bad("weight w has 60 bytes by its shape, but its blob has 48");
}
TEST_F(Validate, weight_shapes_do_not_overflow) {
  plan().mutable_weights(0)->set_shape(0, INT64_MAX);
  expect_bad("impossible shape");
}
TEST_F(Validate, blobs_by_reference_stay_in_the_folder) {
  plan().mutable_blobs(0)->clear_path();
  for (const char *file : {"/etc/passwd", "../x", "a/../../x", "..", "a/.."}) {
    plan().mutable_blobs(0)->set_file(file);
    expect_bad("outside of the artifact's folder");
  }
}
TEST_F(Validate, inputs_and_weights_are_not_written) {
  instruction(1).mutable_launch()->mutable_bindings(1)->set_written(true);
  expect_bad("writes an input or a weight");
}
TEST_F(Validate, kernels_exist) {
  instruction(1).mutable_launch()->set_kernel(7);
  expect_bad("names kernel 7 of 1");
}
TEST_F(Validate, buffers_exist) {
  instruction(1).mutable_launch()->mutable_bindings(0)->set_buffer(70);
  expect_bad("names buffer 70 of 8");
}
TEST_F(Validate, copies_stay_within_their_buffers) {
  instruction(4).mutable_copy()->set_bytes(constant(9));
  expect_bad("a copy uses 9 bytes at 0 of buffer 3 (/layer/NonZero), which has 8");
}
TEST_F(Validate, weights_are_as_large_as_their_buffers) {
  entry().mutable_buffers(4)->set_bytes(constant(49));
  expect_bad("its weight w only 48");
}
TEST_F(Validate, conditions_are_bool) {
  instruction(6).mutable_if_()->mutable_condition()->set_buffer(2);
  expect_bad("the condition of an if is of type f32, not bool");
}
TEST_F(Validate, read_backs_read_integers) {
  instruction(3).mutable_read_back()->mutable_from()->set_buffer(2);
  expect_bad("reads type f32, not an integer");
}
TEST_F(Validate, read_backs_stay_within_their_buffer) {
  instruction(3).mutable_read_back()->set_element(1);
  expect_bad("a read-back uses 16 bytes");
}
TEST_F(Validate, read_backs_bind_data_dependent_dimensions) {
  instruction(3).mutable_read_back()->set_dim(0);
  expect_bad("not data-dependent");
}
TEST_F(Validate, instructions_have_a_kind) {
  entry().mutable_body()->add_instructions();
  expect_bad("unknown kind");
}
TEST_F(Validate, blocks_are_not_nested_without_end) {
  Block *b = entry().mutable_body();
  for (int i = 0; i < 30; ++i) {
    If *branch = b->add_instructions()->mutable_if_();
    branch->mutable_condition()->set_buffer(6);
    b = branch->mutable_then_block();
  }
  expect_bad("nested more than");
}

TEST_F(Validate, constant_offsets_are_aligned) {
  entry().mutable_buffers(2)->set_offset(constant(32));
  expect_bad("offset 32, not a multiple of 64");
}
TEST_F(Validate, computed_offsets_are_aligned) {
  // batch * sequence * 4 without rounding: 32 for batch 1, sequence 8.
  entry().mutable_buffers(3)->set_offset(entry().buffers(2).bytes());
  expect_bad("is not at a multiple of 64");
}
TEST_F(Validate, buffers_lie_within_the_arena) {
  entry().set_arena_bytes(entry().buffers(3).offset());
  expect_bad("outside of the arena");
}
TEST_F(Validate, buffers_in_use_at_once_do_not_overlap) {
  // 6 and 3 share a place: 3 is used up to the copy, 6 from the fill on.
  EXPECT_TRUE(validate(plan()).ok());
  entry().mutable_buffers(3)->set_offset(0);
  expect_bad("in use at the same time");
}
TEST_F(Validate, what_a_loop_reads_lives_until_its_end) {
  // `a` is last read in the loop's body. A buffer of the loop's condition must not take its place, though
  // every use of it comes before the body.
  entry().mutable_buffers(6)->set_offset(0);
  instruction(5).mutable_fill()->mutable_to()->set_buffer(3);
  instruction(6).mutable_if_()->mutable_condition()->set_buffer(6);
  expect_bad("in use at the same time");
}
TEST_F(Validate, sizes_that_a_check_refuses_are_not_tried) {
  // Without room for 512 elements or more the plan is wrong, unless a check keeps such sizes away.
  uint32_t small = add_expr(plan(), Expr::MIN, 0, entry().arena_bytes(), constant(2048));
  entry().set_arena_bytes(small);
  expect_bad("outside of the arena");
  uint32_t few = add_expr(plan(), Expr::LT, 0, entry().buffers(2).bytes(), constant(1024));
  instruction(0).mutable_check()->set_condition(few);
  EXPECT_TRUE(validate(plan()).ok()) << validate(plan()).message();
}

} // namespace
} // namespace quaver::plan
