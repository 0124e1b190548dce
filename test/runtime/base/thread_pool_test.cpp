#include "runtime/base/thread_pool.h"
#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <numeric>

namespace quaver {
namespace {

/// Runs a range of `count` that marks each index; every one must be marked once.
void expect_covers(ThreadPool &pool, int64_t count, int64_t grain) {
  std::vector<int> marks(size_t(count), 0);
  pool.parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      ++marks[size_t(i)];
  });
  EXPECT_EQ(std::ranges::count(marks, 1), count) << "count " << count << ", grain " << grain;
}

TEST(ThreadPool, covers_every_index_once) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (int64_t count : {0, 1, 2, 7, 8, 9, 63, 64, 1000, 4097})
      for (int64_t grain : {0, 1, 3, 16, 5000})
        expect_covers(pool, count, grain);
  }
}

TEST(ThreadPool, ranges_are_at_least_a_grain_but_the_last) {
  ThreadPool pool(4);
  std::atomic<bool> right{true};
  pool.parallel_for(1003, 50, [&](int64_t begin, int64_t end) {
    if (end - begin < 50 && end != 1003)
      right = false;
  });
  EXPECT_TRUE(right);
}

TEST(ThreadPool, takes_the_cpus_it_may_use) {
  EXPECT_EQ(ThreadPool().size(), available_cpus());
  EXPECT_GE(available_cpus(), 1);
}

TEST(ThreadPool, a_sleeper_is_not_woken_on_the_callers_cpu) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  if (CPU_COUNT(&before) < 2)
    GTEST_SKIP() << "one CPU: there is no other to wake on";
  ThreadPool pool(2);
  // Both ranges of a job are under way at once, so that the worker has one of them.
  auto together = [&](auto &&in_worker) {
    std::atomic<int> inside{0};
    pool.parallel_for(2, 1, [&](int64_t, int64_t, int worker) {
      ++inside;
      auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (inside < 2 && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
      if (worker == 1)
        in_worker();
    });
    return inside.load();
  };
  int cpu = -1;
  ASSERT_EQ(together([&] { cpu = sched_getcpu(); }), 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(50)); // much longer than it spins
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  ASSERT_EQ(sched_setaffinity(0, sizeof only, &only), 0);
  cpu_set_t allowed;
  int inside = together([&] { sched_getaffinity(0, sizeof allowed, &allowed); });
  sched_setaffinity(0, sizeof before, &before);
  ASSERT_EQ(inside, 2);
  EXPECT_FALSE(CPU_ISSET(cpu, &allowed));
}

TEST(ThreadPool, worker_numbers_are_exclusive) {
  ThreadPool pool(4);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<std::atomic<int>> inside(4);
    std::atomic<bool> right{true};
    std::atomic<int64_t> total{0};
    pool.parallel_for(64, 1, [&](int64_t begin, int64_t end, int worker) {
      if (worker < 0 || worker >= 4 || inside[size_t(worker)].fetch_add(1) != 0)
        right = false;
      total += end - begin;
      if (worker >= 0 && worker < 4)
        inside[size_t(worker)].fetch_sub(1);
    });
    ASSERT_TRUE(right);
    ASSERT_EQ(total, 64);
  }
}

TEST(ThreadPool, results_are_visible_to_the_caller) {
  ThreadPool pool(3);
  std::vector<int64_t> values(300);
  for (int64_t repeat = 0; repeat < 5000; ++repeat) {
    pool.parallel_for(300, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        values[size_t(i)] = repeat * i;
    });
    ASSERT_EQ(std::accumulate(values.begin(), values.end(), int64_t(0)), repeat * (299 * 300 / 2));
  }
}

TEST(ThreadPool, nested_calls_run_inline) {
  ThreadPool pool(3);
  std::atomic<int64_t> total{0};
  pool.parallel_for(40, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::thread::id own = std::this_thread::get_id();
      pool.parallel_for(10, 1, [&](int64_t b, int64_t e, int worker) {
        EXPECT_EQ(worker, 0);
        EXPECT_EQ(std::this_thread::get_id(), own);
        total += e - b;
      });
    }
  });
  EXPECT_EQ(total, 400);
}

TEST(ThreadPool, several_callers_do_not_wait_for_each_other) {
  ThreadPool pool(2);
  std::atomic<bool> other_is_done{false};
  // The first caller holds the pool until the second has finished: a pool that made callers queue would hang.
  std::atomic<bool> holding{false};
  std::thread first([&] {
    pool.parallel_for(2, 1, [&](int64_t, int64_t) {
      holding = true;
      while (!other_is_done)
        std::this_thread::yield();
    });
  });
  while (!holding)
    std::this_thread::yield();
  expect_covers(pool, 1000, 1);
  other_is_done = true;
  first.join();
}

TEST(ThreadPool, many_callers_at_once_are_right) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int64_t> total{0};
  for (int c = 0; c < 6; ++c)
    callers.emplace_back([&, c] {
      for (int repeat = 0; repeat < 500; ++repeat)
        pool.parallel_for(20 + c, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
    });
  for (std::thread &t : callers)
    t.join();
  EXPECT_EQ(total, 500 * (20 + 21 + 22 + 23 + 24 + 25));
}

TEST(ThreadPool, wakes_from_sleep) {
  ThreadPool pool(2);
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3)); // workers are parked by now
    std::atomic<int> arrived{0};
    // Both ranges must run at once: each waits for the other, for as long as a loaded machine may take.
    pool.parallel_for(2, 1, [&](int64_t, int64_t) {
      ++arrived;
      auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (arrived < 2 && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    });
    EXPECT_EQ(arrived, 2);
  }
}

TEST(ThreadPool, is_built_and_destroyed_at_any_moment) {
  for (int repeat = 0; repeat < 100; ++repeat) {
    ThreadPool pool(3);
    if (repeat % 2)
      expect_covers(pool, 10, 1);
  }
}

TEST(ThreadPool, overhead_is_reported) {
  ThreadPool pool(2);
  std::vector<double> us;
  int64_t sum = 0;
  for (int repeat = 0; repeat < 3000; ++repeat) {
    std::atomic<int64_t> total{0};
    auto begin = std::chrono::steady_clock::now();
    pool.parallel_for(2, 1, [&](int64_t b, int64_t) { total += b; });
    us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    sum += total;
  }
  EXPECT_EQ(sum, 3000);
  std::ranges::nth_element(us, us.begin() + 1500);
  std::printf("an empty launch on 2 threads takes %.2f us (median)\n", us[1500]);
}

} // namespace
} // namespace quaver
