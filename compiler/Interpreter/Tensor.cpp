#include "compiler/Interpreter/Tensor.h"
#include "mlir/AsmParser/AsmParser.h"
#include "runtime/numerics/codec.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace quaver::interpreter {

int64_t countOf(ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  return n;
}

ElementType elementTypeOf(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return element_type_from_mlir_name(name).value_or(ElementType::Invalid);
}

Type mlirType(MLIRContext *context, ElementType type) {
  return parseType(StringRef(mlir_name(type)), context);
}

Tensor Tensor::make(ElementType type, ArrayRef<int64_t> shape) {
  Tensor t;
  t.elementType = type;
  t.sizes.assign(shape.begin(), shape.end());
  t.count = countOf(shape);
  size_t bytes = size_t(t.count) * bytes_of(type);
  // calloc: large zeros cost nothing until they are touched.
  std::shared_ptr<char> storage(static_cast<char *>(std::calloc(bytes ? bytes : 1, 1)), std::free);
  if (!storage)
    llvm::report_bad_alloc_error("a tensor of the interpreter does not fit into memory");
  t.first = storage.get();
  t.owner = std::move(storage);
  return t;
}

Tensor Tensor::borrow(ElementType type, ArrayRef<int64_t> shape, const char *bytes,
                      std::shared_ptr<const void> owner) {
  Tensor t;
  t.elementType = type;
  t.sizes.assign(shape.begin(), shape.end());
  t.count = countOf(shape);
  t.first = bytes;
  t.owner = std::move(owner);
  return t;
}

// Typed loops read elements through pointers of their type; bytes in a mapped file need not be aligned.
static Tensor aligned(Tensor t) {
  if (t.elementBytes() <= 1 || reinterpret_cast<uintptr_t>(t.data()) % t.elementBytes() == 0)
    return t;
  Tensor copy = Tensor::make(t.type(), t.shape());
  std::memcpy(copy.mutableData(), t.data(), t.bytes());
  return copy;
}

Tensor Tensor::of(const WeightData &weight) {
  return aligned(borrow(elementTypeOf(weight.type.getElementType()), weight.type.getShape(),
                        weight.bytes.data(), weight.owner));
}

Tensor Tensor::of(ElementsAttr value) {
  auto type = cast<RankedTensorType>(value.getShapedType());
  Tensor t = make(elementTypeOf(type.getElementType()), type.getShape());
  std::vector<char> bytes = bytesOf(value);
  std::memcpy(t.mutableData(), bytes.data(), bytes.size());
  return t;
}

Tensor Tensor::ints(ArrayRef<int64_t> values) {
  Tensor t = make(ElementType::I64, {int64_t(values.size())});
  llvm::copy(values, t.mutableAs<int64_t>());
  return t;
}

Tensor Tensor::reshaped(ArrayRef<int64_t> shape) const {
  assert(countOf(shape) == count && "a reshape keeps all elements");
  Tensor t = *this;
  t.sizes.assign(shape.begin(), shape.end());
  return t;
}

Tensor Tensor::bitcast(ElementType type) const {
  assert(bytes_of(type) == elementBytes() && "a bitcast keeps the width");
  Tensor t = *this;
  t.elementType = type;
  return t;
}

Tensor Tensor::to(ElementType type) const {
  if (type == elementType)
    return *this;
  Tensor t = make(type, sizes);
  convert(elementType, first, type, t.mutableData(), size_t(count));
  return t;
}

Tensor Tensor::widened() const {
  return is_float(elementType) && elementBytes() < 4 ? to(ElementType::F32) : *this;
}

double Tensor::number(int64_t i) const {
  double v;
  convert(elementType, first + i * elementBytes(), ElementType::F64, &v, 1);
  return v;
}

int64_t Tensor::integer(int64_t i) const {
  int64_t v;
  convert(elementType, first + i * elementBytes(), ElementType::I64, &v, 1);
  return v;
}

SmallVector<int64_t> Tensor::integers() const {
  SmallVector<int64_t> values(count);
  convert(elementType, first, ElementType::I64, values.data(), size_t(count));
  return values;
}

RankedTensorType Tensor::mlirType(MLIRContext *context) const {
  return RankedTensorType::get(sizes, interpreter::mlirType(context, elementType));
}

DenseElementsAttr Tensor::attribute(MLIRContext *context) const {
  return attributeOf(mlirType(context), span());
}

Tensor Tensor::withScales(const Tensor &scales) const {
  Tensor t = *this;
  t.otherHalf = scales.isNull() ? nullptr : std::make_shared<const Tensor>(scales);
  return t;
}

std::string Tensor::typeString() const {
  std::string s;
  for (int64_t d : sizes)
    s += std::to_string(d) + "x";
  return s + std::string(mlir_name(elementType));
}

} // namespace quaver::interpreter
