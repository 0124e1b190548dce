#include "runtime/base/thread_pool.h"
#include <algorithm>
#include <immintrin.h>
#include <sched.h>

namespace quaver {

// About 30 us of spinning: longer than the gap between two launches of a run, shorter than anyone notices.
constexpr int kSpins = 2000;

static thread_local bool inside_range = false;

int available_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

ThreadPool::ThreadPool(int threads) {
  if (threads <= 0)
    threads = available_cpus();
  for (int i = 1; i < threads; ++i)
    workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  stopping_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread &t : workers_)
    t.join();
}

void ThreadPool::take_ranges() {
  inside_range = true;
  for (;;) {
    int64_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
    if (begin >= count_)
      break;
    call_(body_, begin, std::min(begin + chunk_, count_));
  }
  inside_range = false;
}

void ThreadPool::work() {
  uint32_t seen = 0;
  for (;;) {
    int spins = 0;
    while (generation_.load(std::memory_order_acquire) == seen) {
      if (++spins < kSpins)
        _mm_pause();
      else
        generation_.wait(seen, std::memory_order_acquire);
    }
    seen = generation_.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_relaxed))
      return;
    take_ranges();
    running_.fetch_sub(1, std::memory_order_release);
  }
}

void ThreadPool::run(int64_t count, int64_t grain, Call call, void *body) {
  if (count <= 0)
    return;
  grain = std::max<int64_t>(1, grain);
  if (workers_.empty() || count <= grain || inside_range || !busy_.try_lock()) {
    call(body, 0, count);
    return;
  }
  std::lock_guard<std::mutex> lock(busy_, std::adopt_lock);
  call_ = call;
  body_ = body;
  count_ = count;
  // Four ranges a thread: enough to even out, few enough that taking them costs nothing.
  chunk_ = std::max(grain, (count + 4 * size() - 1) / (4 * size()));
  next_.store(0, std::memory_order_relaxed);
  running_.store(int(workers_.size()), std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  take_ranges();
  while (running_.load(std::memory_order_acquire) != 0)
    _mm_pause();
}

} // namespace quaver
