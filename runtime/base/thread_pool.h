// Our own pool: workers spin briefly, then park. No OpenMP: its barriers stall for milliseconds on shared
// machines.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace quaver {

/// Runs ranges on `size()` threads, the caller being one of them. Usable from many threads at once: whoever
/// finds the pool busy runs its range alone, so callers never wait for each other. A call from inside a range
/// runs inline. Destroy it only when no call is under way.
class ThreadPool {
public:
  /// threads = 0: one per CPU this process may use.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int size() const { return int(workers_.size()) + 1; }

  /// Calls body(begin, end) for ranges that cover [0, count), each at least `grain` long but the last;
  /// returns when all are done. Fast threads take more ranges.
  template <class Body> void parallel_for(int64_t count, int64_t grain, Body &&body) {
    run(
        count, grain,
        [](void *b, int64_t begin, int64_t end) {
          (*static_cast<std::remove_reference_t<Body> *>(b))(begin, end);
        },
        &body);
  }

private:
  using Call = void (*)(void *body, int64_t begin, int64_t end);
  void run(int64_t count, int64_t grain, Call call, void *body);
  void work();
  void take_ranges();

  std::vector<std::thread> workers_;
  std::mutex busy_;
  std::atomic<uint32_t> generation_{0}; // of the current job; workers wait for it to change
  std::atomic<bool> stopping_{false};
  std::atomic<int> running_{0}; // workers that have not finished the current job
  // The current job; written before generation_ is raised.
  Call call_ = nullptr;
  void *body_ = nullptr;
  int64_t count_ = 0, chunk_ = 1;
  std::atomic<int64_t> next_{0};
};

/// CPUs that this process may run on.
int available_cpus();

} // namespace quaver
