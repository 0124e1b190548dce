//===- stream_conformance_test.cpp - streams, events and launches -----------===//
// Every test runs in both stream modes.
#include "test/drivers/conformance.h"

#include <atomic>
#include <numeric>
#include <thread>

namespace quaver::test {
namespace {

using hal::StreamMode;

constexpr StreamMode kModes[] = {StreamMode::kInline, StreamMode::kQueued};

#define FOR_BOTH_MODES(stream)                                                                               \
  for (StreamMode mode_ : kModes)                                                                            \
    if (auto stream = make_stream(mode_); true)

const hal::Kernel *kernel(hal::Executable &executable, const char *symbol) {
  auto found = executable.find_kernel(symbol);
  EXPECT_TRUE(found.ok()) << symbol;
  return found.ok() ? *found : nullptr;
}

TEST_P(Conformance, copies_and_fills_in_order) {
  QUAVER_NEEDS(Feature::kStreams);
  FOR_BOTH_MODES(stream) {
    auto a = allocate(1000), b = allocate(1000);
    std::vector<uint8_t> in(1000), out(1000);
    std::iota(in.begin(), in.end(), 0);
    ASSERT_OK(stream->copy_from_host(a->device_address(), in.data(), 1000));
    ASSERT_OK(stream->fill(static_cast<char *>(a->device_address()) + 10, 0x7f, 5));
    ASSERT_OK(stream->copy(b->device_address(), a->device_address(), 1000));
    ASSERT_OK(stream->fill(a->device_address(), 0, 1000));
    ASSERT_OK(stream->copy_to_host(out.data(), b->device_address(), 1000));
    ASSERT_OK(stream->synchronize());
    std::fill(in.begin() + 10, in.begin() + 15, 0x7f);
    EXPECT_EQ(in, out);
    // Nothing to do is fine, whatever the addresses.
    ASSERT_OK(stream->copy(nullptr, nullptr, 0));
    ASSERT_OK(stream->fill(nullptr, 1, 0));
    EXPECT_FALSE(stream->copy(nullptr, a->device_address(), 1).ok());
    ASSERT_OK(stream->synchronize());
  }
}

TEST_P(Conformance, every_workgroup_runs_once) {
  QUAVER_NEEDS(Feature::kExecutables);
  auto executable = load();
  const hal::Kernel *spin = kernel(*executable, "spin_i64");
  FOR_BOTH_MODES(stream)
  for (int64_t workgroups : {0, 1, 2, 3, 7, 64, 1000})
    for (int64_t grain : {1, 3, 100, 5000}) {
      auto out = allocate(static_cast<size_t>(workgroups + 1) * 8);
      void *bindings[] = {out->device_address()};
      int64_t constants[] = {10};
      ASSERT_OK(stream->fill(out->device_address(), 0, out->bytes()));
      ASSERT_OK(stream->launch({spin, bindings, constants, workgroups, grain, 0}));
      std::vector<int64_t> counts(static_cast<size_t>(workgroups + 1));
      ASSERT_OK(stream->copy_to_host(counts.data(), out->device_address(), out->bytes()));
      ASSERT_OK(stream->synchronize());
      for (int64_t i = 0; i < workgroups; ++i)
        ASSERT_EQ(counts[i], 1) << workgroups << " workgroups, grain " << grain << ", workgroup " << i;
      EXPECT_EQ(counts[workgroups], 0) << "ran past the end";
    }
}

TEST_P(Conformance, launch_arrays_may_go_after_the_call) {
  QUAVER_NEEDS(Feature::kExecutables);
  auto executable = load();
  const hal::Kernel *iota = kernel(*executable, "iota_i64");
  FOR_BOTH_MODES(stream) {
    auto out = allocate(8 * 100);
    {
      std::vector<void *> bindings = {out->device_address()};
      ASSERT_OK(stream->launch({iota, bindings, {}, 100, 1, 0}));
      bindings[0] = nullptr;
    }
    std::vector<int64_t> got(100);
    ASSERT_OK(stream->copy_to_host(got.data(), out->device_address(), 800));
    ASSERT_OK(stream->synchronize());
    for (int64_t i = 0; i < 100; ++i)
      EXPECT_EQ(got[i], i);
  }
}

TEST_P(Conformance, wrong_launches_are_refused_at_issue) {
  QUAVER_NEEDS(Feature::kExecutables);
  auto executable = load();
  const hal::Kernel *nothing = kernel(*executable, "nothing");
  FOR_BOTH_MODES(stream) {
    EXPECT_FALSE(stream->launch({nullptr, {}, {}, 1, 1, 0}).ok());
    EXPECT_FALSE(stream->launch({nothing, {}, {}, -1, 1, 0}).ok());
    EXPECT_FALSE(stream->launch({nothing, {}, {}, 1, 0, 0}).ok());
    EXPECT_TRUE(stream->launch({nothing, {}, {}, 1, 1, 0}).ok());
    ASSERT_OK(stream->synchronize());
  }
}

TEST_P(Conformance, scratch_is_aligned_and_private) {
  QUAVER_NEEDS(Feature::kExecutables);
  auto executable = load();
  const hal::Kernel *scratch = kernel(*executable, "scratch_i64");
  FOR_BOTH_MODES(stream)
  for (int64_t bytes : {1, 100, 1 << 16}) {
    constexpr int64_t kGroups = 200;
    auto out = allocate(8 * kGroups);
    void *bindings[] = {out->device_address()};
    ASSERT_OK(
        stream->launch({scratch, bindings, std::span(&bytes, 1), kGroups, 1, static_cast<size_t>(bytes)}));
    std::vector<int64_t> got(kGroups);
    ASSERT_OK(stream->copy_to_host(got.data(), out->device_address(), out->bytes()));
    ASSERT_OK(stream->synchronize());
    for (int64_t i = 0; i < kGroups; ++i)
      ASSERT_EQ(got[i], bytes) << "workgroup " << i;
  }
}

TEST_P(Conformance, host_callbacks_run_in_order) {
  QUAVER_NEEDS(Feature::kStreams);
  FOR_BOTH_MODES(stream) {
    std::vector<int> order;
    auto a = allocate(64);
    for (int i = 0; i < 10; ++i) {
      ASSERT_OK(stream->fill(a->device_address(), static_cast<uint8_t>(i), 64));
      ASSERT_OK(stream->host_callback([&, i](const Status &status) {
        EXPECT_TRUE(status.ok());
        order.push_back(i);
      }));
    }
    ASSERT_OK(stream->synchronize());
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  }
}

TEST_P(Conformance, events_order_two_streams) {
  QUAVER_NEEDS(Feature::kEvents);
  auto executable = load();
  const hal::Kernel *spin = kernel(*executable, "spin_i64");
  FOR_BOTH_MODES(first) {
    auto second = make_stream(StreamMode::kQueued);
    auto event = std::move(*device_->create_event());
    EXPECT_TRUE(event->is_complete()) << "an event that was never recorded is complete";
    ASSERT_OK(event->wait());
    auto counter = allocate(8);
    void *bindings[] = {counter->device_address()};
    int64_t constants[] = {2000000}; // some milliseconds
    int64_t seen = -1;
    ASSERT_OK(first->fill(counter->device_address(), 0, 8));
    ASSERT_OK(first->launch({spin, bindings, constants, 1, 1, 0}));
    ASSERT_OK(first->record(*event));
    ASSERT_OK(second->wait(*event));
    ASSERT_OK(second->copy_to_host(&seen, counter->device_address(), 8));
    ASSERT_OK(second->synchronize());
    EXPECT_EQ(seen, 1);
    EXPECT_TRUE(event->is_complete());
    ASSERT_OK(first->synchronize());
  }
}

TEST_P(Conformance, destroying_a_stream_waits_for_its_work) {
  QUAVER_NEEDS(Feature::kStreams);
  std::atomic<bool> done{false};
  {
    auto stream = make_stream(StreamMode::kQueued);
    ASSERT_OK(stream->host_callback([&](const Status &) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = true;
    }));
  }
  EXPECT_TRUE(done);
}

TEST_P(Conformance, many_threads_launch_at_once) {
  QUAVER_NEEDS(Feature::kExecutables);
  auto executable = load();
  const hal::Kernel *scratch = kernel(*executable, "scratch_i64");
  std::atomic<int> wrong{0};
  auto work = [&] {
    auto stream = make_stream();
    auto out = allocate(8 * 50);
    void *bindings[] = {out->device_address()};
    int64_t constants[] = {500};
    std::vector<int64_t> got(50);
    for (int round = 0; round < 100; ++round) {
      bool ok = stream->launch({scratch, bindings, constants, 50, 1, 500}).ok() &&
                stream->copy_to_host(got.data(), out->device_address(), 400).ok() &&
                stream->synchronize().ok();
      wrong += !ok || got != std::vector<int64_t>(50, 500);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back(work);
  for (auto &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace quaver::test
