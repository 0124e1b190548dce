// From an ONNX model to a module of graph ops.
#pragma once
#include "compiler/Import/Safetensors/Safetensors.h"
#include "compiler/Weights/WeightStore.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/base/status.h"
#include <map>
#include <string>

namespace quaver::import {

struct ImportOptions {
  std::map<std::string, std::pair<int64_t, int64_t>>
      dims; // inclusive ranges of dimension symbols, by the model's names
  /// Initializers that have the name of a tensor in it take their bytes from there; null: none do. FP8 codes
  /// come with "NAME_scale_inv" or "NAME_scale", one for the tensor, a row, or a block; they become codes and
  /// scales with a dequantize, whatever float type the initializer has. Outlives the import.
  const SafetensorsCheckpoint *checkpoint = nullptr;
};

/// What a model became: one entry @main, its dimension symbols and weights. The store's spans point into the
/// mapped file.
struct ImportedModel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  WeightStore weights;
  std::string name;
  std::string notes; // what the user should know
};

/// Imports a file (external data lies beside it). All unsupported operators are listed in one error, with
/// node names.
StatusOr<ImportedModel> importOnnx(mlir::MLIRContext &context, const std::string &path,
                                   const ImportOptions &options = {});
/// Imports a serialized model, which must outlive the result.
StatusOr<ImportedModel> importOnnx(mlir::MLIRContext &context, llvm::StringRef bytes,
                                   const std::string &folder, const ImportOptions &options = {});

/// Operators that have a handler, over all domains.
size_t operatorCount();

} // namespace quaver::import
