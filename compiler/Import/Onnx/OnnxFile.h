// An ONNX file, read: the parsed model, with large initializers left where they are in the mapped file.
#pragma once
#include "compiler/Import/Onnx/onnx.pb.h"
#include "compiler/Weights/WeightStore.h"
#include "runtime/base/status.h"
#include <map>

namespace quaver::import {

/// Bytes and who keeps them alive.
struct TensorBytes {
  llvm::ArrayRef<char> bytes;
  std::shared_ptr<const void> owner;
  bool isMapped = false; // a part of a MappedFile
};

class OnnxFile {
public:
  /// Reads a file; external data lies in its folder.
  static StatusOr<std::unique_ptr<OnnxFile>> open(const std::string &path);
  /// Reads a serialized model; external data lies in `folder` (empty: there is none). `bytes` must outlive
  /// the result.
  static StatusOr<std::unique_ptr<OnnxFile>> parse(llvm::StringRef bytes, const std::string &folder,
                                                   const std::string &name);

  const onnx::Model &model() const { return parsed; }
  const std::string &name() const { return fileName; }
  /// The raw bytes of initializer `index` of the main graph where they were left in the file.
  std::optional<TensorBytes> stripped(int index) const;
  /// The bytes that a tensor's external_data names. After resolving links the file must lie in the model's
  /// folder or in that of the resolved model; it must be a regular file, and offset and length must lie
  /// inside it.
  StatusOr<TensorBytes> external(const onnx::Tensor &tensor);

private:
  Status read(llvm::ArrayRef<char> bytes);
  onnx::Model parsed;
  std::string fileName, folder, resolvedFolder;
  std::shared_ptr<const void> owner;
  std::map<int, llvm::ArrayRef<char>> spans;
  std::map<std::string, TensorBytes> files;
};

/// Element types of ONNX's TensorProto.DataType; null Type when we have none, with `why` saying what it is.
mlir::Type elementTypeOf(mlir::MLIRContext *context, int32_t onnxType, std::string *why = nullptr);

/// A tensor's elements in the weight store's layout, whatever the encoding. Checked: counts against dims,
/// ranges, sizes.
StatusOr<TensorBytes> tensorBytes(OnnxFile &file, const onnx::Tensor &tensor, mlir::RankedTensorType type,
                                  std::optional<TensorBytes> stripped = std::nullopt);

/// The static type of a tensor message; an error names the tensor and what is wrong with its dims or type.
StatusOr<mlir::RankedTensorType> tensorType(mlir::MLIRContext *context, const onnx::Tensor &tensor);

} // namespace quaver::import
