#include "compiler/Import/Onnx/NodeImport.h"
#include "compiler/Import/Onnx/Importer.h"

using namespace mlir;

namespace quaver::import {

enum AttributeType {
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8
};

void NodeImport::fail(std::string text) {
  if (message.empty())
    message = std::move(text);
  g.fail();
}

Value NodeImport::in(size_t i) {
  if (has(i))
    return items[i].value;
  error("input ", i,
        i < items.size() && items[i].sequence ? " is a sequence, expected a tensor" : " is missing");
  return graph::GraphBuilder(g.b, g.loc, g.shapes).scalar(0, g.b.getF32Type()); // thrown away
}

const std::vector<Value> &NodeImport::sequence(size_t i) {
  static const std::vector<Value> kNone;
  if (i < items.size() && items[i].sequence)
    return *items[i].sequence;
  error("input ", i, " is not a sequence whose elements are known at compile time");
  return kNone;
}

SmallVector<int64_t> NodeImport::constantInts(size_t i) {
  auto values = g.constants(in(i));
  if (values)
    return *values;
  error("input ", i, " must be constant here: its values decide shapes or axes at compile time");
  return {};
}

int64_t NodeImport::constantInt(size_t i) {
  SmallVector<int64_t> v = constantInts(i);
  if (v.size() == 1)
    return v[0];
  if (!failed())
    error("input ", i, " must have one element, has ", v.size());
  return 0;
}

std::optional<double> NodeImport::constantFloat(size_t i) {
  auto c = in(i).getDefiningOp<graph::ConstantOp>();
  auto dense = c ? dyn_cast<DenseElementsAttr>(c.getValue()) : DenseElementsAttr();
  if (!dense || dense.getNumElements() != 1)
    return std::nullopt;
  if (isa<IntegerType>(dense.getElementType()))
    return double((*dense.value_begin<APInt>()).getSExtValue());
  APFloat f = *dense.value_begin<APFloat>();
  bool lost;
  f.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return f.convertToDouble();
}

const onnx::Attribute *NodeImport::find(StringRef name) {
  for (const onnx::Attribute &a : node.attribute())
    if (StringRef(a.name()) == name)
      return importer.resolve(&a);
  return nullptr;
}

static bool isOf(NodeImport &n, const onnx::Attribute *a, int type, const char *what) {
  if (a->type() == type || a->type() == 0)
    return true;
  n.error("attribute ", a->name(), " has type ", a->type(), ", expected ", what);
  return false;
}

int64_t NodeImport::i(StringRef name, int64_t otherwise) {
  const onnx::Attribute *a = find(name);
  return a && isOf(*this, a, kInt, "an integer") ? a->i() : otherwise;
}
double NodeImport::f(StringRef name, double otherwise) {
  const onnx::Attribute *a = find(name);
  return a && isOf(*this, a, kFloat, "a float") ? double(a->f()) : otherwise;
}
std::string NodeImport::s(StringRef name, StringRef otherwise) {
  const onnx::Attribute *a = find(name);
  return a && isOf(*this, a, kString, "a string") ? a->s() : otherwise.str();
}
SmallVector<int64_t> NodeImport::ints(StringRef name, ArrayRef<int64_t> otherwise) {
  const onnx::Attribute *a = find(name);
  if (!a || !isOf(*this, a, kInts, "integers"))
    return SmallVector<int64_t>(otherwise);
  return SmallVector<int64_t>(a->ints().begin(), a->ints().end());
}
SmallVector<double> NodeImport::floats(StringRef name, ArrayRef<double> otherwise) {
  const onnx::Attribute *a = find(name);
  if (!a || !isOf(*this, a, kFloats, "floats"))
    return SmallVector<double>(otherwise);
  return SmallVector<double>(a->floats().begin(), a->floats().end());
}
const onnx::Graph *NodeImport::graph(StringRef name) {
  const onnx::Attribute *a = find(name);
  if (a && a->has_g())
    return &a->g();
  error("attribute ", name.str(), " must be a graph");
  return nullptr;
}

Type NodeImport::type(int64_t onnxType) {
  std::string why;
  Type t = elementTypeOf(g.b.getContext(), int32_t(onnxType), &why);
  if (t)
    return t;
  error(why);
  return g.b.getF32Type();
}

int64_t NodeImport::axis(int64_t value, int64_t rank) {
  if (value >= -rank && value < rank)
    return value < 0 ? value + rank : value;
  error("axis ", value, " is out of range for rank ", rank);
  return 0;
}

SmallVector<int64_t> NodeImport::axes(ArrayRef<int64_t> values, int64_t rank) {
  SmallVector<int64_t> out;
  for (int64_t v : values)
    out.push_back(axis(v, rank));
  llvm::sort(out);
  if (std::adjacent_find(out.begin(), out.end()) != out.end())
    error("an axis is named twice");
  return out;
}

} // namespace quaver::import
