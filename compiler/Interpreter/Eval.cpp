#include "compiler/Interpreter/Eval.h"

using namespace mlir;

namespace quaver::interpreter {

std::string Eval::operandTypes() const {
  std::string s = "[";
  for (auto [i, t] : llvm::enumerate(in))
    s += (i ? ", " : "") + t.typeString();
  return s + "]";
}

Strides stridesOf(ArrayRef<int64_t> shape) {
  Strides s(shape.size(), 1);
  for (int64_t d = int64_t(shape.size()) - 2; d >= 0; --d)
    s[d] = s[d + 1] * shape[d + 1];
  return s;
}

std::optional<Shape> broadcastShapes(ArrayRef<ArrayRef<int64_t>> shapes) {
  size_t rank = 0;
  for (auto s : shapes)
    rank = std::max(rank, s.size());
  Shape result(rank, 1);
  for (auto s : shapes)
    for (size_t i = 0; i < s.size(); ++i) {
      int64_t &r = result[rank - s.size() + i];
      if (r == s[i] || s[i] == 1)
        continue;
      if (r != 1)
        return std::nullopt;
      r = s[i];
    }
  return result;
}

Strides broadcastStrides(ArrayRef<int64_t> shape, ArrayRef<int64_t> result) {
  Strides own = stridesOf(shape), s(result.size(), 0);
  size_t lead = result.size() - shape.size();
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1)
      s[lead + d] = own[d];
  return s;
}

void collapse(Shape &shape, MutableArrayRef<Strides> strides) {
  auto erase = [&](size_t d) {
    shape.erase(shape.begin() + d);
    for (Strides &s : strides)
      s.erase(s.begin() + d);
  };
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d)
    if (shape[d] == 1)
      erase(d);
  for (int64_t d = int64_t(shape.size()) - 2; d >= 0; --d) {
    bool oneWalk = llvm::all_of(strides, [&](const Strides &s) { return s[d] == s[d + 1] * shape[d + 1]; });
    if (!oneWalk)
      continue;
    shape[d + 1] *= shape[d];
    erase(d);
  }
}

Tensor stridedCopy(const Tensor &in, int64_t start, ArrayRef<int64_t> strides, ArrayRef<int64_t> shape) {
  Tensor out = Tensor::make(in.type(), shape);
  onWidth(in.elementBytes(), [&](auto zero) {
    using T = decltype(zero);
    const T *from = in.as<T>() + start;
    T *to = out.mutableAs<T>();
    walkRows<2>(Shape(shape), {Strides(strides), stridesOf(shape)}, [&](auto offset, auto step, int64_t n) {
      const T *x = from + offset[0];
      T *y = to + offset[1];
      for (int64_t i = 0; i < n; ++i)
        y[i] = x[i * step[0]];
    });
  });
  return out;
}

} // namespace quaver::interpreter
