// The short run: mutates the target's seeds for 3 seconds, or as many as the first argument says. A crash or
// a sanitizer's report is the failure.
#include "test/fuzz/seeds.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace {

using quaver::fuzz::Bytes;

class Mutator {
public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  void mutate(Bytes &b, const std::vector<Bytes> &seeds) {
    for (size_t n = 1 + below(4); n > 0; --n)
      once(b, seeds[below(seeds.size())]);
  }

private:
  size_t below(size_t n) { return n ? random_() % n : 0; }

  void once(Bytes &b, const Bytes &other) {
    if (b.empty())
      return b.push_back(uint8_t(random_()));
    size_t at = below(b.size()), length = 1 + below(std::min<size_t>(b.size() - at, 64));
    switch (below(8)) {
    case 0:
      b[at] ^= uint8_t(1 << below(8));
      break;
    case 1:
      b[at] = uint8_t(random_());
      break;
    case 2:
      b[at] = below(2) ? 0xff : 0;
      break;
    case 3:
      b.resize(at);
      break;
    case 4:
      b.erase(b.begin() + long(at), b.begin() + long(at + length));
      break;
    case 5:
      b.insert(b.begin() + long(at), length, uint8_t(random_()));
      break;
    case 6: { // a piece of another input
      size_t from = below(other.size());
      b.insert(b.begin() + long(at), other.begin() + long(from),
               other.begin() + long(std::min(from + length, other.size())));
      break;
    }
    case 7: // an extreme number
      for (size_t i = 0; i < 8 && at + i < b.size(); ++i)
        b[at + i] = i == 7 ? uint8_t(0x7f + below(2)) : 0xff;
      break;
    }
  }

  std::mt19937_64 random_;
};

} // namespace

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  const std::vector<Bytes> seeds = quaver::fuzz::seeds();
  for (const Bytes &seed : seeds)
    LLVMFuzzerTestOneInput(seed.data(), seed.size());
  long runs = 0;
  Mutator mutator(20260101);
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (; std::chrono::steady_clock::now() < end; ++runs) {
    Bytes input = seeds[size_t(runs) % seeds.size()];
    mutator.mutate(input, seeds);
    if (runs % 2)
      quaver::fuzz::repair(input);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%ld mutated inputs, no crash\n", runs);
  return runs > 0 ? 0 : 1;
}
