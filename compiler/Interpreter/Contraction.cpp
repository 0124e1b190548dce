// matmul, conv, conv_transpose: plain loops, sums in the order of k. Narrow floats are widened; f32 is summed
// in f32.
#include "compiler/Interpreter/Eval.h"

using namespace mlir;

namespace quaver::interpreter {
namespace {

ElementType accumulator(Eval &e) {
  ElementType out = e.resultType();
  return is_float(out) && bytes_of(out) < 4 ? ElementType::F32 : out;
}

// c[m, n] += a[m, k] * b[k, n], row-major; the inner loop runs along n, so each sum is in the order of k.
template <class T> void product(const T *a, const T *b, T *c, int64_t m, int64_t k, int64_t n) {
  using W = std::conditional_t<std::is_integral_v<T>, uint64_t, T>; // integers wrap
  for (int64_t i = 0; i < m; ++i)
    for (int64_t p = 0; p < k; ++p) {
      T x = a[i * k + p];
      const T *row = b + p * n;
      T *to = c + i * n;
      for (int64_t j = 0; j < n; ++j)
        to[j] = T(W(to[j]) + W(x) * W(row[j]));
    }
}

LogicalResult evalMatmul(Eval &e) {
  ElementType type = accumulator(e);
  Tensor a = e.in[0].to(type), b = e.in[1].to(type);
  if (a.rank() < 2 || b.rank() < 2 || a.dim(a.rank() - 1) != b.dim(b.rank() - 2))
    return e.error() << "cannot multiply " << e.operandTypes();
  int64_t m = a.dim(a.rank() - 2), k = a.dim(a.rank() - 1), n = b.dim(b.rank() - 1);
  auto batch = broadcastShapes({a.shape().drop_back(2), b.shape().drop_back(2)});
  if (!batch)
    return e.error() << "cannot broadcast the leading dimensions of " << e.operandTypes();
  Shape shape(*batch);
  shape.append({m, n});
  Tensor out = Tensor::make(type, shape);
  std::array<Strides, 3> strides{broadcastStrides(a.shape().drop_back(2), *batch),
                                 broadcastStrides(b.shape().drop_back(2), *batch), stridesOf(*batch)};
  bool known = onNumber(type, [&](auto zero) {
    using T = decltype(zero);
    walkRows<3>(*batch, strides, [&](auto at, auto step, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        product(a.as<T>() + (at[0] + i * step[0]) * m * k, b.as<T>() + (at[1] + i * step[1]) * k * n,
                out.mutableAs<T>() + (at[2] + i * step[2]) * m * n, m, k, n);
    });
  });
  if (!known)
    return e.error() << "is not defined for " << e.operandTypes();
  return e.give(out.to(e.resultType()));
}

// The spatial part of a convolution: sizes, and which input a (position, kernel tap) meets.
struct Windows {
  ArrayRef<int64_t> input, kernel, output, strides, pads, dilations;
  int64_t rank() const { return int64_t(input.size()); }
  int64_t taps() const { return countOf(kernel); }
  int64_t positions() const { return countOf(output); }
  /// Flat input position of tap `t` at output position `p`, -1 in the padding.
  int64_t source(int64_t p, int64_t t) const {
    int64_t flat = 0, scale = 1;
    for (int64_t d = rank() - 1; d >= 0; --d) {
      int64_t at = (p % output[d]) * strides[d] + (t % kernel[d]) * dilations[d] - pads[d];
      if (at < 0 || at >= input[d])
        return -1;
      flat += at * scale;
      scale *= input[d];
      p /= output[d];
      t /= kernel[d];
    }
    return flat;
  }
};

LogicalResult evalConv(Eval &e) {
  auto op = cast<graph::ConvOp>(e.op);
  ElementType type = accumulator(e);
  return convolve(e, e.in[0].to(type), e.in[1].to(type), op.getStrides(), op.getPads(), op.getDilations(),
                  op.getGroups());
}

LogicalResult evalConvTranspose(Eval &e) {
  auto op = cast<graph::ConvTransposeOp>(e.op);
  ElementType type = accumulator(e);
  Tensor x = e.in[0].to(type), w = e.in[1].to(type);
  int64_t groups = op.getGroups(), rank = x.rank() - 2;
  if (rank < 1 || w.rank() != x.rank() || x.dim(1) != w.dim(0) || x.dim(1) % groups ||
      int64_t(op.getStrides().size()) != rank)
    return e.error() << "cannot convolve " << e.operandTypes() << " in " << groups << " groups";
  Shape output;
  for (int64_t d = 0; d < rank; ++d)
    output.push_back(std::max<int64_t>(
        0, (x.dim(d + 2) - 1) * op.getStrides()[d] + (w.dim(d + 2) - 1) * op.getDilations()[d] + 1 +
               op.getOutputPadding()[d] - op.getPads()[d] - op.getPads()[d + rank]));
  // A window of the output per input element: the same geometry as conv with the roles exchanged.
  Windows windows{output,       w.shape().drop_front(2), x.shape().drop_front(2), op.getStrides(),
                  op.getPads(), op.getDilations()};
  int64_t images = x.dim(0), channels = x.dim(1), perGroup = channels / groups, filtersPerGroup = w.dim(1);
  int64_t taps = windows.taps(), positions = windows.positions(), area = countOf(output);
  Shape shape{images, filtersPerGroup * groups};
  shape.append(output);
  Tensor out = Tensor::make(type, shape);
  bool known = onNumber(type, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < images; ++i)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t m = 0; m < filtersPerGroup; ++m) {
          const T *plane = x.as<T>() + (i * channels + c) * positions;
          const T *kernel = w.as<T>() + (c * filtersPerGroup + m) * taps;
          T *to = out.mutableAs<T>() +
                  (i * filtersPerGroup * groups + (c / perGroup) * filtersPerGroup + m) * area;
          for (int64_t p = 0; p < positions; ++p)
            for (int64_t t = 0; t < taps; ++t)
              if (int64_t at = windows.source(p, t); at >= 0)
                to[at] = T(to[at] + plane[p] * kernel[t]);
        }
  });
  if (!known)
    return e.error() << "is not defined for " << e.operandTypes();
  return e.give(out.to(e.resultType()));
}

