// For libFuzzer: hands out the seeds before it mutates, and repairs checksums after it did.
#include "test/fuzz/seeds.h"
#include <algorithm>
#include <cstring>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  static const std::vector<quaver::fuzz::Bytes> kSeeds = quaver::fuzz::seeds();
  if (size < 8) { // an empty corpus: start from a seed
    const quaver::fuzz::Bytes &s = kSeeds[seed % kSeeds.size()];
    size = std::min(s.size(), max_size);
    std::memcpy(data, s.data(), size);
  }
  size = LLVMFuzzerMutate(data, size, max_size);
  if (seed % 2) {
    quaver::fuzz::Bytes input(data, data + size);
    quaver::fuzz::repair(input);
    size = std::min(input.size(), max_size);
    std::memcpy(data, input.data(), size);
  }
  return size;
}
