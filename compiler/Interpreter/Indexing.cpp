// Gathers and scatters.
#include "compiler/Interpreter/Eval.h"
#include <cmath>
#include <cstring>

using namespace mlir;

namespace quaver::interpreter {
namespace {

// An index into a dimension of size n, counted from the end when negative; nullopt out of range.
std::optional<int64_t> wrapIndex(int64_t i, int64_t n) {
  if (i < 0)
    i += n;
  return i < 0 || i >= n ? std::nullopt : std::optional(i);
}
LogicalResult outOfRange(Eval &e, int64_t index, int64_t size) {
  return e.error() << "reads index " << index << " of a dimension of size " << size << "; operands "
                   << e.operandTypes();
}
LogicalResult badAxis(Eval &e, int64_t axis) {
  return e.error() << "has axis " << axis << " out of range for " << e.operandTypes();
}

LogicalResult evalGather(Eval &e) {
  const Tensor &data = e.in[0];
  int64_t axis = cast<graph::GatherOp>(e.op).getAxis();
  if (axis < 0 || axis >= data.rank())
    return badAxis(e, axis);
  SmallVector<int64_t> indices = e.in[1].integers();
  AxisView view(data.shape(), axis);
  Shape shape(data.shape().take_front(axis));
  shape.append(e.in[1].shape().begin(), e.in[1].shape().end());
  shape.append(data.shape().begin() + axis + 1, data.shape().end());
  for (int64_t &i : indices) {
    auto at = wrapIndex(i, view.size);
    if (!at)
      return outOfRange(e, i, view.size);
    i = *at;
  }
  Tensor out = Tensor::make(data.type(), shape);
  int64_t piece = view.inner * data.elementBytes();
  char *to = out.mutableData();
  if (piece)
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t i : indices) {
        std::memcpy(to, data.data() + (o * view.size + i) * piece, piece);
        to += piece;
      }
  return e.give(out);
}

// Calls f(position of the index, position in data) for every index of gather_elements or scatter_elements.
template <class F> LogicalResult forElements(Eval &e, int64_t axis, F f) {
  const Tensor &data = e.in[0], &indices = e.in[1];
  if (axis < 0 || axis >= data.rank())
    return badAxis(e, axis);
  bool fits = indices.rank() == data.rank();
  for (int64_t d = 0; fits && d < data.rank(); ++d)
    fits = d == axis || indices.dim(d) <= data.dim(d);
  if (!fits)
    return e.error() << "needs indices no larger than data beside axis " << axis << ", got "
                     << e.operandTypes();
  SmallVector<int64_t> index(indices.rank(), 0), at = indices.integers();
  Strides strides = stridesOf(data.shape());
  for (int64_t i = 0; i < indices.size(); ++i) {
    auto along = wrapIndex(at[i], data.dim(axis));
    if (!along)
      return outOfRange(e, at[i], data.dim(axis));
    int64_t position = *along * strides[axis];
    for (int64_t d = 0; d < data.rank(); ++d)
      if (d != axis)
        position += index[d] * strides[d];
    f(i, position);
    for (int64_t d = data.rank() - 1; d >= 0 && ++index[d] == indices.dim(d); --d)
      index[d] = 0;
  }
  return success();
}

LogicalResult evalGatherElements(Eval &e) {
  const Tensor &data = e.in[0];
  Tensor out = Tensor::make(data.type(), e.in[1].shape());
  int64_t width = data.elementBytes();
  if (failed(forElements(e, cast<graph::GatherElementsOp>(e.op).getAxis(), [&](int64_t i, int64_t at) {
        std::memcpy(out.mutableData() + i * width, data.data() + at * width, width);
      })))
    return failure();
  return e.give(out);
}

// Combines updates into a copy of data, element by element. Narrow floats are combined in f32 and rounded at
// every step, so that the order of updates is the only freedom.
class Combiner {
public:
  Combiner(const Tensor &data, const Tensor &updates, graph::ScatterKind kind)
      : kind(kind), target(Tensor::make(data.type(), data.shape())), updates(updates) {
    if (data.bytes())
      std::memcpy(target.mutableData(), data.data(), data.bytes());
  }
  bool combine(int64_t update, int64_t at, int64_t count) {
    int64_t width = target.elementBytes();
    char *to = target.mutableData() + at * width;
    const char *from = updates.data() + update * width;
    if (kind == graph::ScatterKind::none)
      return std::memcpy(to, from, count * width), true;
    if (target.type() == ElementType::BOOL) {
      for (int64_t i = 0; i < count; ++i) {
        bool either = kind == graph::ScatterKind::add || kind == graph::ScatterKind::max;
        to[i] = either ? to[i] | from[i] : to[i] & from[i];
      }
      return true;
    }
    Tensor x = Tensor::borrow(target.type(), {count}, to).widened(),
           y = Tensor::borrow(target.type(), {count}, from).widened();
    Tensor sum = Tensor::make(x.type(), {count});
    bool known = onNumber(x.type(), [&](auto zero) {
      using T = decltype(zero);
      for (int64_t i = 0; i < count; ++i)
        sum.mutableAs<T>()[i] = apply(x.as<T>()[i], y.as<T>()[i]);
    });
    if (known)
      std::memcpy(to, sum.to(target.type()).data(), count * width);
    return known;
  }
  Tensor result() { return target; }

private:
  template <class T> T apply(T x, T y) {
    switch (kind) {
    case graph::ScatterKind::add:
      return T(x + y);
    case graph::ScatterKind::mul:
      return T(x * y);
    case graph::ScatterKind::max:
      return x != x ? x : y != y || y > x ? y : x;
    case graph::ScatterKind::min:
      return x != x ? x : y != y || y < x ? y : x;
    case graph::ScatterKind::none:
      return y;
    }
    llvm_unreachable("a kind of scatter");
  }
  graph::ScatterKind kind;
  Tensor target, updates;
};

LogicalResult evalScatterElements(Eval &e) {
  auto op = cast<graph::ScatterElementsOp>(e.op);
  if (e.in[1].shape() != e.in[2].shape())
    return e.error() << "needs one update per index, got " << e.operandTypes();
  Combiner combiner(e.in[0], e.in[2], op.getKind());
  bool known = true;
  if (failed(
          forElements(e, op.getAxis(), [&](int64_t i, int64_t at) { known &= combiner.combine(i, at, 1); })))
    return failure();
  if (!known)
    return e.error() << "cannot combine " << e.operandTypes();
  return e.give(combiner.result());
}

// The coordinates of gather_nd and scatter_nd: calls f(number of the tuple, position of its slice in data,
// elements of the slice).
template <class F> LogicalResult forTuples(Eval &e, int64_t batchDims, F f) {
  const Tensor &data = e.in[0], &indices = e.in[1];
  if (indices.rank() < 1)
    return e.error() << "needs indices of rank >= 1";
  int64_t length = indices.dim(indices.rank() - 1), tuples = countOf(indices.shape().drop_back());
  if (batchDims + length > data.rank() || batchDims >= indices.rank())
    return e.error() << "indexes more dimensions than data has: " << e.operandTypes();
  for (int64_t d = 0; d < batchDims; ++d)
    if (indices.dim(d) != data.dim(d))
      return e.error() << "has batch dimensions that differ: " << e.operandTypes();
  int64_t batches = countOf(indices.shape().take_front(batchDims)), perBatch = batches ? tuples / batches : 0;
  int64_t batchElements = countOf(data.shape().drop_front(batchDims)),
          slice = countOf(data.shape().drop_front(batchDims + length));
  Strides strides = stridesOf(data.shape());
  SmallVector<int64_t> at = indices.integers();
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t position = (t / perBatch) * batchElements;
    for (int64_t i = 0; i < length; ++i) {
      auto along = wrapIndex(at[t * length + i], data.dim(batchDims + i));
      if (!along)
        return outOfRange(e, at[t * length + i], data.dim(batchDims + i));
      position += *along * strides[batchDims + i];
    }
    f(t, position, slice);
  }
  return success();
}

