//===- errors_test.cpp - what a caller can do wrong -------------------------===//
#include "test/runtime/executor/session_fixture.h"

namespace quaver::test {
namespace {

/// The run fails, with a sentence that holds every one of `parts`.
void expect_error(Session &session, std::vector<RunInput> inputs, std::vector<std::string> parts,
                  std::vector<std::string_view> outputs = {}) {
  auto result = run(session, "", std::move(inputs), std::move(outputs));
  ASSERT_FALSE(result.ok());
  for (const std::string &part : parts)
    EXPECT_NE(result.status().message().find(part), std::string::npos)
        << "no \"" << part << "\" in: " << result.status().message();
}

TEST(SessionErrors, names) {
  auto session = open_session(matmul_plan());
  Fed<float> x = batch_of(2), wrong = x;
  wrong.name = "X";
  expect_error(*session, {}, {"'x' is missing"});
  expect_error(*session, {wrong}, {"no input 'X'", "takes 'x'"});
  expect_error(*session, {x, x}, {"'x' is given twice"});
  expect_error(*session, {x}, {"no output 'z'", "makes 'y'"}, {"z"});
  expect_error(*session, {x}, {"'y' is asked for twice"}, {"y", "y"});
  auto entry = session->find_entry("prefill");
  ASSERT_FALSE(entry.ok());
  EXPECT_NE(entry.status().message().find("'main'"), std::string::npos) << entry.status().message();
}

TEST(SessionErrors, types_and_shapes) {
  auto session = open_session(matmul_plan());
  Fed<int64_t> integers{"x", {2, 4}, std::vector<int64_t>(8)};
  expect_error(*session, {integers}, {"input 'x'", "i64", "f32"});
  Fed<float> flat{"x", {8}, std::vector<float>(8)};
  expect_error(*session, {flat}, {"input 'x'", "[8]", "rank 1", "rank 2", "[batch, 4]"});
  Fed<float> wide{"x", {2, 5}, std::vector<float>(10)};
  expect_error(*session, {wide}, {"input 'x', dimension 1", "is 5", "expected 4"});
  Fed<float> short_of_data{"x", {2, 4}, std::vector<float>(7)};
  expect_error(*session, {short_of_data}, {"28 bytes", "expected 32"});
  Fed<float> negative{"x", {-2, 4}, std::vector<float>(8)};
  expect_error(*session, {negative}, {"impossible shape [-2, 4]"});
  Fed<float> huge{"x", {INT64_MAX, INT64_MAX}, {}};
  expect_error(*session, {huge}, {"impossible shape"});
}

TEST(SessionErrors, alignment) {
  auto session = open_session(matmul_plan());
  alignas(8) char bytes[40] = {};
  int64_t shape[] = {2, 4};
  RunInput crooked{"x", {plan::F32, shape, bytes + 1, 32, MemorySpace::kHost}};
  expect_error(*session, {crooked}, {"'x'", "not aligned"});
}

TEST(SessionErrors, dimension_limits) {
  auto session = open_session(matmul_plan());
  expect_error(*session, {batch_of(65)}, {"'x'", "dimension 0 ('batch')", "is 65", "at most 64"});
  expect_error(*session, {batch_of(0)}, {"'batch'", "is 0", "at least 1"});
}

TEST(SessionErrors, dimensions_must_agree) {
  PlanBuilder p;
  E n = p.dim("n", 0, 0, 4), twice = p.mul(n, 2);
  EntryBuilder main = p.entry("main");
  main.input("a", plan::F32, {n});
  main.input("b", plan::F32, {n});
  main.input("c", plan::F32, {twice});
  auto session = open_session(p);
  auto feed = [](const char *name, int64_t size) {
    return Fed<float>{name, {size}, std::vector<float>(static_cast<size_t>(size))};
  };
  Fed<float> a4 = feed("a", 4), b4 = feed("b", 4), b8 = feed("b", 8), c8 = feed("c", 8), c9 = feed("c", 9),
             a5 = feed("a", 5);
  EXPECT_TRUE(run(*session, "", {a4, b4, c8}, {}).ok());
  EXPECT_TRUE(run(*session, "", {c8, b4, a4}, {}).ok()) << "the order is the caller's";
  expect_error(*session, {a4, b8, c8}, {"input 'b', dimension 0", "is 8", "expected 4", "input 'a'"});
  expect_error(*session, {a4, b4, c9}, {"input 'c', dimension 0", "is 9", "expected 8"});
  expect_error(*session, {a5, b4, c8}, {"input 'a'", "is 5", "multiple of 4"});
}

TEST(SessionErrors, overflowing_sizes) {
  PlanBuilder p;
  E n = p.dim("n");
  EntryBuilder main = p.entry("main");
  main.input("a", plan::F32, {n});
  main.arena_bytes(p.mul(n, INT64_MAX));
  auto session = open_session(p);
  Fed<float> a{"a", {4}, std::vector<float>(4)};
  expect_error(*session, {a}, {"arena", "does not fit into 64 bits"});
}

//===----------------------------------------------------------------------===//
// Devices and targets
//===----------------------------------------------------------------------===//

TEST(SessionErrors, devices_and_targets) {
  auto model = Model::open(matmul_plan().write());
  ASSERT_TRUE(model.ok()) << model.status().message();
  auto fails = [&](const SessionOptions &options, const std::string &part) {
    auto session = Session::create(*model, default_drivers(), options);
    ASSERT_FALSE(session.ok());
    EXPECT_NE(session.status().message().find(part), std::string::npos) << session.status().message();
  };
  fails({.device = "tpu"}, "'tpu'");
  fails({.device = "host", .target = "sm_90a"}, "it has 'x86-64-v3'");
  fails({.device = "null"}, "device 'null'");
  fails({.threads = -3}, "-3");
}

TEST(SessionErrors, an_artifact_for_another_cpu) {
  PlanBuilder p = matmul_plan();
  p.plan.mutable_targets(0)->add_features("avx1024");
  auto model = Model::open(p.write());
  ASSERT_TRUE(model.ok()) << model.status().message();
  auto session = Session::create(*model, default_drivers(), {});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.status().code(), StatusCode::kFailedPrecondition);
  for (const char *part : {"avx1024", "recompile with --target"})
    EXPECT_NE(session.status().message().find(part), std::string::npos) << session.status().message();
}

TEST(SessionErrors, a_kernel_that_is_not_there) {
  PlanBuilder p = matmul_plan();
  p.plan.mutable_targets(0)->mutable_kernels(0)->set_symbol("gone");
  auto model = Model::open(p.write());
  ASSERT_TRUE(model.ok()) << model.status().message();
  auto session = Session::create(*model, default_drivers(), {});
  ASSERT_FALSE(session.ok());
  EXPECT_NE(session.status().message().find("'gone'"), std::string::npos) << session.status().message();
}

TEST(SessionErrors, no_such_file) {
  auto model = Model::open("/no/such/model.quaver");
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.status().message().find("/no/such/model.quaver"), std::string::npos)
      << model.status().message();
}

