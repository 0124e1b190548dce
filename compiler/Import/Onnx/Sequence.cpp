// Sequences and optionals: lists known at compile time, so that nothing of them is left in the graph.
#include "compiler/Import/Onnx/NodeImport.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::import {
namespace {

void setList(NodeImport &n, std::vector<Value> list) { n.outputs[0].sequence = std::move(list); }
/// A constant position, counted from the end when negative.
int64_t position(NodeImport &n, size_t input, int64_t count, int64_t otherwise) {
  if (!n.has(input))
    return otherwise;
  int64_t p = n.constantInt(input);
  if (p < -count || p > count)
    n.error("position ", p, " is outside a sequence of ", count);
  return p < 0 ? p + count : p;
}

void construct(NodeImport &n) {
  std::vector<Value> list;
  for (size_t i = 0; i < n.inputCount(); ++i)
    list.push_back(n.in(i));
  setList(n, std::move(list));
}
void empty(NodeImport &n) { setList(n, {}); }
void at(NodeImport &n) {
  const std::vector<Value> &list = n.sequence(0);
  int64_t p = position(n, 1, list.size(), 0);
  if (n.failed())
    return;
  if (p >= int64_t(list.size()))
    return n.error("position ", p, " is outside a sequence of ", list.size());
  n.set(list[p]);
}
void insert(NodeImport &n) {
  std::vector<Value> list = n.sequence(0);
  int64_t p = position(n, 2, list.size(), list.size());
  if (n.failed())
    return;
  list.insert(list.begin() + p, n.in(1));
  setList(n, std::move(list));
}
void erase(NodeImport &n) {
  std::vector<Value> list = n.sequence(0);
  int64_t p = position(n, 1, list.size(), int64_t(list.size()) - 1);
  if (n.failed())
    return;
  if (p < 0 || p >= int64_t(list.size()))
    return n.error("position ", p, " is outside a sequence of ", list.size());
  list.erase(list.begin() + p);
  setList(n, std::move(list));
}
void length(NodeImport &n) { n.set(n.g.intScalar(int64_t(n.sequence(0).size()))); }
void splitTo(NodeImport &n) {
  Value x = n.in(0);
  int64_t axis = n.axis(n.i("axis", 0), n.g.rank(x));
  if (n.failed())
    return;
  auto size = n.g.shapes.dim(x, axis).getConstant();
  SmallVector<int64_t> sizes;
  bool keep = n.i("keepdims", 1) != 0 || n.has(1);
  if (!n.has(1) || n.g.rank(n.in(1)) == 0) {
    if (!size)
      return n.error("splits a size that is not known at compile time into a list; use Split");
    int64_t each = n.has(1) ? n.constantInt(1) : 1;
    if (each < 1)
      return n.error("splits into parts of ", each);
    for (int64_t left = *size; left > 0; left -= each)
      sizes.push_back(std::min(left, each));
  } else {
    sizes = n.constantInts(1);
  }
  std::vector<Value> list;
  int64_t begin = 0;
  for (int64_t s : sizes) {
    Value part = n.g.slice(x, axis, begin, begin + s);
    list.push_back(keep ? part : n.g.squeeze(part, {axis}));
    begin += s;
  }
  setList(n, std::move(list));
}
void concatFrom(NodeImport &n) {
  const std::vector<Value> &list = n.sequence(0);
  SmallVector<Value> parts(list.begin(), list.end());
  if (n.failed() || parts.empty())
    return n.error("joins an empty sequence");
  bool isNew = n.i("new_axis", 0) != 0;
  int64_t axis = n.axis(n.i("axis", 0), n.g.rank(parts[0]) + isNew);
  if (isNew)
    for (Value &p : parts)
      p = n.g.expandDims(p, {axis});
  n.set(n.g.concat(parts, axis));
}
void optional(NodeImport &n) { n.outputs[0] = n.items.empty() ? Item{} : n.items[0]; }
void optionalGet(NodeImport &n) {
  n.outputs[0] = n.items.empty() ? Item{} : n.items[0];
  if (!n.outputs[0].value && !n.outputs[0].sequence)
    n.error("reads an empty optional");
}
void optionalHas(NodeImport &n) {
  bool has = !n.items.empty() && (n.items[0].value || n.items[0].sequence);
  n.set(n.g.scalar(has, n.g.b.getI1Type()));
}

} // namespace

ArrayRef<HandlerRow> sequenceHandlers() {
  static const HandlerRow kRows[] = {
      {"", "SequenceConstruct", 11, 0, construct},
      {"", "SequenceEmpty", 11, 0, empty},
      {"", "SequenceAt", 11, 0, at},
      {"", "SequenceInsert", 11, 0, insert},
      {"", "SequenceErase", 11, 0, erase},
      {"", "SequenceLength", 11, 0, length},
      {"", "SplitToSequence", 11, 0, splitTo},
      {"", "ConcatFromSequence", 11, 0, concatFrom},
      {"", "Optional", 15, 0, optional},
      {"", "OptionalGetElement", 15, 0, optionalGet},
      {"", "OptionalHasElement", 15, 0, optionalHas},
  };
  return kRows;
}

} // namespace quaver::import
