#include "runtime/base/thread_pool.h"
#include <algorithm>
#include <chrono>
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <system_error>

namespace quaver {
namespace {

// Longer than what a run does between two pooled launches, or waits at the end of one, so that its threads
// fall asleep once a run at most; shorter than anyone notices.
constexpr std::chrono::microseconds kSpinTime{500};
constexpr uint32_t kOpen = 1u << 31;
// The counter of ranges passes the end by one range a thread; below this it cannot wrap.
constexpr int64_t kMaxCount = int64_t(1) << 48;

thread_local bool inside_range = false;

/// Waits until `word` is not `old`: first on the CPU, then asleep. `asleep_on` tells which CPU that was on.
void wait_while(const std::atomic<uint32_t> &word, uint32_t old, std::atomic<int> *asleep_on = nullptr) {
  auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < 16; ++i) {
      if (word.load(std::memory_order_acquire) != old)
        return;
      _mm_pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  if (asleep_on)
    asleep_on->store(sched_getcpu(), std::memory_order_relaxed);
  word.wait(old, std::memory_order_acquire);
  if (asleep_on)
    asleep_on->store(-1, std::memory_order_relaxed);
}

} // namespace

int available_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

ThreadPool::ThreadPool(int threads) {
  CPU_ZERO(&allowed_);
  sched_getaffinity(0, sizeof allowed_, &allowed_);
  if (threads <= 0)
    threads = available_cpus();
  try {
    for (int i = 1; i < threads; ++i) {
      Worker &worker = workers_.emplace_back();
      worker.thread = std::thread([this, &worker, i] { work(worker, i); });
    }
  } catch (const std::system_error &) { // a limit on threads: those that there are do all the work
    workers_.pop_back();
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (Worker &w : workers_)
    w.thread.join();
}

void ThreadPool::take_ranges(int worker) {
  inside_range = true;
  for (;;) {
    int64_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
    if (begin >= count_)
      break;
    call_(body_, begin, count_ - begin > chunk_ ? begin + chunk_ : count_, worker);
  }
  inside_range = false;
}

bool ThreadPool::join() {
  uint32_t members = members_.load(std::memory_order_relaxed);
  while (members & kOpen)
    if (members_.compare_exchange_weak(members, members + 1, std::memory_order_acquire,
                                       std::memory_order_relaxed))
      return true;
  return false;
}

void ThreadPool::leave() {
  // The last one out of a closed job wakes its caller.
  if (members_.fetch_sub(1, std::memory_order_release) == 1)
    members_.notify_all();
}

void ThreadPool::work(Worker &self, int worker) {
  uint32_t seen = 0;
  for (;;) {
    wait_while(generation_, seen, &self.asleep_on);
    seen = generation_.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_relaxed))
      return;
    // Whatever job is open now is a right one to join; if it is over already there is nothing to do.
    if (!join())
      continue;
    take_ranges(worker);
    leave();
  }
}

// The kernel wakes a thread where it last ran. If that is the caller's CPU, the worker queues behind the
// caller, who does not stop, until the balancer finds it: whole runs of 14 ms went by on one CPU of two after
// pauses of 40 ms.
void ThreadPool::make_way_for_sleepers() {
  int here = -1;
  for (Worker &w : workers_) {
    int cpu = w.asleep_on.load(std::memory_order_relaxed);
    if (cpu < 0 || (here < 0 ? here = sched_getcpu() : here) != cpu)
      continue;
    cpu_set_t others = allowed_;
    CPU_CLR(cpu, &others);
    if (CPU_COUNT(&others) > 0)
      pthread_setaffinity_np(w.thread.native_handle(), sizeof others, &others);
  }
}

void ThreadPool::run(int64_t count, int64_t grain, Call call, void *body) {
  if (count <= 0)
    return;
  grain = std::max<int64_t>(1, grain);
  if (workers_.empty() || count <= grain || count > kMaxCount || inside_range || !busy_.try_lock()) {
    call(body, 0, count, 0);
    return;
  }
  std::lock_guard<std::mutex> lock(busy_, std::adopt_lock);
  call_ = call;
  body_ = body;
  count_ = count;
  // Four ranges a thread: enough to even out, few enough that taking them costs nothing.
  chunk_ = std::max(grain, count / (4 * size()) + 1);
  next_.store(0, std::memory_order_relaxed);
  make_way_for_sleepers();
  members_.store(kOpen, std::memory_order_release);
  generation_.fetch_add(1, std::memory_order_release);
  // Only as many as there are ranges for: waking a sleeper costs a microsecond.
  if (int64_t wanted = (count - 1) / chunk_; wanted >= int64_t(workers_.size()))
    generation_.notify_all();
  else
    for (; wanted > 0; --wanted)
      generation_.notify_one();
  take_ranges(0);
  // Nobody joins from here on; those inside finish the ranges they have.
  uint32_t members = members_.fetch_and(~kOpen, std::memory_order_acquire) & ~kOpen;
  while (members != 0) {
    wait_while(members_, members);
    members = members_.load(std::memory_order_acquire);
  }
}

} // namespace quaver
