//===- concurrency_test.cpp - one session, many threads ---------------------===//
#include "test/runtime/executor/session_fixture.h"

#include <atomic>
#include <thread>

namespace quaver::test {
namespace {

void in_threads(int count, const std::function<void(int)> &work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(work, i);
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Concurrency, runs_of_one_session_do_not_disturb_each_other) {
  auto session = open_session(matmul_plan(), {.threads = 3});
  std::atomic<int> wrong{0};
  in_threads(6, [&](int id) {
    for (int round = 0; round < 200; ++round) {
      Fed<float> x = batch_of(1 + (id * 31 + round) % 64, static_cast<float>(id));
      auto outputs = run(*session, "main", {x}, {"y"});
      wrong += !outputs.ok() || values_of<float>((*outputs)[0]) != expected_matmul(x.data);
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Concurrency, data_dependent_runs) {
  auto session = open_session(nonzero_plan(), {.threads = 2});
  std::atomic<int> wrong{0};
  in_threads(4, [&](int id) {
    for (int round = 0; round < 200; ++round) {
      int64_t n = 1 + (id * 17 + round) % 50;
      Fed<float> x{"x", {n}, std::vector<float>(static_cast<size_t>(n))};
      std::vector<int64_t> want;
      for (int64_t i = 0; i < n; i += 1 + id) {
        x.data[static_cast<size_t>(i)] = 1;
        want.push_back(i);
      }
      auto outputs = run(*session, "main", {x}, {"indices"});
      wrong += !outputs.ok() || values_of<int64_t>((*outputs)[0]) != want;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Concurrency, runs_that_write_state_take_turns) {
  auto session = open_session(counter_plan());
  constexpr int kThreads = 4, kRounds = 300;
  in_threads(kThreads, [&](int) {
    Fed<int64_t> by{"by", {1}, {1}};
    for (int round = 0; round < kRounds; ++round)
      EXPECT_TRUE(run(*session, "step", {by}, {"total"}).ok());
  });
  auto outputs = run(*session, "read", {}, {"total"});
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(values_of<int64_t>((*outputs)[0])[0], 100 + kThreads * kRounds);
}

// Two runs that each wait for the other's progress: possible only when neither holds a lock while it runs.
TEST(Concurrency, a_long_run_does_not_hold_up_a_short_one) {
  PlanBuilder p;
  E steps = p.dim("steps");
  EntryBuilder main = p.entry("main");
  main.input("a", plan::I64, {steps});
  uint32_t y = main.output("y", plan::I64, {p.constant(1)});
  main.body.fill(out(y), p.constant(8), 0);
  main.body.launch("spin_i64", {out(y)}, {p.mul(steps, 1000000)}, p.constant(1));
  auto session = open_session(p, {.threads = 1});
  std::atomic<bool> long_done{false};
  std::thread slow([&] {
    Fed<int64_t> a{"a", {300}, std::vector<int64_t>(300)};
    EXPECT_TRUE(run(*session, "", {a}, {"y"}).ok());
    long_done = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  Fed<int64_t> a{"a", {0}, {}};
  EXPECT_TRUE(run(*session, "", {a}, {"y"}).ok());
  EXPECT_FALSE(long_done) << "the short run waited for the long one";
  slow.join();
}

// A run in the background holds its turn until it is done, not only until it is issued.
TEST(Concurrency, background_runs_take_turns_too) {
  auto session = open_session(counter_plan());
  const EntryProgram *step = *session->find_entry("step");
  in_threads(3, [&](int) {
    auto stream = std::move(*session->device().create_stream(hal::StreamMode::kQueued));
    Fed<int64_t> by{"by", {1}, {1}};
    std::vector<RunInput> inputs = {by};
    for (int round = 0; round < 100; ++round)
      EXPECT_TRUE(session->run(*step, inputs, {}, {.stream = stream.get()}).ok());
    EXPECT_TRUE(stream->synchronize().ok());
  });
  auto outputs = run(*session, "read", {}, {"total"});
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(values_of<int64_t>((*outputs)[0])[0], 400);
}

TEST(Concurrency, streams_run_in_the_background) {
  auto session = open_session(matmul_plan(), {.threads = 2});
  const EntryProgram *entry = *session->find_entry("main");
  auto stream = std::move(*session->device().create_stream(hal::StreamMode::kQueued));
  auto event = std::move(*session->device().create_event());
  std::vector<Fed<float>> fed;
  std::vector<std::vector<RunOutput>> outputs(20);
  for (int i = 0; i < 20; ++i)
    fed.push_back(batch_of(1 + i, static_cast<float>(i)));
  for (int i = 0; i < 20; ++i) {
    std::vector<RunInput> inputs = {fed[i]};
    outputs[i].resize(1);
    outputs[i][0].name = "y";
    ASSERT_TRUE(
        session->run(*entry, inputs, outputs[i], {.stream = stream.get(), .completion = event.get()}).ok());
  }
  ASSERT_TRUE(event->wait().ok());
  ASSERT_TRUE(stream->synchronize().ok());
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(values_of<float>(outputs[i][0]), expected_matmul(fed[i].data)) << i;
}

} // namespace
} // namespace quaver::test
