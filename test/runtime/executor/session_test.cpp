//===- session_test.cpp - right answers, memory, states ---------------------===//
#include "test/runtime/executor/session_fixture.h"

namespace quaver::test {
namespace {

TEST(Session, runs_and_says_what_it_is) {
  auto session = open_session(matmul_plan(), {.threads = 2});
  ASSERT_TRUE(session);
  EXPECT_EQ(session->target().name(), "x86-64-v3");
  EXPECT_EQ(session->device().info().workers, 2);
  for (int64_t rows : {1, 7, 64, 3}) {
    Fed<float> x = batch_of(rows);
    auto outputs = run(*session, "main", {x}, {"y"});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    const RunOutput &y = (*outputs)[0];
    EXPECT_EQ(y.shape, (std::vector<int64_t>{rows, 3}));
    EXPECT_EQ(y.type, plan::F32);
    EXPECT_EQ(values_of<float>(y), expected_matmul(x.data)) << rows;
  }
}

TEST(Session, writes_into_the_callers_memory) {
  auto session = open_session(matmul_plan());
  Fed<float> x = batch_of(5);
  std::vector<RunInput> inputs = {x};
  std::vector<size_t> bytes;
  const EntryProgram *entry = *session->find_entry("");
  ASSERT_TRUE(session->output_bytes(*entry, inputs, &bytes).ok());
  ASSERT_EQ(bytes, std::vector<size_t>{5 * 3 * 4});
  std::vector<float> mine(15);
  std::vector<RunOutput> outputs(1);
  outputs[0].name = "y";
  outputs[0].data = mine.data();
  outputs[0].capacity = bytes[0];
  ASSERT_TRUE(session->run(*entry, inputs, outputs).ok());
  EXPECT_EQ(mine, expected_matmul(x.data));
  EXPECT_FALSE(outputs[0].allocated);
  outputs[0].capacity = 59;
  Status status = session->run(*entry, inputs, outputs);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("60 bytes"), std::string::npos) << status.message();
}

TEST(Session, outputs_that_nobody_asked_for_are_dropped) {
  auto session = open_session(nonzero_plan());
  Fed<float> x{"x", {4}, {0, 5, 0, 7}};
  auto outputs = run(*session, "main", {x}, {"doubled"});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(values_of<int64_t>((*outputs)[0]), (std::vector<int64_t>{2, 6}));
  EXPECT_TRUE(run(*session, "main", {x}, {}).ok());
}

TEST(Session, the_high_water_mark_is_the_plans_peak) {
  auto session = open_session(matmul_plan());
  const EntryProgram *entry = *session->find_entry("main");
  for (int64_t rows : {1, 6, 64}) {
    Fed<float> x = batch_of(rows);
    std::vector<RunInput> inputs = {x};
    ASSERT_TRUE(run(*session, "main", {x}, {"y"}).ok());
    EXPECT_EQ(session->memory().run_high_water, *session->peak_bytes(*entry, inputs)) << rows;
  }
  EXPECT_EQ(session->memory().arenas, session->memory().arenas_high_water);
  EXPECT_EQ(session->memory().weights, 48u);
}

//===----------------------------------------------------------------------===//
// Sizes that depend on data
//===----------------------------------------------------------------------===//

TEST(Session, data_dependent_sizes) {
  auto session = open_session(nonzero_plan());
  size_t largest_peak = 0;
  auto check = [&](std::vector<float> data, std::vector<int64_t> want) {
    Fed<float> x{"x", {static_cast<int64_t>(data.size())}, data};
    auto outputs = run(*session, "main", {x}, {"indices", "doubled"});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ((*outputs)[0].shape, std::vector<int64_t>{static_cast<int64_t>(want.size())});
    EXPECT_EQ(values_of<int64_t>((*outputs)[0]), want);
    for (int64_t &value : want)
      value *= 2;
    EXPECT_EQ(values_of<int64_t>((*outputs)[1]), want);
    std::vector<RunInput> inputs = {x};
    largest_peak = std::max(largest_peak, *session->peak_bytes(**session->find_entry("main"), inputs));
    EXPECT_LE(session->memory().run_high_water, largest_peak);
  };
  check({1, 0, 2, 0, 0, 3}, {0, 2, 5});
  check({1, 1, 1, 1, 1, 1}, {0, 1, 2, 3, 4, 5});
  check({0, 0, 0, 0, 0, 0}, {});
  check({}, {});
  check({0, 9}, {1});
}

TEST(Session, data_dependent_outputs_are_reserved_by_their_bound) {
  auto session = open_session(nonzero_plan());
  Fed<float> x{"x", {6}, {1, 0, 2, 0, 0, 3}};
  std::vector<RunInput> inputs = {x};
  std::vector<size_t> bytes;
  ASSERT_TRUE(session->output_bytes(**session->find_entry("main"), inputs, &bytes).ok());
  EXPECT_EQ(bytes, (std::vector<size_t>{48, 48}));
}

TEST(Session, sizes_without_a_bound) {
  for (bool from_input : {true, false}) {
    auto session = open_session(range_plan(from_input));
    for (int32_t count : {5, 5, 1000, 0, 3}) {
      Fed<int32_t> fed{"count", {1}, {count}};
      auto outputs = run(*session, "main", {fed}, {"out"});
      ASSERT_TRUE(outputs.ok()) << outputs.status().message();
      std::vector<int64_t> want;
      for (int64_t i = 0; i < count; ++i)
        want.push_back(2 * i);
      EXPECT_EQ((*outputs)[0].shape, std::vector<int64_t>{count});
      EXPECT_EQ(values_of<int64_t>((*outputs)[0]), want);
    }
    EXPECT_EQ(session->memory().dynamic_high_water, from_input ? 0u : 8000u);
    EXPECT_EQ(session->memory().run_high_water, from_input ? 8064u : 64u);
  }
}

TEST(Session, sizes_without_a_bound_in_the_callers_memory) {
  auto session = open_session(range_plan(false));
  const EntryProgram *entry = *session->find_entry("");
  auto into = [&](int32_t count) {
    Fed<int32_t> fed{"count", {1}, {count}};
    std::vector<RunInput> inputs = {fed};
    int64_t mine[4] = {-1, -1, -1, -1};
    std::vector<RunOutput> outputs(1);
    outputs[0].name = "out";
    outputs[0].data = mine;
    outputs[0].capacity = sizeof(mine);
    Status status = session->run(*entry, inputs, outputs);
    EXPECT_EQ(mine[3], count == 4 ? 6 : -1);
    return status;
  };
  EXPECT_TRUE(into(4).ok());
  EXPECT_TRUE(into(2).ok());
  Status status = into(5);
  EXPECT_NE(status.message().find("needs 40 bytes"), std::string::npos) << status.message();
  status = into(-1);
  EXPECT_FALSE(status.ok());
  std::vector<size_t> bytes;
  Fed<int32_t> fed{"count", {1}, {1}};
  std::vector<RunInput> inputs = {fed};
  EXPECT_FALSE(session->output_bytes(*entry, inputs, &bytes).ok()) << "nobody knows beforehand";
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

TEST(Session, if_and_while) {
  auto session = open_session(control_plan());
  auto power = [&](bool flag, int64_t limit) {
    Fed<uint8_t> f{"flag", {1}, {flag}};
    Fed<int64_t> l{"limit", {1}, {limit}};
    auto outputs = run(*session, "main", {f, l}, {"power"});
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    return outputs.ok() ? values_of<int64_t>((*outputs)[0])[0] : 0;
  };
  EXPECT_EQ(power(true, 1000), 1024);
  EXPECT_EQ(power(true, 1), 1);
  EXPECT_EQ(power(false, 1000), -1);
  EXPECT_EQ(power(true, int64_t{1} << 40), int64_t{1} << 40);
}

TEST(Session, a_failed_check_fails_the_run_with_its_sentence) {
  auto session = open_session(control_plan());
  Fed<uint8_t> f{"flag", {1}, {1}};
  Fed<int64_t> l{"limit", {2}, {1, 2}};
  auto outputs = run(*session, "main", {f, l}, {"power"});
  ASSERT_FALSE(outputs.ok());
  EXPECT_EQ(outputs.status().message(), "limit must have one row");
  // The session goes on.
  Fed<int64_t> good{"limit", {1}, {5}};
  outputs = run(*session, "main", {f, good}, {"power"});
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(values_of<int64_t>((*outputs)[0])[0], 8);
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

int64_t total(Session &session, const char *entry, int64_t by, StateSet *states = nullptr) {
  Fed<int64_t> fed{"by", {1}, {by}};
  std::vector<RunInput> inputs;
  if (std::string(entry) == "step")
    inputs.push_back(fed);
  auto outputs = run(session, entry, inputs, {"total"}, {.states = states});
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return outputs.ok() ? values_of<int64_t>((*outputs)[0])[0] : 0;
}

TEST(Session, state_lives_across_runs_and_entries) {
  auto session = open_session(counter_plan());
  EXPECT_EQ(total(*session, "read", 0), 100);
  EXPECT_EQ(total(*session, "step", 5), 105);
  EXPECT_EQ(total(*session, "step", 6), 111);
  EXPECT_EQ(total(*session, "read", 0), 111);
  ASSERT_TRUE((*session->states())->reset("count").ok());
  EXPECT_EQ(total(*session, "read", 0), 100);
}

TEST(Session, state_is_saved_and_loaded_by_name) {
  auto session = open_session(counter_plan());
  total(*session, "step", 23);
  StateSet *states = *session->states();
  int64_t saved = 0;
  ASSERT_EQ(*states->bytes("count"), 8u);
  ASSERT_TRUE(states->save("count", std::as_writable_bytes(std::span(&saved, 1))).ok());
  EXPECT_EQ(saved, 123);
  auto other = open_session(counter_plan());
  ASSERT_TRUE((*other->states())->load("count", std::as_bytes(std::span(&saved, 1))).ok());
  EXPECT_EQ(total(*other, "read", 0), 123);
  Status missing = states->reset("cuont");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.message().find("'count'"), std::string::npos) << missing.message();
  EXPECT_FALSE(states->save("count", {}).ok());
}

TEST(Session, state_sets_are_apart) {
  auto session = open_session(counter_plan());
  auto mine = std::move(*session->create_states());
  EXPECT_EQ(total(*session, "step", 1, mine.get()), 101);
  EXPECT_EQ(total(*session, "step", 1, mine.get()), 102);
  EXPECT_EQ(total(*session, "read", 0), 100);
}

TEST(Session, state_sets_of_another_model_are_refused) {
  auto session = open_session(counter_plan()), other = open_session(counter_plan());
  auto theirs = std::move(*other->create_states());
  Fed<int64_t> by{"by", {1}, {1}};
  auto outputs = run(*session, "step", {by}, {}, {.states = theirs.get()});
  ASSERT_FALSE(outputs.ok());
  EXPECT_NE(outputs.status().message().find("another model"), std::string::npos);
}

TEST(Session, the_seed_starts_the_random_state) {
  auto session = open_session(counter_plan(), {.seed = 42});
  uint64_t random[2] = {9, 9};
  ASSERT_TRUE((*session->states())->save("quaver.random", std::as_writable_bytes(std::span(random))).ok());
  EXPECT_EQ(random[0], 42u);
  EXPECT_EQ(random[1], 0u);
}

TEST(Session, profiles_launches) {
  auto session = open_session(matmul_plan());
  std::vector<LaunchTime> profile;
  ASSERT_TRUE(run(*session, "main", {batch_of(3)}, {"y"}, {.profile = &profile}).ok());
  ASSERT_EQ(profile.size(), 2u);
  EXPECT_EQ(profile[0].kernel, "matmul_f32");
  EXPECT_EQ(profile[1].label, "add_f32");
}

} // namespace
} // namespace quaver::test
