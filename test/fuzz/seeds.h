// What a fuzz target says about itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace quaver::fuzz {

using Bytes = std::vector<uint8_t>;

/// Valid inputs to start from.
std::vector<Bytes> seeds();

/// Gives a mutated input right checksums again, so that mutation gets past them; input that has none stays as
/// it is.
void repair(Bytes &input);

} // namespace quaver::fuzz
