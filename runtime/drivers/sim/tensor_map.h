// Tensor maps: the opaque 128-byte values that cp.async.bulk.tensor reads. NVIDIA does not publish their
// layout; this one is our own. The rules of the arguments are those of cuTensorMapEncodeTiled (CUDA driver
// API, "Tensor Map Object Management").
#pragma once
#include "runtime/base/status.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace quaver::sim {

/// Numbers are those of the CUtensorMap... enumerations.
enum class TensorMapType : uint8_t {
  kU8,
  kU16,
  kU32,
  kS32,
  kU64,
  kS64,
  kF16,
  kF32,
  kF64,
  kBf16,
  kF32Ftz,
  kTf32,
  kTf32Ftz
};
enum class TensorMapSwizzle : uint8_t { kNone, k32, k64, k128 };

struct TensorMap {
  TensorMapType type = TensorMapType::kU8;
  uint32_t rank = 1;                 // 1 to 5
  uint64_t address = 0;              // global, 16-byte aligned
  std::array<uint64_t, 5> sizes{};   // elements, innermost first
  std::array<uint64_t, 4> strides{}; // bytes, of dimensions 1 to rank - 1
  std::array<uint32_t, 5> box{};     // elements of a copy
  std::array<uint32_t, 5> element_strides{1, 1, 1, 1, 1};
  TensorMapSwizzle swizzle = TensorMapSwizzle::kNone;
  bool nan_fill = false; // out of bounds: NaN instead of zero; floats only
};

inline constexpr size_t kTensorMapBytes = 128;
uint32_t element_bytes(TensorMapType type);

/// The 128 bytes. InvalidArgument, naming the argument and the rule, for what cuTensorMapEncodeTiled refuses.
StatusOr<std::array<std::byte, kTensorMapBytes>> encode_tensor_map(const TensorMap &map);
/// InvalidArgument when the bytes are no tensor map of encode_tensor_map.
StatusOr<TensorMap> decode_tensor_map(std::span<const std::byte, kTensorMapBytes> bytes);

} // namespace quaver::sim
