// !scale.tensor: how it is written, what it must hold, and its two halves.
#include "dialects/Scale/IR/ScaleDialect.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

namespace quaver::scale {

static void printSizes(raw_ostream &os, ArrayRef<int64_t> sizes, int64_t unknown) {
  for (int64_t s : sizes) {
    if (s == unknown)
      os << '?';
    else
      os << s;
    os << 'x';
  }
}

// <4096x7168xf8E4M3FN, scales = 128x128xf32>
Type ScaledTensorType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, blocks;
  Type element, scale;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape) || parser.parseType(element) ||
      parser.parseComma() || parser.parseKeyword("scales") || parser.parseEqual() ||
      parser.parseDimensionList(blocks) || parser.parseType(scale) || parser.parseGreater())
    return {};
  for (int64_t &b : blocks)
    if (ShapedType::isDynamic(b))
      b = kWhole;
  return getChecked([&] { return parser.emitError(at); }, parser.getContext(), ArrayRef<int64_t>(shape),
                    element, ArrayRef<int64_t>(blocks), scale);
}

void ScaledTensorType::print(AsmPrinter &printer) const {
  raw_ostream &os = printer.getStream();
  os << '<';
  printSizes(os, getShape(), ShapedType::kDynamic);
  os << getElementType() << ", scales = " << getLayout() << '>';
}

std::string ScaledTensorType::getLayout() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  printSizes(os, getBlocks(), kWhole);
  os << getScaleType();
  return text;
}

LogicalResult ScaledTensorType::verify(function_ref<InFlightDiagnostic()> error, ArrayRef<int64_t> shape,
                                       Type element, ArrayRef<int64_t> blocks, Type scale) {
  if (shape.empty() || shape.size() != blocks.size())
    return error() << "T1: " << blocks.size() << " block sizes for " << shape.size()
                   << " dimensions: there must be one for each, and at least one";
  if (!isa<Float8E4M3FNType, Float8E5M2Type>(element))
    return error() << "T2: codes are f8E4M3FN or f8E5M2, not " << element;
  if (!scale.isF32() && !isa<Float8E8M0FNUType>(scale))
    return error() << "T3: scales are f32 or f8E8M0FNU, not " << scale;
  for (int64_t b : blocks)
    if (b < 0)
      return error() << "T4: a block size is positive, or ? for the whole dimension";
  return success();
}

RankedTensorType ScaledTensorType::getCodesType() const {
  return RankedTensorType::get(getShape(), getElementType());
}

RankedTensorType ScaledTensorType::getScalesType() const {
  SmallVector<int64_t> counts;
  for (auto [size, block] : llvm::zip(getShape(), getBlocks()))
    counts.push_back(block == kWhole               ? 1
                     : ShapedType::isDynamic(size) ? size
                                                   : llvm::divideCeil(size, block));
  return RankedTensorType::get(counts, getScaleType());
}

int64_t blockExtent(int64_t block, int64_t size) { return block == ScaledTensorType::kWhole ? size : block; }

ArrayRef<int64_t> shapeOf(Type type) {
  if (auto s = dyn_cast<ScaledTensorType>(type))
    return s.getShape();
  return cast<RankedTensorType>(type).getShape();
}

Type elementOf(Type type) {
  if (auto s = dyn_cast<ScaledTensorType>(type))
    return s.getElementType();
  return cast<RankedTensorType>(type).getElementType();
}

bool differ(int64_t a, int64_t b) { return !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b) && a != b; }

LogicalResult require(Operation *op, const char *label, bool holds, const Twine &what) {
  if (holds)
    return success();
  return op->emitOpError() << label << ": " << what;
}

} // namespace quaver::scale
