// Opens any bytes as an artifact. Whatever opens is used: printed, its blobs touched, and it must serialize
// to a plan that is valid again.
#include "runtime/plan/artifact.h"
#include "runtime/plan/printer.h"
#include "runtime/plan/validate.h"
#include "test/fuzz/seeds.h"
#include "test/runtime/plan/small_plan.h"
#include <cstdlib>
#include <cstring>
#include <google/protobuf/stubs/logging.h>

using namespace quaver;
using namespace quaver::plan;

// protobuf prints a line for every string that is not UTF-8.
[[maybe_unused]] static const auto kQuiet = google::protobuf::SetLogHandler(nullptr);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A first byte of P is a whole artifact, M a bare plan: the way past the container.
  if (size && data[0] == 'M') {
    Plan plan;
    if (plan.ParseFromArray(data + 1, int(size - 1)) && validate(plan).ok()) {
      (void)print_plan(plan, true);
      (void)print_weights(plan);
      (void)plan_json(plan);
    }
    return 0;
  }
  auto artifact = Artifact::from_bytes(std::as_bytes(std::span(data, size)), "fuzzed", Verify::kAll);
  if (!artifact.ok()) {
    if (artifact.status().message().empty())
      std::abort();
    return 0;
  }
  const Artifact &a = **artifact;
  if (!validate(a.plan()).ok())
    std::abort();
  unsigned sum = 0;
  for (int i = 0; i < a.plan().blobs_size(); ++i) {
    auto blob = a.blob(i);
    if (!blob.ok())
      std::abort();
    for (std::byte b : *blob)
      sum += unsigned(b);
  }
  (void)print_artifact(a, true);
  (void)print_json(a);
  return sum == 0xdeadbeef;
}

namespace quaver::fuzz {

std::vector<Bytes> seeds() {
  std::vector<std::byte> file = plan::test::small_artifact();
  plan::test::SmallModel model;
  plan::test::build_small_model(model);
  std::string plan = "M" + model.plan.SerializeAsString();
  return {
      Bytes(reinterpret_cast<uint8_t *>(file.data()), reinterpret_cast<uint8_t *>(file.data()) + file.size()),
      Bytes(plan.begin(), plan.end())};
}

void repair(Bytes &input) {
  // The manifest's CRC-32 stands in its local header and in the directory; the version block has its own.
  constexpr size_t kCrc = 14, kBlock = 63, kBlockCrc = 79, kSize = 43, kNameAndExtra = 26;
  if (input.size() < 128 || std::memcmp(input.data(), "PK\x03\x04", 4) != 0)
    return;
  auto bytes = std::as_bytes(std::span(input));
  uint32_t block = crc32_of(bytes.subspan(kBlock, 16));
  std::memcpy(&input[kBlockCrc], &block, 4);
  uint16_t name, extra;
  uint64_t size;
  std::memcpy(&name, &input[kNameAndExtra], 2);
  std::memcpy(&extra, &input[kNameAndExtra + 2], 2);
  std::memcpy(&size, &input[kSize], 8);
  size_t data = 30 + size_t(name) + extra;
  if (data > input.size() || size > input.size() - data)
    return;
  uint32_t crc = crc32_of(bytes.subspan(data, size));
  std::memcpy(&input[kCrc], &crc, 4);
  for (size_t i = data + size; i + 50 < input.size(); ++i)
    if (std::memcmp(&input[i], "PK\x01\x02", 4) == 0) {
      std::memcpy(&input[i + 16], &crc, 4);
      break;
    }
}

} // namespace quaver::fuzz
