//===- tensor_exchange.cpp - Python objects and the runtime's tensors -------===//
#include "python/quaver/tensor_exchange.h"

#include <nanobind/stl/string.h>

namespace quaver::python {

void check(qv_status *status) {
  if (!status)
    return;
  int code = qv_status_code(status);
  std::string message = qv_status_message(status);
  qv_status_release(status);
  nb::object error = nb::module_::import_("quaver.errors").attr("from_code")(code, message);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

namespace {

/// A wrong argument, as the package's own exception.
[[noreturn]] void raise_invalid(const std::string &message) {
  nb::object error =
      nb::module_::import_("quaver.errors").attr("from_code")(int(QV_INVALID_ARGUMENT), message);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

// Type codes of DLPack 1.1 (dlpack.h, DLDataTypeCode).
constexpr uint8_t kInt = 0, kUint = 1, kFloat = 2, kBfloat = 4, kBool = 6, kE4m3fn = 10, kE4m3fnuz = 11,
                  kE5m2 = 12, kE5m2fnuz = 13, kE8m0fnu = 14;

struct Row {
  qv_type type;
  uint8_t code, bits;
};
constexpr Row kRows[] = {
    {QV_F64, kFloat, 64},
    {QV_F32, kFloat, 32},
    {QV_F16, kFloat, 16},
    {QV_BF16, kBfloat, 16},
    {QV_F8E4M3FN, kE4m3fn, 8},
    {QV_F8E5M2, kE5m2, 8},
    {QV_F8E4M3FNUZ, kE4m3fnuz, 8},
    {QV_F8E5M2FNUZ, kE5m2fnuz, 8},
    {QV_F8E8M0FNU, kE8m0fnu, 8},
    {QV_I64, kInt, 64},
    {QV_I32, kInt, 32},
    {QV_I16, kInt, 16},
    {QV_I8, kInt, 8},
    {QV_U64, kUint, 64},
    {QV_U32, kUint, 32},
    {QV_U16, kUint, 16},
    {QV_U8, kUint, 8},
    {QV_BOOL, kBool, 8},
};

/// Frees a run's buffer when Python drops the last view of it.
nb::capsule owner_of(const qv_output &output) {
  return nb::capsule(output.buffer,
                     [](void *buffer) noexcept { qv_buffer_release(static_cast<qv_buffer *>(buffer)); });
}

} // namespace

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Feed::Feed(nb::dict inputs) {
  kept_.reserve(inputs.size()); // inputs_ points into it
  for (auto [name, value] : inputs) {
    Kept &kept = kept_.emplace_back();
    if (!nb::try_cast<std::string>(name, kept.name))
      raise_invalid("an input's name is not a string");
    if (nb::isinstance<nb::tuple>(value))
      add_bytes(kept, nb::cast<nb::tuple>(value));
    else
      add_dlpack(kept, value);
  }
}

void Feed::add_bytes(Kept &kept, nb::tuple parts) {
  kept.array = nb::cast<Any>(parts[0]);
  for (nb::handle dim : nb::cast<nb::tuple>(parts[2]))
    kept.shape.push_back(nb::cast<int64_t>(dim));
  inputs_.push_back({kept.name.c_str(), static_cast<qv_type>(nb::cast<int>(parts[1])),
                     static_cast<int32_t>(kept.shape.size()), kept.shape.data(), kept.array.data(),
                     kept.array.nbytes(), QV_MEMORY_HOST});
}

void Feed::add_dlpack(Kept &kept, nb::handle object) {
  if (!nb::try_cast<Any>(object, kept.array))
    raise_invalid("input '" + kept.name + "' is neither an array nor a DLPack tensor in CPU memory");
  int64_t stride = 1;
  for (size_t i = kept.array.ndim(); i-- > 0;) {
    if (kept.array.shape(i) != 1 && kept.array.stride(i) != stride && kept.array.size() != 0)
      raise_invalid("input '" + kept.name + "' is not contiguous: make it so first");
    stride *= static_cast<int64_t>(kept.array.shape(i));
  }
  for (size_t i = 0; i < kept.array.ndim(); ++i)
    kept.shape.push_back(static_cast<int64_t>(kept.array.shape(i)));
  nb::dlpack::dtype dtype = kept.array.dtype();
  for (const Row &row : kRows)
    if (row.code == dtype.code && row.bits == dtype.bits && dtype.lanes == 1) {
      inputs_.push_back({kept.name.c_str(), row.type, static_cast<int32_t>(kept.shape.size()),
                         kept.shape.data(), kept.array.data(), kept.array.nbytes(), QV_MEMORY_HOST});
      return;
    }
  raise_invalid("input '" + kept.name + "' has DLPack type code " + std::to_string(dtype.code) + " of " +
                std::to_string(dtype.bits) + " bits, which Quaver does not have");
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

nb::tuple to_bytes(const qv_output &output) {
  nb::capsule owner = owner_of(output);
  nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>> bytes(output.data, {output.bytes}, owner);
  nb::list shape;
  for (int32_t i = 0; i < output.rank; ++i)
    shape.append(output.shape[i]);
  return nb::make_tuple(bytes, static_cast<int>(output.type), nb::tuple(shape));
}

nb::object to_dlpack(const qv_output &output) {
  nb::capsule owner = owner_of(output);
  std::vector<size_t> shape(output.shape, output.shape + output.rank);
  nb::dlpack::dtype dtype{};
  for (const Row &row : kRows)
    if (row.type == output.type)
      dtype = {row.code, row.bits, 1};
  return nb::cast(Tensor(output.data, shape.size(), shape.data(), owner, nullptr, dtype));
}

} // namespace quaver::python