// A plan that reaches beyond its memory is an error, not a wild write.
TEST(SessionErrors, places_outside_their_buffer) {
  PlanBuilder p;
  E n = p.dim("n");
  EntryBuilder main = p.entry("main");
  uint32_t a = main.input("a", plan::I64, {n});
  uint32_t y = main.output("y", plan::I64, {n});
  main.body.copy({a}, out(y), p.mul(n, 16));
  auto session = open_session(p);
  Fed<int64_t> fed{"a", {3}, {1, 2, 3}};
  expect_error(*session, {fed}, {"copy of 48 bytes", "24 bytes"}, {"y"});
}

TEST(SessionErrors, arenas_that_are_too_small) {
  PlanBuilder p;
  E n = p.dim("n");
  EntryBuilder main = p.entry("main");
  main.input("a", plan::I64, {n});
  main.arena(plan::I64, p.mul(n, 8), p.constant(64));
  main.arena_bytes(p.constant(128));
  auto session = open_session(p);
  Fed<int64_t> fits{"a", {8}, std::vector<int64_t>(8)}, too_much{"a", {9}, std::vector<int64_t>(9)};
  EXPECT_TRUE(run(*session, "", {fits}, {}).ok());
  expect_error(*session, {too_much}, {"needs 72 bytes at 64", "has 128"});
}

} // namespace
} // namespace quaver::test
