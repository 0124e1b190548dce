// Tensor messages in every encoding that ONNX allows.
#include "compiler/Import/Onnx/OnnxFile.h"
#include "mlir/IR/Builders.h"
#include <cstring>

using namespace mlir;

namespace quaver::import {

Type elementTypeOf(MLIRContext *c, int32_t onnxType, std::string *why) {
  Builder b(c);
  switch (onnxType) {
  case 1:
    return b.getF32Type();
  case 2:
    return b.getIntegerType(8, false);
  case 3:
    return b.getI8Type();
  case 4:
    return b.getIntegerType(16, false);
  case 5:
    return b.getI16Type();
  case 6:
    return b.getI32Type();
  case 7:
    return b.getI64Type();
  case 9:
    return b.getI1Type();
  case 10:
    return b.getF16Type();
  case 11:
    return b.getF64Type();
  case 12:
    return b.getIntegerType(32, false);
  case 13:
    return b.getIntegerType(64, false);
  case 16:
    return b.getBF16Type();
  case 17:
    return Float8E4M3FNType::get(c);
  case 18:
    return Float8E4M3FNUZType::get(c);
  case 19:
    return Float8E5M2Type::get(c);
  case 20:
    return Float8E5M2FNUZType::get(c);
  case 24:
    return Float8E8M0FNUType::get(c);
  }
  static const char *const kNames[] = {"undefined", "", "", "", "", "", "",          "",
                                       "string",    "", "", "", "", "", "complex64", "complex128"};
  if (why) {
    if (onnxType >= 0 && onnxType < 16 && *kNames[onnxType])
      *why = std::string("element type ") + kNames[onnxType] + " is not supported";
    else if (onnxType == 21 || onnxType == 22)
      *why = "4-bit integers are not supported";
    else if (onnxType == 23)
      *why = "float4 is not supported";
    else if (onnxType == 25 || onnxType == 26)
      *why = "2-bit integers are not supported";
    else
      *why = "element type " + std::to_string(onnxType) + " is unknown";
  }
  return {};
}

StatusOr<RankedTensorType> tensorType(MLIRContext *context, const onnx::Tensor &t) {
  std::string why;
  Type element = elementTypeOf(context, t.data_type(), &why);
  if (!element)
    return UnimplementedError("tensor \"", t.name(), "\": ", why);
  constexpr int64_t kMaxElements = int64_t(1) << 48;
  int64_t n = 1;
  SmallVector<int64_t> shape;
  for (int64_t d : t.dims()) {
    if (d < 0 || (d > 0 && n > kMaxElements / d))
      return InvalidArgumentError("tensor \"", t.name(), "\" has impossible dimensions");
    n *= d;
    shape.push_back(d);
  }
  if (shape.size() > 32)
    return InvalidArgumentError("tensor \"", t.name(), "\" has rank ", shape.size());
  return RankedTensorType::get(shape, element);
}

/// Values of a typed field, each narrowed to `bytes` bytes.
template <class Field> static std::vector<char> narrow(const Field &field, int64_t bytes) {
  std::vector<char> out(field.size() * bytes);
  for (int64_t i = 0; i < field.size(); ++i) {
    auto v = field.Get(int(i));
    std::memcpy(out.data() + i * bytes, &v, std::min<size_t>(bytes, sizeof v));
  }
  return out;
}

StatusOr<TensorBytes> tensorBytes(OnnxFile &file, const onnx::Tensor &t, RankedTensorType type,
                                  std::optional<TensorBytes> stripped) {
  int64_t want = storageBytes(type), each = storageBytes(type.getElementType());
  auto wrong = [&](int64_t have, const char *what) {
    return InvalidArgumentError(file.name(), ": tensor \"", t.name(), "\" needs ",
                                want / std::max<int64_t>(each, 1), " elements of ", each,
                                " bytes by its dimensions, but has ", have, " ", what);
  };
  if (t.data_location() == 1) {
    QUAVER_ASSIGN_OR_RETURN(TensorBytes bytes, file.external(t));
    if (int64_t(bytes.bytes.size()) != want)
      return wrong(bytes.bytes.size(), "bytes of external data");
    return bytes;
  }
  if (stripped) {
    if (int64_t(stripped->bytes.size()) != want)
      return wrong(stripped->bytes.size(), "bytes");
    return *stripped;
  }
  std::vector<char> bytes;
  if (!t.raw_data().empty())
    bytes.assign(t.raw_data().begin(), t.raw_data().end());
  else if (t.float_data_size())
    bytes = narrow(t.float_data(), 4);
  else if (t.int32_data_size())
    bytes = narrow(t.int32_data(), each);
  else if (t.int64_data_size())
    bytes = narrow(t.int64_data(), 8);
  else if (t.double_data_size())
    bytes = narrow(t.double_data(), 8);
  else if (t.uint64_data_size())
    bytes = narrow(t.uint64_data(), each);
  if (int64_t(bytes.size()) != want)
    return wrong(bytes.size(), "bytes");
  if (type.getElementType().isInteger(1))
    for (char &c : bytes)
      c = c != 0;
  auto owner = std::make_shared<const std::vector<char>>(std::move(bytes));
  return TensorBytes{{owner->data(), owner->size()}, owner};
}

} // namespace quaver::import