LogicalResult evalPool(Eval &e) {
  auto op = cast<graph::PoolOp>(e.op);
  Tensor x = e.in[0].widened();
  int64_t rank = int64_t(op.getKernel().size());
  if (x.rank() != rank + 2)
    return e.error() << "needs " << rank << " spatial dimensions, got " << e.operandTypes();
  Shape output;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t stride = op.getStrides()[d], before = op.getPads()[d],
            extent = (op.getKernel()[d] - 1) * op.getDilations()[d] + 1;
    int64_t room = x.dim(d + 2) + before + op.getPads()[d + rank] - extent;
    int64_t size = room < 0 ? 0 : (op.getCeilMode() ? (room + stride - 1) / stride : room / stride) + 1;
    if (op.getCeilMode() && size > 0 && (size - 1) * stride >= x.dim(d + 2) + before)
      --size; // starts in the padding after
    output.push_back(size);
  }
  Windows windows{x.shape().drop_front(2), op.getKernel(), output,
                  op.getStrides(),         op.getPads(),   op.getDilations()};
  int64_t taps = windows.taps(), positions = windows.positions(), area = countOf(windows.input),
          planes = x.dim(0) * x.dim(1);
  // Taps inside input and padding: what average_with_padding divides by.
  auto padded = [&](int64_t p, int64_t t) {
    for (int64_t d = rank - 1; d >= 0; --d) {
      int64_t at = (p % output[d]) * op.getStrides()[d] + (t % op.getKernel()[d]) * op.getDilations()[d];
      if (at >= x.dim(d + 2) + op.getPads()[d] + op.getPads()[d + rank])
        return false;
      p /= output[d];
      t /= op.getKernel()[d];
    }
    return true;
  };
  Shape shape{x.dim(0), x.dim(1)};
  shape.append(output);
  Tensor out = Tensor::make(x.type(), shape);
  bool isMax = op.getKind() == graph::PoolKind::max;
  bool known = onNumber(x.type(), [&](auto zero) {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    for (int64_t p = 0; p < positions; ++p) {
      SmallVector<int64_t> source;
      int64_t divisor = 0;
      for (int64_t t = 0; t < taps; ++t) {
        int64_t at = windows.source(p, t);
        if (at >= 0)
          source.push_back(at);
        divisor += op.getKind() == graph::PoolKind::average ? at >= 0 : padded(p, t);
      }
      for (int64_t plane = 0; plane < planes; ++plane) {
        const T *from = x.as<T>() + plane * area;
        T acc = isMax ? lowest : T(0);
        for (int64_t at : source)
          acc = isMax ? (from[at] != from[at] || from[at] > acc ? from[at] : acc) : T(acc + from[at]);
        out.mutableAs<T>()[plane * positions + p] = isMax || divisor == 0 ? acc : T(acc / T(divisor));
      }
    }
  });
  if (!known)
    return e.error() << "is not defined for " << e.operandTypes();
  return e.give(out.to(e.in[0].type()));
}

} // namespace

