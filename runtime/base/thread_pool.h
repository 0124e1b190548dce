// Our own pool: workers spin briefly, then park. No OpenMP: its barriers stall for milliseconds on shared
// machines.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <sched.h>
#include <thread>
#include <type_traits>

namespace quaver {

/// Runs ranges on `size()` threads, the caller being one of them. Usable from many threads at once: whoever
/// finds the pool busy runs its range alone, so callers never wait for each other. A call from inside a range
/// runs inline. A job never waits for a worker that has not begun: one that wakes late, or not at all because
/// the machine is busy, costs the caller nothing. Destroy it only when no call is under way.
class ThreadPool {
public:
  /// threads = 0: one per CPU this process may use. Where the system refuses a thread the pool has fewer.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int size() const { return int(workers_.size()) + 1; }

  /// Calls body(begin, end), or body(begin, end, worker), for disjoint ranges that cover [0, count), each at
  /// least `grain` long but the last; returns when all are done, and what the body wrote is visible to the
  /// caller. Fast threads take more ranges. `worker` is in [0, size()) and no two ranges of one call run at
  /// the same time with the same one; the caller is 0. The body must not throw.
  template <class Body> void parallel_for(int64_t count, int64_t grain, Body &&body) {
    auto call = [](void *b, int64_t begin, int64_t end, int worker) {
      auto &f = *static_cast<std::remove_reference_t<Body> *>(b);
      if constexpr (std::is_invocable_v<decltype(f), int64_t, int64_t, int>)
        f(begin, end, worker);
      else
        f(begin, end);
    };
    run(count, grain, call, const_cast<void *>(static_cast<const void *>(std::addressof(body))));
  }

private:
  using Call = void (*)(void *body, int64_t begin, int64_t end, int worker);
  struct Worker {
    std::thread thread;
    alignas(64) std::atomic<int> asleep_on{-1}; // the CPU it went to sleep on; -1 while it is awake
  };
  void run(int64_t count, int64_t grain, Call call, void *body);
  void work(Worker &self, int worker);
  void make_way_for_sleepers();
  bool join();
  void leave();
  void take_ranges(int worker);

  std::deque<Worker> workers_;          // a worker stays where it is
  cpu_set_t allowed_;                   // CPUs of the thread that made the pool
  std::mutex busy_;                     // held by the caller of the current job
  std::atomic<uint32_t> generation_{0}; // number of jobs so far; workers wait for it to change
  std::atomic<bool> stopping_{false};
  // Bit 31: the job may be joined. Below: workers inside it. The caller waits until it is 0.
  std::atomic<uint32_t> members_{0};
  // The current job. Written while members_ is 0, read by members only.
  Call call_ = nullptr;
  void *body_ = nullptr;
  int64_t count_ = 0, chunk_ = 1;
  alignas(64) std::atomic<int64_t> next_{0};
};

/// CPUs that this process may run on.
int available_cpus();

} // namespace quaver
