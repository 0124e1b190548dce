// Walks float32 by their codes: all 2^32 of them when QUAVER_EXHAUSTIVE is set (./dev test-exhaustive), else
// every 241st (17.8 million; 241 is prime, so that every exponent and every low mantissa bit occurs).
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace quaver::test {

inline uint64_t float_stride() { return std::getenv("QUAVER_EXHAUSTIVE") ? 1 : 241; }

/// Calls check(x) for every float of the walk on all CPUs; it returns "" or what is wrong. Returns the first
/// complaint and the number of them.
template <class Check> std::pair<std::string, uint64_t> for_every_float(Check check) {
  const uint64_t stride = float_stride(), count = ((uint64_t(1) << 32) + stride - 1) / stride;
  const unsigned workers = std::max(1u, std::thread::hardware_concurrency());
  std::mutex mutex;
  std::pair<std::string, uint64_t> found{"", 0};
  std::vector<std::thread> threads;
  for (unsigned w = 0; w < workers; ++w)
    threads.emplace_back([&, w] {
      for (uint64_t i = count * w / workers; i < count * (w + 1) / workers; ++i) {
        const float x = std::bit_cast<float>(uint32_t(i * stride));
        if (std::string wrong = check(x); !wrong.empty()) {
          std::lock_guard lock(mutex);
          if (found.second++ == 0)
            found.first = wrong;
        }
      }
    });
  for (std::thread &t : threads)
    t.join();
  return found;
}

} // namespace quaver::test
