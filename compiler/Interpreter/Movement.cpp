// Data movement that no index tensor decides.
#include "compiler/Interpreter/Eval.h"
#include <cmath>
#include <cstring>

using namespace mlir;

namespace quaver::interpreter {
namespace {

LogicalResult evalReshape(Eval &e) {
  bool allowZero = cast<graph::ReshapeOp>(e.op).getAllowZero();
  const Tensor &x = e.in[0];
  SmallVector<int64_t> want = e.in[1].integers();
  Shape shape;
  int64_t rest = -1, known = 1;
  for (auto [i, d] : llvm::enumerate(want)) {
    int64_t size = d;
    if (d == 0 && !allowZero) {
      if (int64_t(i) >= x.rank())
        return e.error() << "copies dimension " << i << " of " << x.typeString() << ", which has none";
      size = x.dim(i);
    }
    if (d == -1) {
      if (rest >= 0)
        return e.error() << "has two sizes of -1";
      rest = i;
      size = 1;
    }
    if (size < 0)
      return e.error() << "has a negative size " << size;
    known *= size;
    shape.push_back(size);
  }
  if (rest >= 0) {
    if (known == 0 || x.size() % known)
      return e.error() << "cannot give " << x.typeString() << " a shape whose other sizes make " << known
                       << " elements";
    shape[rest] = x.size() / known;
  }
  if (countOf(shape) != x.size()) {
    std::string text;
    for (int64_t d : shape)
      text += (text.empty() ? "" : "x") + std::to_string(d);
    return e.error() << "cannot give " << x.typeString() << " the shape " << text;
  }
  return e.give(x.reshaped(shape));
}

LogicalResult evalExpandDims(Eval &e) {
  Shape shape(e.in[0].shape());
  for (int64_t a : cast<graph::ExpandDimsOp>(e.op).getAxes()) {
    if (a < 0 || a > int64_t(shape.size()))
      return e.error() << "has axis " << a << " out of range for " << e.operandTypes();
    shape.insert(shape.begin() + a, 1);
  }
  return e.give(e.in[0].reshaped(shape));
}
LogicalResult evalSqueeze(Eval &e) {
  auto axes = cast<graph::SqueezeOp>(e.op).getAxes();
  Shape shape;
  for (auto [d, size] : llvm::enumerate(e.in[0].shape())) {
    bool removed = llvm::is_contained(axes, int64_t(d));
    if (removed && size != 1)
      return e.error() << "removes dimension " << d << " of " << e.in[0].typeString() << ", which is not 1";
    if (!removed)
      shape.push_back(size);
  }
  return e.give(e.in[0].reshaped(shape));
}
LogicalResult evalExpand(Eval &e) {
  SmallVector<int64_t> want = e.in[1].integers();
  auto shape = broadcastShapes({e.in[0].shape(), want});
  if (!shape)
    return e.error() << "cannot broadcast " << e.in[0].typeString() << " to the sizes given";
  return e.give(stridedCopy(e.in[0], 0, broadcastStrides(e.in[0].shape(), *shape), *shape));
}
LogicalResult evalTranspose(Eval &e) {
  const Tensor &x = e.in[0];
  auto permutation = cast<graph::TransposeOp>(e.op).getPermutation();
  if (int64_t(permutation.size()) != x.rank())
    return e.error() << "permutes " << permutation.size() << " dimensions of " << x.typeString();
  Strides own = stridesOf(x.shape()), strides;
  Shape shape;
  for (int64_t p : permutation)
    strides.push_back(own[p]), shape.push_back(x.dim(p));
  return e.give(stridedCopy(x, 0, strides, shape));
}

LogicalResult evalSlice(Eval &e) {
  const Tensor &x = e.in[0];
  auto axes = cast<graph::SliceOp>(e.op).getAxes();
  SmallVector<int64_t> starts = e.in[1].integers(), ends = e.in[2].integers(), steps = e.in[3].integers();
  if (starts.size() != axes.size() || ends.size() != axes.size() || steps.size() != axes.size())
    return e.error() << "needs one start, end and step per axis; got " << e.operandTypes();
  Strides strides = stridesOf(x.shape());
  Shape shape(x.shape());
  int64_t first = 0;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (axis < 0 || axis >= x.rank())
      return e.error() << "has axis " << axis << " out of range for " << x.typeString();
    int64_t n = x.dim(axis), step = steps[i];
    if (step == 0)
      return e.error() << "has a step of 0";
    auto clamp = [&](int64_t p) {
      if (p < 0)
        p = p < -n ? -1 : p + n; // INT64_MIN stays below
      int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
      return std::min(std::max(p, low), high);
    };
    int64_t start = clamp(starts[i]), end = clamp(ends[i]);
    int64_t span = step > 0 ? end - start : start - end;
    uint64_t stride = step > 0 ? uint64_t(step) : 0 - uint64_t(step);
    int64_t size = span <= 0 ? 0 : int64_t((uint64_t(span) - 1) / stride) + 1;
    shape[axis] = size;
    if (size > 0)
      first += start * strides[axis];
    strides[axis] = size > 1 ? strides[axis] * step : 0;
  }
  return e.give(stridedCopy(x, countOf(shape) ? first : 0, strides, shape));
}

LogicalResult evalConcat(Eval &e) {
  int64_t axis = cast<graph::ConcatOp>(e.op).getAxis();
  if (axis < 0 || axis >= e.in[0].rank())
    return e.error() << "has axis " << axis << " out of range for " << e.operandTypes();
  Shape shape(e.in[0].shape());
  shape[axis] = 0;
  for (const Tensor &t : e.in) {
    bool fits = t.rank() == int64_t(shape.size()) && t.type() == e.in[0].type();
    for (int64_t d = 0; fits && d < t.rank(); ++d)
      fits = d == axis || t.dim(d) == shape[d];
    if (!fits)
      return e.error() << "joins tensors that differ beside axis " << axis << ": " << e.operandTypes();
    shape[axis] += t.dim(axis);
  }
  Tensor out = Tensor::make(e.in[0].type(), shape);
  AxisView all(shape, axis);
  int64_t row = all.size * all.inner * out.elementBytes(), at = 0;
  for (const Tensor &t : e.in) {
    int64_t part = t.dim(axis) * all.inner * out.elementBytes();
    if (part)
      for (int64_t o = 0; o < all.outer; ++o)
        std::memcpy(out.mutableData() + o * row + at, t.data() + o * part, part);
    at += part;
  }
  return e.give(out);
}

// Which input index position `i` of a padded dimension reads; -1: the padding value.
int64_t paddedIndex(graph::PadMode mode, int64_t i, int64_t n) {
  if (i >= 0 && i < n)
    return i;
  switch (mode) {
  case graph::PadMode::constant:
    return -1;
  case graph::PadMode::edge:
    return i < 0 ? 0 : n - 1;
  case graph::PadMode::wrap:
    return ((i % n) + n) % n;
  case graph::PadMode::reflect: {
    if (n == 1)
      return 0;
    int64_t period = 2 * (n - 1), p = ((i % period) + period) % period;
    return p < n ? p : period - p;
  }
  }
  llvm_unreachable("a padding mode");
}

LogicalResult evalPad(Eval &e) {
  auto op = cast<graph::PadOp>(e.op);
  const Tensor &x = e.in[0];
  auto axes = op.getAxes();
  SmallVector<int64_t> pads = e.in[1].integers();
  if (pads.size() != 2 * axes.size())
    return e.error() << "needs two pads per axis, got " << pads.size() << " for " << axes.size() << " axes";
  Shape shape(x.shape());
  SmallVector<int64_t> before(x.rank(), 0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (axis < 0 || axis >= x.rank())
      return e.error() << "has axis " << axis << " out of range for " << x.typeString();
    before[axis] = pads[i];
    shape[axis] += pads[i] + pads[i + axes.size()];
    if (shape[axis] < 0)
      return e.error() << "crops more than dimension " << axis << " of " << x.typeString() << " has";
    if (x.dim(axis) == 0 && shape[axis] > 0 && op.getMode() != graph::PadMode::constant)
      return e.error() << "has nothing to repeat in dimension " << axis << " of " << x.typeString();
  }
  Tensor out = Tensor::make(x.type(), shape);
  if (out.size() == 0)
    return e.give(out);
  Strides strides = stridesOf(x.shape());
  SmallVector<SmallVector<int64_t>> source(x.rank());
  for (int64_t d = 0; d < x.rank(); ++d)
    for (int64_t i = 0; i < shape[d]; ++i) {
      int64_t p = paddedIndex(op.getMode(), i - before[d], x.dim(d));
      source[d].push_back(p < 0 ? -1 : p * strides[d]);
    }
  onWidth(x.elementBytes(), [&](auto zero) {
    using T = decltype(zero);
    T fill = op.getMode() == graph::PadMode::constant ? *e.in[2].as<T>() : T(0);
    const T *from = x.as<T>();
    T *to = out.mutableAs<T>();
    Strides index(x.rank(), 0);
    for (int64_t i = 0; i < out.size(); ++i) {
      int64_t at = 0;
      bool inside = true;
      for (int64_t d = 0; d < x.rank() && inside; ++d) {
        int64_t p = source[d][index[d]];
        inside = p >= 0;
        at += p;
      }
      to[i] = inside ? from[at] : fill;
      for (int64_t d = x.rank() - 1; d >= 0 && ++index[d] == shape[d]; --d)
        index[d] = 0;
    }
  });
  return e.give(out);
}

LogicalResult evalShape(Eval &e) {
  auto op = cast<graph::ShapeOp>(e.op);
  return e.give(Tensor::ints(e.in[0].shape().slice(op.getStart(), op.getEnd() - op.getStart())));
}

LogicalResult evalRange(Eval &e) {
  for (const Tensor &t : e.in)
    if (t.size() != 1)
      return e.error() << "needs operands of one element, got " << e.operandTypes();
  Tensor start = e.in[0].widened(), limit = e.in[1].widened(), delta = e.in[2].widened();
  Tensor out;
  bool zeroStep = false;
  bool known = onNumber(start.type(), [&](auto zero) {
    using T = decltype(zero);
    T first = *start.as<T>(), last = *limit.as<T>(), step = *delta.as<T>();
    if (step == T(0))
      return void(zeroStep = true);
    int64_t n;
    if constexpr (std::is_integral_v<T>) {
      __int128 span = __int128(last) - first, s = step;
      n = int64_t(s > 0 ? (span + s - 1) / s : (span + s + 1) / s);
    } else {
      n = int64_t(std::ceil((double(last) - double(first)) / double(step)));
    }
    out = Tensor::make(start.type(), {std::max<int64_t>(n, 0)});
    for (int64_t i = 0; i < out.size(); ++i)
      out.mutableAs<T>()[i] = T(first + T(i) * step);
  });
  if (zeroStep)
    return e.error() << "has a step of 0";
  if (!known)
    return e.error() << "is not defined for " << e.operandTypes();
  return e.give(out.to(e.in[0].type()));
}

} // namespace

void addMovement(EvalTable &t) {
  add<graph::ReshapeOp>(t, evalReshape);
  add<graph::ExpandDimsOp>(t, evalExpandDims);
  add<graph::SqueezeOp>(t, evalSqueeze);
  add<graph::ExpandOp>(t, evalExpand);
  add<graph::TransposeOp>(t, evalTranspose);
  add<graph::SliceOp>(t, evalSlice);
  add<graph::ConcatOp>(t, evalConcat);
  add<graph::PadOp>(t, evalPad);
  add<graph::ShapeOp>(t, evalShape);
  add<graph::RangeOp>(t, evalRange);
}

} // namespace quaver::interpreter
