#include "compiler/Weights/WeightStore.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "runtime/base/mapped_file.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace quaver {

int64_t storageBytes(Type element) { return (element.getIntOrFloatBitWidth() + 7) / 8; }
int64_t storageBytes(RankedTensorType type) {
  return type.getNumElements() * storageBytes(type.getElementType());
}

std::string WeightStore::add(StringRef name, WeightData data) {
  std::string clean;
  for (char c : name)
    clean += llvm::isAlnum(c) || c == '_' || c == '.' ? c : '_';
  if (clean.empty() || llvm::isDigit(clean[0]))
    clean = "w" + clean;
  std::string unique = clean;
  for (int i = 1; weights.count(unique); ++i)
    unique = clean + "_" + std::to_string(i);
  weights[unique] = std::move(data);
  return unique;
}

void WeightStore::pair(llvm::StringRef codes, llvm::StringRef scaledBy, llvm::StringRef recipe) {
  auto it = weights.find(codes);
  assert(it != weights.end() && weights.count(scaledBy) && "both halves are in the store");
  it->second.scales = scaledBy.str();
  scales.insert(scaledBy);
  it->second.recipe = recipe.str();
}

const WeightData *WeightStore::find(StringRef name) const {
  auto it = weights.find(name);
  return it == weights.end() ? nullptr : &it->second;
}

void WeightStore::release(StringRef name) const {
  const WeightData *w = find(name);
  if (w && w->isMapped)
    MappedFile::release(std::as_bytes(std::span(w->bytes.data(), w->bytes.size())));
}

std::vector<char> bytesOf(ElementsAttr value) {
  auto dense = cast<DenseElementsAttr>(value);
  auto type = cast<RankedTensorType>(dense.getType());
  int64_t size = storageBytes(type.getElementType()), n = type.getNumElements();
  std::vector<char> out(size * n);
  if (type.getElementType().isInteger(1)) {
    for (auto [i, v] : llvm::enumerate(dense.getValues<bool>()))
      out[i] = v;
    return out;
  }
  ArrayRef<char> raw = dense.getRawData();
  for (int64_t i = 0; i < n; ++i)
    std::copy_n(raw.data() + (dense.isSplat() ? 0 : i * size), size, out.data() + i * size);
  return out;
}

DenseElementsAttr attributeOf(RankedTensorType type, ArrayRef<char> bytes) {
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> values(bytes.begin(), bytes.end());
    return DenseElementsAttr::get(type, values);
  }
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

} // namespace quaver