LogicalResult convolve(Eval &e, Tensor x, Tensor w, ArrayRef<int64_t> strides, ArrayRef<int64_t> pads,
                       ArrayRef<int64_t> dilations, int64_t groups) {
  ElementType type = x.type();
  int64_t rank = x.rank() - 2;
  if (rank < 1 || w.rank() != x.rank() || x.dim(1) != w.dim(1) * groups || w.dim(0) % groups ||
      int64_t(strides.size()) != rank)
    return e.error() << "cannot convolve " << e.operandTypes() << " in " << groups << " groups";
  Shape output;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t extent = (w.dim(d + 2) - 1) * dilations[d] + 1;
    int64_t room = x.dim(d + 2) + pads[d] + pads[d + rank] - extent;
    output.push_back(room < 0 ? 0 : room / strides[d] + 1);
  }
  Windows windows{x.shape().drop_front(2), w.shape().drop_front(2), output, strides, pads, dilations};
  int64_t images = x.dim(0), channels = x.dim(1), filters = w.dim(0), taps = windows.taps(),
          positions = windows.positions();
  int64_t perGroup = channels / groups, filtersPerGroup = filters / groups, area = countOf(windows.input);
  Shape shape{images, filters};
  shape.append(output);
  Tensor out = Tensor::make(type, shape);
  std::vector<int64_t> source(size_t(taps * positions));
  for (int64_t t = 0; t < taps; ++t)
    for (int64_t p = 0; p < positions; ++p)
      source[t * positions + p] = windows.source(p, t);
  bool known = onNumber(type, [&](auto zero) {
    using T = decltype(zero);
    // Patches of one group as a matrix, then a product: [filters, channels * taps] x [channels * taps,
    // positions].
    std::vector<T> patches(size_t(perGroup * taps * positions));
    for (int64_t i = 0; i < images; ++i)
      for (int64_t g = 0; g < groups; ++g) {
        for (int64_t c = 0; c < perGroup; ++c) {
          const T *plane = x.as<T>() + (i * channels + g * perGroup + c) * area;
          for (int64_t s = 0; s < taps * positions; ++s)
            patches[c * taps * positions + s] = source[s] < 0 ? T(0) : plane[source[s]];
        }
        product(w.as<T>() + g * filtersPerGroup * perGroup * taps, patches.data(),
                out.mutableAs<T>() + (i * filters + g * filtersPerGroup) * positions, filtersPerGroup,
                perGroup * taps, positions);
      }
  });
  if (!known)
    return e.error() << "is not defined for " << e.operandTypes();
  return e.give(out.to(e.resultType()));
}

void addContractions(EvalTable &t) {
  add<graph::MatmulOp>(t, evalMatmul);
  add<graph::ConvOp>(t, evalConv);
  add<graph::ConvTransposeOp>(t, evalConvTranspose);
}
void addWindows(EvalTable &t) { add<graph::PoolOp>(t, evalPool); }

} // namespace quaver::interpreter
