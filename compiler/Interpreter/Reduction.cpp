// Reductions, running sums, top_k, non_zero, unique.
#include "compiler/Interpreter/Eval.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>

using namespace mlir;

namespace quaver::interpreter {
namespace {

using graph::ReduceKind;

LogicalResult badAxis(Eval &e, int64_t axis) {
  return e.error() << "has axis " << axis << " out of range for " << e.operandTypes();
}

template <class T> T start(ReduceKind kind) {
  using Limits = std::numeric_limits<T>;
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
    return T(0);
  case ReduceKind::prod:
    return T(1);
  case ReduceKind::max:
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  case ReduceKind::min:
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  llvm_unreachable("a kind of reduction");
}
template <class T> T combine(ReduceKind kind, T x, T y) {
  using W = std::conditional_t<std::is_integral_v<T>, uint64_t, T>; // integers wrap
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
    return T(W(x) + W(y));
  case ReduceKind::prod:
    return T(W(x) * W(y));
  case ReduceKind::max:
    return x != x ? x : y != y || y > x ? y : x;
  case ReduceKind::min:
    return x != x ? x : y != y || y < x ? y : x;
  }
  llvm_unreachable("a kind of reduction");
}

LogicalResult evalReduce(Eval &e) {
  auto op = cast<graph::ReduceOp>(e.op);
  bool isBool = e.in[0].type() == ElementType::BOOL;
  Tensor x = isBool ? e.in[0].bitcast(ElementType::U8) : e.in[0].widened();
  Shape kept(x.shape());
  int64_t reduced = 1;
  for (int64_t a : op.getAxes()) {
    if (a < 0 || a >= x.rank())
      return badAxis(e, a);
    reduced *= kept[a];
    kept[a] = 1;
  }
  Tensor out = Tensor::make(x.type(), kept);
  ReduceKind kind = op.getKind();
  Strides to = broadcastStrides(kept, x.shape());
  bool known = onNumber(x.type(), [&](auto zero) {
    using T = decltype(zero);
    T *result = out.mutableAs<T>();
    std::fill_n(result, out.size(), start<T>(kind));
    walkRows<2>(Shape(x.shape()), {stridesOf(x.shape()), to}, [&](auto at, auto step, int64_t n) {
      const T *row = x.as<T>() + at[0];
      T *r = result + at[1];
      if (step[1] == 0) {
        T acc = *r;
        for (int64_t i = 0; i < n; ++i)
          acc = combine(kind, acc, row[i * step[0]]);
        *r = acc;
      } else {
        for (int64_t i = 0; i < n; ++i)
          r[i * step[1]] = combine(kind, r[i * step[1]], row[i * step[0]]);
      }
    });
    if (kind == ReduceKind::mean)
      for (int64_t i = 0; i < out.size(); ++i)
        result[i] = std::is_integral_v<T> && reduced == 0 ? T(0) : T(result[i] / T(reduced));
  });
  if (!known)
    return e.error() << "is not defined for " << e.operandTypes();
  Shape shape;
  for (auto [d, size] : llvm::enumerate(kept))
    if (op.getKeepDims() || !llvm::is_contained(op.getAxes(), int64_t(d)))
      shape.push_back(size);
  out = isBool ? out.bitcast(ElementType::BOOL) : out.to(e.in[0].type());
  return e.give(out.reshaped(shape));
}

// Is x better than y? NaN is better than all numbers (numpy).
template <class T> bool beats(T x, T y, bool largest) {
  if (y != y)
    return false;
  if (x != x)
    return true;
  return largest ? x > y : x < y;
}

LogicalResult evalArgReduce(Eval &e) {
  auto op = cast<graph::ArgReduceOp>(e.op);
  Tensor x = e.in[0].widened();
  int64_t axis = op.getAxis();
  if (axis < 0 || axis >= x.rank())
    return badAxis(e, axis);
  AxisView view(x.shape(), axis);
  if (view.size == 0)
    return e.error() << "has no elements to choose from in " << e.operandTypes();
  bool largest = op.getKind() == ReduceKind::max, last = op.getSelectLast();
  Shape shape(x.shape());
  shape[axis] = 1;
  Tensor out = Tensor::make(ElementType::I64, shape);
  bool known = onNumber(x.type(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t i = 0; i < view.inner; ++i) {
        const T *row = x.as<T>() + o * view.size * view.inner + i;
        int64_t best = 0;
        for (int64_t p = 1; p < view.size; ++p) {
          T a = row[p * view.inner], b = row[best * view.inner];
          if (beats(a, b, largest) || (last && a == b))
            best = p;
        }
        out.mutableAs<int64_t>()[o * view.inner + i] = best;
      }
  });
  if (!known)
    return e.error() << "is not defined for " << e.operandTypes();
  if (!op.getKeepDims())
    shape.erase(shape.begin() + axis);
  return e.give(out.reshaped(shape));
}

