#include "runtime/plan/checksum.h"
#include <xxhash.h>

namespace quaver::plan {

uint64_t checksum(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

struct ChecksumStream::State {
  XXH3_state_t *xxh = XXH3_createState();
  ~State() { XXH3_freeState(xxh); }
};

ChecksumStream::ChecksumStream() : state_(new State) { XXH3_64bits_reset(state_->xxh); }
ChecksumStream::~ChecksumStream() = default;
void ChecksumStream::add(std::span<const std::byte> bytes) {
  if (!bytes.empty())
    XXH3_64bits_update(state_->xxh, bytes.data(), bytes.size());
}
uint64_t ChecksumStream::value() const { return XXH3_64bits_digest(state_->xxh); }

} // namespace quaver::plan
