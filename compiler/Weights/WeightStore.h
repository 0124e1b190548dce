// The bytes behind graph.weight symbols during one compilation.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <memory>
#include <string>
#include <vector>

namespace quaver {

/// One constant tensor: row-major, little-endian, i1 as one byte of 0 or 1.
struct WeightData {
  mlir::RankedTensorType type;
  llvm::ArrayRef<char> bytes;
  std::string sourceName;            // as the model names it
  std::string program;               // what was done to it since, readable
  std::shared_ptr<const void> owner; // keeps the bytes alive: a mapped file, or the vector that holds them
  std::string scales;                // FP8 codes: the symbol of the weight that holds their scales
  std::string recipe;                // and how they are laid out: 128x128, per_tensor, ...; empty elsewhere
  bool isMapped = false;             // the bytes are part of a MappedFile
};

/// Symbol name -> bytes. Spans point into mapped files wherever nothing was computed, so that compiling needs
/// no second copy of a model's weights. Not thread-safe.
class WeightStore {
public:
  /// Adds under a name made unique from `name`, and returns it.
  std::string add(llvm::StringRef name, WeightData data);
  /// Says that `codes` are scaled by `scales` (both symbols of this store).
  void pair(llvm::StringRef codes, llvm::StringRef scales, llvm::StringRef recipe);
  bool isScales(llvm::StringRef name) const { return scales.contains(name); }
  const WeightData *find(llvm::StringRef name) const;
  /// Memory of a mapped weight may go until it is read again; nothing for others.
  void release(llvm::StringRef name) const;
  void erase(llvm::StringRef name) { weights.erase(name); }

private:
  llvm::StringMap<WeightData> weights;
  llvm::StringSet<> scales;
};

/// Bytes of one element in memory (i1: 1), and of a whole static tensor.
int64_t storageBytes(mlir::Type element);
int64_t storageBytes(mlir::RankedTensorType type);

/// The bytes of a constant's attribute in the store's layout.
std::vector<char> bytesOf(mlir::ElementsAttr value);
/// The attribute of bytes in the store's layout.
mlir::DenseElementsAttr attributeOf(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes);

} // namespace quaver