LogicalResult evalCumulative(Eval &e) {
  auto op = cast<graph::CumulativeOp>(e.op);
  Tensor x = e.in[0].widened(), out = Tensor::make(x.type(), x.shape());
  int64_t axis = op.getAxis();
  if (axis < 0 || axis >= x.rank())
    return badAxis(e, axis);
  AxisView view(x.shape(), axis);
  bool known = onNumber(x.type(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t i = 0; i < view.inner; ++i) {
        int64_t base = o * view.size * view.inner + i;
        T acc = start<T>(op.getKind());
        for (int64_t p = 0; p < view.size; ++p) {
          int64_t at = base + (op.getReverse() ? view.size - 1 - p : p) * view.inner;
          T next = combine(op.getKind(), acc, x.as<T>()[at]);
          out.mutableAs<T>()[at] = op.getExclusive() ? acc : next;
          acc = next;
        }
      }
  });
  if (!known)
    return e.error() << "is not defined for " << e.operandTypes();
  return e.give(out.to(e.in[0].type()));
}

LogicalResult evalTopK(Eval &e) {
  auto op = cast<graph::TopKOp>(e.op);
  Tensor x = e.in[0].widened();
  int64_t axis = op.getAxis();
  if (axis < 0 || axis >= x.rank())
    return badAxis(e, axis);
  if (e.in[1].size() != 1)
    return e.error() << "needs k of one element, got " << e.operandTypes();
  AxisView view(x.shape(), axis);
  int64_t k = e.in[1].integer(0);
  if (k < 0 || k > view.size)
    return e.error() << "asks for " << k << " of " << view.size << " elements along axis " << axis;
  Shape shape(x.shape());
  shape[axis] = k;
  Tensor values = Tensor::make(x.type(), shape), indices = Tensor::make(ElementType::I64, shape);
  bool largest = op.getLargest();
  std::vector<int64_t> order(view.size);
  bool known = onNumber(x.type(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t i = 0; i < view.inner; ++i) {
        const T *row = x.as<T>() + o * view.size * view.inner + i;
        std::iota(order.begin(), order.end(), 0);
        llvm::sort(order, [&](int64_t a, int64_t b) {
          T p = row[a * view.inner], q = row[b * view.inner];
          bool before = beats(p, q, true), after = beats(q, p, true); // NaN counts as larger than everything
          return before == after ? a < b : before == largest;
        });
        for (int64_t p = 0; p < k; ++p) {
          int64_t at = (o * k + p) * view.inner + i;
          values.mutableAs<T>()[at] = row[order[p] * view.inner];
          indices.mutableAs<int64_t>()[at] = order[p];
        }
      }
  });
  if (!known)
    return e.error() << "is not defined for " << e.operandTypes();
  e.out = {values.to(e.in[0].type()), indices};
  return success();
}

