// The artifact's checksum: XXH3, 64 bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace quaver::plan {

uint64_t checksum(std::span<const std::byte> bytes);

} // namespace quaver::plan
