// Tensors as a command line spells them: "1x128xi64=rand(0,32000)".
#pragma once
#include "runtime/base/status.h"
#include "runtime/numerics/formats.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quaver {

struct SpelledTensor {
  ElementType type = ElementType::Invalid;
  std::vector<int64_t> shape;
  std::vector<char> bytes; // row-major, little-endian
};

/// SHAPExTYPE=VALUE, the type by either of its names, VALUE being rand(LOW,HIGH) (uniform, HIGH excluded;
/// integers are rounded down), normal(MEAN,DEVIATION) or a number. Random values depend on `seed` and
/// position only. An error says what was expected.
StatusOr<SpelledTensor> parse_tensor_spec(std::string_view spec, uint64_t seed);

} // namespace quaver