LogicalResult evalNonZero(Eval &e) {
  Tensor set = e.in[0].to(ElementType::BOOL);
  int64_t rank = std::max<int64_t>(set.rank(), 1);
  Shape shape(set.shape());
  if (set.rank() == 0)
    shape.push_back(1);
  std::vector<std::vector<int64_t>> coordinates(rank);
  for (int64_t i = 0; i < set.size(); ++i) {
    if (!set.as<uint8_t>()[i])
      continue;
    int64_t rest = i;
    for (int64_t d = rank - 1; d >= 0; --d) {
      coordinates[d].push_back(rest % shape[d]);
      rest /= shape[d];
    }
  }
  Tensor out = Tensor::make(ElementType::I64, {set.rank(), int64_t(coordinates[0].size())});
  for (int64_t d = 0; d < set.rank(); ++d)
    llvm::copy(coordinates[d], out.mutableAs<int64_t>() + d * out.dim(1));
  return e.give(out);
}

// Slices along the axis are compared element by element; equal ones share a number.
LogicalResult evalUnique(Eval &e) {
  auto op = cast<graph::UniqueOp>(e.op);
  const Tensor &given = e.in[0];
  bool flat = !op.getAxis().has_value();
  int64_t axis = flat ? 0 : int64_t(*op.getAxis());
  Tensor x = flat ? given.reshaped({given.size()}) : given;
  if (axis < 0 || axis >= x.rank())
    return badAxis(e, axis);
  Tensor wide = x.type() == ElementType::BOOL ? x.bitcast(ElementType::U8) : x.widened();
  AxisView view(x.shape(), axis);
  std::vector<int64_t> first, inverse(view.size), counts;
  bool known = onNumber(wide.type(), [&](auto zero) {
    using T = decltype(zero);
    const T *data = wide.as<T>();
    auto less = [&](int64_t a, int64_t b) {
      for (int64_t o = 0; o < view.outer; ++o)
        for (int64_t i = 0; i < view.inner; ++i) {
          T p = data[(o * view.size + a) * view.inner + i], q = data[(o * view.size + b) * view.inner + i];
          if (p < q)
            return true;
          if (q < p)
            return false;
        }
      return false;
    };
    std::map<int64_t, int64_t, decltype(less)> seen(less); // a slice's first position -> its number
    for (int64_t p = 0; p < view.size; ++p) {
      auto [it, isNew] = seen.try_emplace(p, int64_t(first.size()));
      if (isNew)
        first.push_back(p), counts.push_back(0);
      inverse[p] = it->second;
      ++counts[it->second];
    }
    if (!op.getSorted())
      return;
    std::vector<int64_t> rank(first.size()), sortedFirst, sortedCounts;
    for (auto &[position, number] : seen) {
      rank[number] = int64_t(sortedFirst.size());
      sortedFirst.push_back(position);
      sortedCounts.push_back(counts[number]);
    }
    for (int64_t &n : inverse)
      n = rank[n];
    first = sortedFirst, counts = sortedCounts;
  });
  if (!known)
    return e.error() << "is not defined for " << e.operandTypes();
  Shape shape(x.shape());
  shape[axis] = int64_t(first.size());
  Tensor values = Tensor::make(x.type(), shape);
  int64_t piece = view.inner * x.elementBytes();
  for (int64_t o = 0; o < view.outer; ++o)
    for (auto [i, p] : llvm::enumerate(first))
      std::memcpy(values.mutableData() + (o * int64_t(first.size()) + int64_t(i)) * piece,
                  x.data() + (o * view.size + p) * piece, piece);
  e.out = {values, Tensor::ints(first), Tensor::ints(inverse), Tensor::ints(counts)};
  return success();
}

} // namespace

void addReductions(EvalTable &t) {
  add<graph::ReduceOp>(t, evalReduce);
  add<graph::ArgReduceOp>(t, evalArgReduce);
  add<graph::CumulativeOp>(t, evalCumulative);
}
void addSelections(EvalTable &t) {
  add<graph::TopKOp>(t, evalTopK);
  add<graph::NonZeroOp>(t, evalNonZero);
  add<graph::UniqueOp>(t, evalUnique);
}

} // namespace quaver::interpreter
