// Reads any bytes as a safetensors file. Every tensor that it gives must lie in them.
#include "compiler/Import/Safetensors/Safetensors.h"
#include "test/fuzz/seeds.h"
#include <cstdlib>

using quaver::import::SafetensorsCheckpoint;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  auto checkpoint = SafetensorsCheckpoint::parse(bytes, "fuzz.safetensors");
  if (!checkpoint.ok()) {
    if (checkpoint.status().message().empty())
      std::abort();
    return 0;
  }
  for (auto &[name, tensor] : checkpoint->tensors())
    if (tensor.bytes.begin() < bytes.data() || tensor.bytes.end() > bytes.data() + size ||
        tensor.describe().empty())
      std::abort();
  return 0;
}

namespace quaver::fuzz {

static Bytes file_of(const std::string &header, size_t bytes) {
  Bytes file(8 + header.size() + bytes, 0x38);
  for (int i = 0; i < 8; ++i)
    file[i] = uint8_t(header.size() >> (8 * i));
  std::copy(header.begin(), header.end(), file.begin() + 8);
  return file;
}

std::vector<Bytes> seeds() {
  return {
      file_of(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F8_E4M3","shape":[2,3],"data_offsets":[0,6]},)"
              R"("a_scale_inv":{"dtype":"F32","shape":[1,1],"data_offsets":[6,10]}})",
              10),
      file_of(
          R"({"x":{"dtype":"I64","shape":[],"data_offsets":[0,8]},"y":{"dtype":"BF16","shape":[0,7],"data_offsets":[8,8]}})",
          8)};
}

// The header's length follows what stands in front of the data.
void repair(Bytes &input) {
  size_t end = input.size();
  while (end > 8 && input[end - 1] != '}')
    --end;
  for (int i = 0; i < 8 && end > 8; ++i)
    input[i] = uint8_t((end - 8) >> (8 * i));
}

} // namespace quaver::fuzz