LogicalResult evalGatherNd(Eval &e) {
  const Tensor &data = e.in[0], &indices = e.in[1];
  int64_t batchDims = cast<graph::GatherNdOp>(e.op).getBatchDims();
  if (indices.rank() < 1 || batchDims + indices.dim(indices.rank() - 1) > data.rank())
    return e.error() << "indexes more dimensions than data has: " << e.operandTypes();
  Shape shape(indices.shape().drop_back());
  auto rest = data.shape().drop_front(batchDims + indices.dim(indices.rank() - 1));
  shape.append(rest.begin(), rest.end());
  Tensor out = Tensor::make(data.type(), shape);
  int64_t width = data.elementBytes();
  if (failed(forTuples(e, batchDims, [&](int64_t t, int64_t at, int64_t n) {
        if (n)
          std::memcpy(out.mutableData() + t * n * width, data.data() + at * width, n * width);
      })))
    return failure();
  return e.give(out);
}

LogicalResult evalScatterNd(Eval &e) {
  auto op = cast<graph::ScatterNdOp>(e.op);
  const Tensor &data = e.in[0], &indices = e.in[1], &updates = e.in[2];
  bool fits = indices.rank() >= 1 && indices.dim(indices.rank() - 1) <= data.rank();
  if (fits) {
    Shape want(indices.shape().drop_back());
    auto rest = data.shape().drop_front(indices.dim(indices.rank() - 1));
    want.append(rest.begin(), rest.end());
    fits = ArrayRef<int64_t>(want) == updates.shape();
  }
  if (!fits)
    return e.error() << "needs updates of the shape that indices and data give, got " << e.operandTypes();
  Combiner combiner(data, updates, op.getKind());
  bool known = true;
  if (failed(forTuples(e, 0, [&](int64_t t, int64_t at, int64_t n) {
        known &= n == 0 || combiner.combine(t * n, at, n);
      })))
    return failure();
  if (!known)
    return e.error() << "cannot combine " << e.operandTypes();
  return e.give(combiner.result());
}

} // namespace

void addIndexing(EvalTable &t) {
  add<graph::GatherOp>(t, evalGather);
  add<graph::GatherElementsOp>(t, evalGatherElements);
  add<graph::GatherNdOp>(t, evalGatherNd);
  add<graph::ScatterElementsOp>(t, evalScatterElements);
  add<graph::ScatterNdOp>(t, evalScatterNd);
}

} // namespace quaver::interpreter
