// Shapes, slices, joins, gathers, scatters, constants.
#include "compiler/Import/Onnx/Importer.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::import {
namespace {

void reshape(NodeImport &n) {
  Value shape = n.opset < 5 ? n.g.ints(n.ints("shape")) : n.in(1);
  n.set(n.g.make<ReshapeOp>(n.g.element(n.in(0)), n.in(0), shape, n.i("allowzero", 0) != 0));
}
void flatten(NodeImport &n) {
  Value x = n.in(0);
  int64_t rank = n.g.rank(x), axis = n.i("axis", 1);
  if (axis < -rank || axis > rank)
    return n.error("axis ", axis, " is out of range for rank ", rank);
  if (axis < 0)
    axis += rank;
  Value rows = axis == 0
                   ? n.g.ints({1})
                   : n.g.expandDims(n.g.reduce(ReduceKind::prod, n.g.shapeOf(x, 0, axis), {0}, false), {0});
  Value columns = axis == rank
                      ? n.g.ints({1})
                      : n.g.expandDims(n.g.reduce(ReduceKind::prod, n.g.shapeOf(x, axis), {0}, false), {0});
  n.set(n.g.reshape(x, n.g.concat({rows, columns}, 0)));
}
void unsqueeze(NodeImport &n) {
  SmallVector<int64_t> axes = n.opset < 13 ? n.ints("axes") : n.constantInts(1);
  n.set(n.g.expandDims(n.in(0), n.axes(axes, n.g.rank(n.in(0)) + int64_t(axes.size()))));
}
void squeeze(NodeImport &n) {
  Value x = n.in(0);
  SmallVector<int64_t> axes;
  bool given = n.opset < 13 ? n.hasAttr("axes") : n.has(1);
  if (given) {
    axes = n.axes(n.opset < 13 ? n.ints("axes") : n.constantInts(1), n.g.rank(x));
  } else {
    for (int64_t d = 0; d < n.g.rank(x); ++d)
      if (n.g.shapes.dim(x, d) == DimExpr(1))
        axes.push_back(d);
  }
  n.set(n.g.squeeze(x, axes));
}
void expand(NodeImport &n) { n.set(n.g.expand(n.in(0), n.in(1))); }
void transpose(NodeImport &n) {
  SmallVector<int64_t> reversed(llvm::reverse(llvm::seq<int64_t>(0, n.g.rank(n.in(0)))));
  SmallVector<int64_t> permutation = n.ints("perm", reversed);
  if (permutation.size() != reversed.size())
    return n.error("perm has ", permutation.size(), " axes for rank ", reversed.size());
  n.set(n.g.make<TransposeOp>(n.g.element(n.in(0)), n.in(0), permutation));
}
void slice(NodeImport &n) {
  Value x = n.in(0);
  int64_t rank = n.g.rank(x);
  auto wide = [&](Value v) { return n.g.cast(v, n.g.b.getI64Type()); };
  Value starts = n.opset < 10 ? n.g.ints(n.ints("starts")) : wide(n.in(1)),
        ends = n.opset < 10 ? n.g.ints(n.ints("ends")) : wide(n.in(2));
  if (n.failed())
    return;
  int64_t count = cast<RankedTensorType>(starts.getType()).getNumElements();
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, count));
  if (n.opset < 10 && n.hasAttr("axes"))
    axes = n.ints("axes");
  if (n.opset >= 10 && n.has(3))
    axes = n.constantInts(3);
  for (int64_t &a : axes)
    a = n.axis(a, rank);
  Value steps = n.opset >= 10 && n.has(4) ? wide(n.in(4)) : n.g.ints(SmallVector<int64_t>(count, 1));
  n.set(n.g.make<SliceOp>(n.g.element(x), x, starts, ends, steps, axes));
}
void concat(NodeImport &n) {
  SmallVector<Value> parts;
  for (size_t i = 0; i < n.inputCount(); ++i)
    parts.push_back(n.in(i));
  if (parts.empty())
    return n.error("needs at least one input");
  n.set(n.g.make<ConcatOp>(n.g.element(parts[0]), parts,
                           n.axis(n.i("axis", n.opset < 4 ? 1 : 0), n.g.rank(parts[0]))));
}
void split(NodeImport &n) {
  Value x = n.in(0);
  int64_t axis = n.axis(n.i("axis", 0), n.g.rank(x)), parts = n.i("num_outputs", n.node.output_size());
  if (n.failed() || parts < 1)
    return;
  if (n.hasAttr("split") || n.has(1)) {
    Value sizes = n.opset < 13 ? n.g.ints(n.ints("split")) : n.in(1);
    Value begin = n.g.ints({0});
    for (size_t k = 0; k < n.outputs.size(); ++k) {
      Value end = n.g.add(begin, n.g.slice(sizes, 0, k, k + 1));
      n.set(k, n.g.slice(x, axis, begin, end));
      begin = end;
    }
    return;
  }
  // Equal parts, the last one smaller when they do not divide the size.
  Value each = n.g.div(n.g.add(n.g.dim(x, axis), n.g.ints({parts - 1})), n.g.ints({parts}));
  for (size_t k = 0; k < n.outputs.size(); ++k)
    n.set(k, n.g.slice(x, axis, n.g.mul(each, n.g.ints({int64_t(k)})),
                       n.g.mul(each, n.g.ints({int64_t(k) + 1}))));
}
void pad(NodeImport &n) {
  Value x = n.in(0);
  int64_t rank = n.g.rank(x);
  static const std::map<std::string, PadMode> kModes = {{"constant", PadMode::constant},
                                                        {"reflect", PadMode::reflect},
                                                        {"edge", PadMode::edge},
                                                        {"wrap", PadMode::wrap}};
  auto mode = kModes.find(n.s("mode", "constant"));
  if (mode == kModes.end())
    return n.error("mode is \"", n.s("mode", ""), "\", expected constant, reflect, edge or wrap");
  Value pads = n.opset < 11 ? n.g.ints(n.ints(n.opset < 2 ? "paddings" : "pads")) : n.in(1);
  Value value = n.opset < 11 ? n.g.scalarLike(n.f("value", 0), x) : n.has(2) ? n.in(2) : n.g.scalarLike(0, x);
  if (!n.failed() && n.g.rank(value) == 1)
    value = n.g.squeeze(value, {0});
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (n.has(3)) {
    axes = n.constantInts(3);
    for (int64_t &a : axes)
      a = n.axis(a, rank);
  }
  n.set(n.g.make<PadOp>(n.g.element(x), x, pads, value, axes, mode->second));
}
void gather(NodeImport &n) { n.set(n.g.gather(n.in(0), n.in(1), n.axis(n.i("axis", 0), n.g.rank(n.in(0))))); }
void gatherElements(NodeImport &n) {
  n.set(n.g.make<GatherElementsOp>(n.g.element(n.in(0)), n.in(0), n.in(1),
                                   n.axis(n.i("axis", 0), n.g.rank(n.in(0)))));
}
void gatherNd(NodeImport &n) {
  n.set(n.g.make<GatherNdOp>(n.g.element(n.in(0)), n.in(0), n.in(1), n.i("batch_dims", 0)));
}
ScatterKind scatterKind(NodeImport &n) {
  static const std::map<std::string, ScatterKind> kKinds = {{"none", ScatterKind::none},
                                                            {"add", ScatterKind::add},
                                                            {"mul", ScatterKind::mul},
                                                            {"max", ScatterKind::max},
                                                            {"min", ScatterKind::min}};
  auto it = kKinds.find(n.s("reduction", "none"));
  if (it != kKinds.end())
    return it->second;
  n.error("reduction is \"", n.s("reduction", ""), "\", expected none, add, mul, max or min");
  return ScatterKind::none;
}
void scatterElements(NodeImport &n) {
  n.set(n.g.make<ScatterElementsOp>(n.g.element(n.in(0)), n.in(0), n.in(1), n.in(2),
                                    n.axis(n.i("axis", 0), n.g.rank(n.in(0))), scatterKind(n)));
}
void scatterNd(NodeImport &n) {
  n.set(n.g.make<ScatterNdOp>(n.g.element(n.in(0)), n.in(0), n.in(1), n.in(2), scatterKind(n)));
}
void shape(NodeImport &n) {
  int64_t rank = n.g.rank(n.in(0)), start = n.i("start", 0), end = n.i("end", rank);
  auto clamp = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  start = clamp(start), end = std::max(clamp(end), start);
  n.set(n.g.shapeOf(n.in(0), start, end));
}
void size(NodeImport &n) {
  Value sizes = n.g.shapeOf(n.in(0));
  n.set(n.g.rank(n.in(0)) == 0 ? n.g.intScalar(1) : n.g.reduce(ReduceKind::prod, sizes, {0}, false));
}
void range(NodeImport &n) { n.set(n.g.make<RangeOp>(n.g.element(n.in(0)), n.in(0), n.in(1), n.in(2))); }
void constantOfShape(NodeImport &n) {
  Value value = n.g.scalar(0, n.g.b.getF32Type());
  if (const onnx::Attribute *a = n.find("value")) {
    auto v = n.importer.constant(a->t(), "value");
    if (!v.ok())
      return n.error(v.status().message());
    value = *v;
    if (n.g.rank(value) == 1)
      value = n.g.squeeze(value, {0});
  }
  if (n.failed())
    return;
  bool isScalar = n.g.shapes.dim(n.in(0), 0) == DimExpr(0);
  n.set(isScalar ? value : n.g.expand(value, n.in(0)));
}
void tile(NodeImport &n) {
  Value x = n.in(0), repeats = n.in(1);
  int64_t rank = n.g.rank(x);
  SmallVector<int64_t> axes;
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < rank; ++d) {
    axes.push_back(2 * d);
    sizes.push_back(n.g.slice(repeats, 0, d, d + 1));
    sizes.push_back(n.g.dim(x, d));
  }
  if (rank == 0)
    return n.set(x);
  Value wide = n.g.expand(n.g.expandDims(x, axes), n.g.concat(sizes, 0));
  n.set(n.g.reshape(wide, n.g.mul(n.g.shapeOf(x), repeats)));
}
void depthToSpace(NodeImport &n) {
  Value x = n.in(0);
  int64_t block = n.i("blocksize", 1);
  if (block < 1)
    return n.error("blocksize is ", block);
  Value c = n.g.div(n.g.dim(x, 1), n.g.ints({block * block})), b = n.g.ints({block});
  bool columnsFirst = n.s("mode", "DCR") == "CRD";
  Value parts = n.g.concat(columnsFirst ? SmallVector<Value>{n.g.dim(x, 0), c, b, b, n.g.shapeOf(x, 2)}
                                        : SmallVector<Value>{n.g.dim(x, 0), b, b, c, n.g.shapeOf(x, 2)},
                           0);
  Value y = n.g.transpose(n.g.reshape(x, parts), columnsFirst ? ArrayRef<int64_t>{0, 1, 4, 2, 5, 3}
                                                              : ArrayRef<int64_t>{0, 3, 4, 1, 5, 2});
  n.set(n.g.reshape(y, n.g.concat({n.g.dim(x, 0), c, n.g.mul(n.g.shapeOf(x, 2), b)}, 0)));
}
void spaceToDepth(NodeImport &n) {
  Value x = n.in(0);
  int64_t block = n.i("blocksize", 1);
  if (block < 1)
    return n.error("blocksize is ", block);
  Value b = n.g.ints({block}), h = n.g.div(n.g.dim(x, 2), b), w = n.g.div(n.g.dim(x, 3), b);
  Value y =
      n.g.transpose(n.g.reshape(x, n.g.concat({n.g.shapeOf(x, 0, 2), h, b, w, b}, 0)), {0, 3, 5, 1, 2, 4});
  n.set(n.g.reshape(y,
                    n.g.concat({n.g.dim(x, 0), n.g.mul(n.g.dim(x, 1), n.g.ints({block * block})), h, w}, 0)));
}
void trilu(NodeImport &n) {
  Value x = n.in(0);
  int64_t rank = n.g.rank(x);
  if (rank < 2)
    return n.error("needs a matrix, got rank ", rank);
  Value row = n.g.expandDims(n.g.iota(n.g.dim(x, rank - 2)), {1}),
        column = n.g.expandDims(n.g.iota(n.g.dim(x, rank - 1)), {0});
  Value k = n.has(1) ? n.in(1) : n.g.intScalar(0);
  Value diagonal = n.g.add(row, k);
  Value kept = n.g.compare(n.i("upper", 1) ? CompareKind::ge : CompareKind::le, column, diagonal);
  n.set(n.g.select(kept, x, n.g.scalarLike(0, x)));
}
void eyeLike(NodeImport &n) {
  Value x = n.in(0);
  Type t = n.hasAttr("dtype") ? n.type(n.i("dtype", 1)) : n.g.element(x);
  Value row = n.g.expandDims(n.g.iota(n.g.dim(x, 0)), {1}),
        column = n.g.expandDims(n.g.iota(n.g.dim(x, 1)), {0});
  Value on = n.g.compare(CompareKind::eq, n.g.add(row, n.g.intScalar(n.i("k", 0))), column);
  n.set(n.g.select(on, n.g.scalar(1, t), n.g.scalar(0, t)));
}
void oneHot(NodeImport &n) {
  Value indices = n.in(0), depth = n.in(1), values = n.in(2);
  int64_t rank = n.g.rank(indices), axis = n.axis(n.i("axis", -1), rank + 1);
  Type i64 = n.g.b.getI64Type();
  if (!n.failed() && n.g.rank(depth) == 0)
    depth = n.g.expandDims(depth, {0});
  depth = n.g.cast(depth, i64);
  Value i = n.g.expandDims(n.g.cast(indices, i64), {axis});
  Value wrapped = n.g.make<RemOp>(i64, i, depth, false);
  SmallVector<int64_t> others;
  for (int64_t d = 0; d <= rank; ++d)
    if (d != axis)
      others.push_back(d);
  Value hot = n.g.compare(CompareKind::eq, n.g.expandDims(n.g.iota(depth), others), wrapped);
  Value inside = n.g.make<AndOp>(n.g.b.getI1Type(), n.g.compare(CompareKind::ge, i, n.g.unary<NegOp>(depth)),
                                 n.g.compare(CompareKind::lt, i, depth));
  Value on = n.g.squeeze(n.g.slice(values, 0, 1, 2), {0}), off = n.g.squeeze(n.g.slice(values, 0, 0, 1), {0});
  n.set(n.g.select(n.g.make<AndOp>(n.g.b.getI1Type(), hot, inside), on, off));
}
void constant(NodeImport &n) {
  Type i64 = n.g.b.getI64Type(), f32 = n.g.b.getF32Type();
  if (const onnx::Attribute *a = n.find("value")) {
    auto v = n.importer.constant(a->t(), n.node.name().empty() ? n.node.output(0) : n.node.name());
    return v.ok() ? n.set(*v) : n.error(v.status().message());
  }
  if (n.hasAttr("value_int"))
    return n.set(n.g.intScalar(n.i("value_int", 0), i64));
  if (n.hasAttr("value_float"))
    return n.set(n.g.scalar(n.f("value_float", 0), f32));
  if (n.hasAttr("value_ints"))
    return n.set(n.g.ints(n.ints("value_ints")));
  if (n.hasAttr("value_floats")) {
    SmallVector<float> v;
    for (double x : n.floats("value_floats"))
      v.push_back(float(x));
    auto type = RankedTensorType::get({int64_t(v.size())}, f32);
    return n.set(n.g.make<ConstantOp>(f32, DenseElementsAttr::get(type, ArrayRef<float>(v))));
  }
  n.error("its value is a string or sparse tensor, which are not supported");
}
void reverseSequence(NodeImport &n) {
  Value x = n.in(0);
  int64_t time = n.axis(n.i("time_axis", 0), 2), batch = n.axis(n.i("batch_axis", 1), 2);
  Value position = n.g.iota(n.g.dim(x, time)), length = n.in(1);
  Value t = n.g.expandDims(position, {time == 0 ? 1 : 0}), l = n.g.expandDims(length, {batch == 0 ? 1 : 0});
  Value source = n.g.select(n.g.compare(CompareKind::lt, t, l), n.g.sub(n.g.add(l, -1.0), t), t);
  Value b = n.g.expandDims(n.g.iota(n.g.dim(x, batch)), {batch == 0 ? 1 : 0});
  b = n.g.expand(b, n.g.shapeOf(source));
  Value where =
      n.g.concat(time == 0 ? SmallVector<Value>{n.g.expandDims(source, {2}), n.g.expandDims(b, {2})}
                           : SmallVector<Value>{n.g.expandDims(b, {2}), n.g.expandDims(source, {2})},
                 2);
  n.set(n.g.make<GatherNdOp>(n.g.element(x), x, where, 0));
}
void compress(NodeImport &n) {
  Value x = n.in(0), condition = n.in(1);
  int64_t axis = 0;
  if (n.hasAttr("axis"))
    axis = n.axis(n.i("axis", 0), n.g.rank(x));
  else
    x = n.g.reshape(x, {-1});
  Value kept = n.g.make<NonZeroOp>(n.g.b.getI64Type(), condition);
  n.set(n.g.gather(x, n.g.squeeze(kept, {0}), axis));
}

} // namespace

