//===- tensor_map.cpp - opaque tensor maps ----------------------------------===//
#include "runtime/drivers/sim/tensor_map.h"

#include <cstring>

namespace quaver::sim {
namespace {

constexpr uint64_t kMagic = 0x70616d726f736e74;

// What fits 128 bytes: sizes and strides need 5 + 4 words, box and element strides are small.
struct Packed {
  uint64_t magic = kMagic, address = 0;
  uint32_t sizes_minus_one[5] = {};
  uint16_t box[5] = {};
  uint8_t element_strides[5] = {};
  uint8_t type = 0, rank = 0, swizzle = 0, nan_fill = 0, reserved = 0;
  uint64_t strides[4] = {};
};
static_assert(sizeof(Packed) <= kTensorMapBytes);

bool is_float_type(TensorMapType type) { return type >= TensorMapType::kF16; }

Status check(const TensorMap &m) {
  if (m.type > TensorMapType::kTf32Ftz)
    return InvalidArgumentError("tensor map: data type ", int(m.type), " does not exist");
  if (m.rank < 1 || m.rank > 5)
    return InvalidArgumentError("tensor map: rank ", m.rank, " is not between 1 and 5");
  if (m.address == 0 || m.address % 16)
    return InvalidArgumentError("tensor map: the global address must be a multiple of 16 and not null");
  const uint64_t bytes = element_bytes(m.type);
  uint64_t least = m.sizes[0] * bytes;
  for (uint32_t i = 0; i < m.rank; ++i) {
    if (m.sizes[i] < 1 || m.sizes[i] > uint64_t{1} << 32)
      return InvalidArgumentError("tensor map: size ", m.sizes[i], " of dimension ", i,
                                  " is not between 1 and 2^32");
    if (m.box[i] < 1 || m.box[i] > 256)
      return InvalidArgumentError("tensor map: box size ", m.box[i], " of dimension ", i,
                                  " is not between 1 and 256");
    if (m.element_strides[i] < 1 || m.element_strides[i] > 8)
      return InvalidArgumentError("tensor map: element stride ", m.element_strides[i], " of dimension ", i,
                                  " is not between 1 and 8");
    if (i == 0)
      continue;
    const uint64_t stride = m.strides[i - 1];
    if (stride % 16 || stride >= uint64_t{1} << 40 || stride < least)
      return InvalidArgumentError("tensor map: stride ", stride, " of dimension ", i,
                                  " must be a multiple of 16 below 2^40 and at least the ", least,
                                  " bytes it steps over");
    least = stride * m.sizes[i];
  }
  const uint64_t inner = m.box[0] * bytes, span = uint64_t{16} << int(m.swizzle);
  if (inner % 16)
    return InvalidArgumentError("tensor map: the box's inner ", inner, " bytes are not a multiple of 16");
  if (m.swizzle > TensorMapSwizzle::k128)
    return InvalidArgumentError("tensor map: swizzle ", int(m.swizzle), " does not exist");
  if (m.swizzle != TensorMapSwizzle::kNone && inner > span)
    return InvalidArgumentError("tensor map: the box's inner ", inner, " bytes do not fit the swizzle of ",
                                span);
  if (m.nan_fill && !is_float_type(m.type))
    return InvalidArgumentError("tensor map: a fill with NaN is for floating-point types");
  return OkStatus();
}

} // namespace

uint32_t element_bytes(TensorMapType type) {
  static constexpr uint8_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return kBytes[int(type)];
}

StatusOr<std::array<std::byte, kTensorMapBytes>> encode_tensor_map(const TensorMap &m) {
  QUAVER_RETURN_IF_ERROR(check(m));
  Packed p;
  p.address = m.address;
  p.type = uint8_t(m.type);
  p.rank = uint8_t(m.rank);
  p.swizzle = uint8_t(m.swizzle);
  p.nan_fill = m.nan_fill;
  for (uint32_t i = 0; i < m.rank; ++i) {
    p.sizes_minus_one[i] = uint32_t(m.sizes[i] - 1);
    p.box[i] = uint16_t(m.box[i]);
    p.element_strides[i] = uint8_t(m.element_strides[i]);
    if (i)
      p.strides[i - 1] = m.strides[i - 1];
  }
  std::array<std::byte, kTensorMapBytes> out{};
  std::memcpy(out.data(), &p, sizeof p);
  return out;
}

StatusOr<TensorMap> decode_tensor_map(std::span<const std::byte, kTensorMapBytes> bytes) {
  Packed p;
  std::memcpy(&p, bytes.data(), sizeof p);
  if (p.magic != kMagic || p.rank > 5)
    return InvalidArgumentError("these 128 bytes are no tensor map");
  TensorMap m;
  m.address = p.address;
  m.type = TensorMapType(p.type);
  m.rank = p.rank;
  m.swizzle = TensorMapSwizzle(p.swizzle);
  m.nan_fill = p.nan_fill;
  for (uint32_t i = 0; i < m.rank; ++i) {
    m.sizes[i] = uint64_t{p.sizes_minus_one[i]} + 1;
    m.box[i] = p.box[i];
    m.element_strides[i] = p.element_strides[i];
    if (i)
      m.strides[i - 1] = p.strides[i - 1];
  }
  QUAVER_RETURN_IF_ERROR(check(m)); // bytes may have been changed
  return m;
}

} // namespace quaver::sim
