// A tensor on the host, as the interpreter computes with it.
#pragma once
#include "compiler/Weights/WeightStore.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "runtime/numerics/formats.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>

namespace quaver::interpreter {

using Shape = llvm::SmallVector<int64_t, 6>;

int64_t countOf(llvm::ArrayRef<int64_t> shape);

/// The manifest's type for an MLIR element type; Invalid for types no tensor may have (index, complex).
ElementType elementTypeOf(mlir::Type type);
mlir::Type mlirType(mlir::MLIRContext *context, ElementType type);

/// Row-major elements of a concrete shape; bool as one byte of 0 or 1. Copying shares the bytes, which never
/// change once a tensor has been handed on: only whoever made it with `make` may write, before that.
class Tensor {
public:
  Tensor() = default;
  /// Owned bytes, all zero.
  static Tensor make(ElementType type, llvm::ArrayRef<int64_t> shape);
  /// Bytes owned by somebody else: `owner` (may be null: they outlive the tensor) keeps them alive.
  static Tensor borrow(ElementType type, llvm::ArrayRef<int64_t> shape, const char *bytes,
                       std::shared_ptr<const void> owner = nullptr);
  static Tensor of(const WeightData &weight);
  static Tensor of(mlir::ElementsAttr value);
  static Tensor ints(llvm::ArrayRef<int64_t> values); // i64 [n]

  bool isNull() const { return elementType == ElementType::Invalid; }
  ElementType type() const { return elementType; }
  llvm::ArrayRef<int64_t> shape() const { return sizes; }
  int64_t rank() const { return int64_t(sizes.size()); }
  int64_t dim(int64_t d) const { return sizes[d]; }
  int64_t size() const { return count; }
  int64_t elementBytes() const { return bytes_of(elementType); }
  int64_t bytes() const { return count * elementBytes(); }
  const char *data() const { return first; }
  llvm::ArrayRef<char> span() const { return {first, size_t(bytes())}; }
  char *mutableData() { return const_cast<char *>(first); }
  template <class T> const T *as() const { return reinterpret_cast<const T *>(first); }
  template <class T> T *mutableAs() { return reinterpret_cast<T *>(mutableData()); }

  /// The same bytes under another shape of as many elements, or another type of the same width.
  Tensor reshaped(llvm::ArrayRef<int64_t> shape) const;
  Tensor bitcast(ElementType type) const;
  /// Converted by runtime/numerics; itself when the type is the same.
  Tensor to(ElementType type) const;
  /// f16, bf16 and 8-bit floats as f32; other types as they are.
  Tensor widened() const;
  /// One element, any type; integers of more than 53 bits through `integer`.
  double number(int64_t i) const;
  int64_t integer(int64_t i) const;
  llvm::SmallVector<int64_t> integers() const;

  mlir::RankedTensorType mlirType(mlir::MLIRContext *context) const;
  mlir::DenseElementsAttr attribute(mlir::MLIRContext *context) const;
  std::string typeString() const; // 2x3xf32
  /// The other half of a !scale.tensor, whose codes this tensor holds; a null tensor elsewhere.
  Tensor scales() const { return otherHalf ? *otherHalf : Tensor(); }
  Tensor withScales(const Tensor &scales) const;

private:
  ElementType elementType = ElementType::Invalid;
  Shape sizes;
  int64_t count = 0;
  const char *first = nullptr;
  std::shared_ptr<const void> owner;
  std::shared_ptr<const Tensor> otherHalf;
};

} // namespace quaver::interpreter
