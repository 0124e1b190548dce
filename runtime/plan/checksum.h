// The artifact's checksum: XXH3, 64 bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace quaver::plan {

uint64_t checksum(std::span<const std::byte> bytes);

/// The same over bytes that come piece by piece.
class ChecksumStream {
public:
  ChecksumStream();
  ~ChecksumStream();
  void add(std::span<const std::byte> bytes);
  uint64_t value() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace quaver::plan
