#include "runtime/plan/checksum.h"
#include <xxhash.h>

namespace quaver::plan {

uint64_t checksum(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

} // namespace quaver::plan