ArrayRef<HandlerRow> movementHandlers() {
  static const HandlerRow kRows[] = {
      {"", "Reshape", 1, 0, reshape},
      {"", "Flatten", 1, 0, flatten},
      {"", "Unsqueeze", 1, 0, unsqueeze},
      {"", "Squeeze", 1, 0, squeeze},
      {"", "Expand", 8, 0, expand},
      {"", "Transpose", 1, 0, transpose},
      {"", "Slice", 1, 0, slice},
      {"", "Concat", 1, 0, concat},
      {"", "Split", 2, 0, split},
      {"", "Pad", 1, 0, pad},
      {"", "Gather", 1, 0, gather},
      {"", "GatherElements", 11, 0, gatherElements},
      {"", "GatherND", 11, 0, gatherNd},
      {"", "ScatterElements", 11, 0, scatterElements},
      {"", "Scatter", 9, 10, scatterElements},
      {"", "ScatterND", 11, 0, scatterNd},
      {"", "Shape", 1, 0, shape},
      {"", "Size", 1, 0, size},
      {"", "Range", 11, 0, range},
      {"", "ConstantOfShape", 9, 0, constantOfShape},
      {"", "Tile", 6, 0, tile},
      {"", "DepthToSpace", 1, 0, depthToSpace},
      {"", "SpaceToDepth", 1, 0, spaceToDepth},
      {"", "Trilu", 14, 0, trilu},
      {"", "EyeLike", 9, 0, eyeLike},
      {"", "OneHot", 9, 0, oneHot},
      {"", "Constant", 1, 0, constant},
      {"", "ReverseSequence", 10, 0, reverseSequence},
      {"", "Compress", 9, 0, compress},
  };
  return kRows;
}

} // namespace quaver::import
