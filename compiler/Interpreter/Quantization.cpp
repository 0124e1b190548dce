// Codes and scales: graph.dynamic_quantize and the ops of `scale`, by runtime/numerics/scale_recipe.h.
#include "compiler/Interpreter/Blocks.h"
#include "compiler/Interpreter/Eval.h"
#include "dialects/Scale/IR/ScaleDialect.h"
#include "runtime/numerics/scale_recipe.h"
#include <cmath>

using namespace mlir;

namespace quaver::interpreter {
namespace {

ScaleRounding roundingOf(graph::ScaleRounding r) {
  switch (r) {
  case graph::ScaleRounding::none:
    return ScaleRounding::None;
  case graph::ScaleRounding::power_of_two:
    return ScaleRounding::PowerOfTwo;
  case graph::ScaleRounding::floor:
    return ScaleRounding::Floor;
  }
  llvm_unreachable("all roundings are named");
}

std::pair<Tensor, Tensor> quantized(const Tensor &input, ArrayRef<int64_t> blockSizes, ScaleSpec spec) {
  Tensor x = input.to(ElementType::F32);
  Blocks blocks(x.shape(), blockSizes);
  Tensor codes = Tensor::make(spec.element, x.shape()), scales = Tensor::make(spec.scale_type, blocks.counts);
  // As integers, Inf and NaN are the largest magnitudes.
  std::vector<uint32_t> largest(size_t(scales.size()), 0);
  blocks.forEach([&](int64_t i, int64_t s) {
    largest[s] = std::max(largest[s], llvm::bit_cast<uint32_t>(x.as<float>()[i]) & 0x7FFFFFFFu);
  });
  std::vector<float> scale(largest.size());
  for (size_t s = 0; s < scale.size(); ++s)
    scale[s] = scale_of(spec, llvm::bit_cast<float>(largest[s]));
  convert(ElementType::F32, scale.data(), spec.scale_type, scales.mutableData(), scale.size());
  blocks.forEach([&](int64_t i, int64_t s) {
    codes.mutableAs<uint8_t>()[i] = quantize_element(spec.element, x.as<float>()[i], scale[s]);
  });
  return {codes, scales};
}

Tensor dequantized(const Tensor &codes, const Tensor &scales, ArrayRef<int64_t> blockSizes) {
  Tensor x = codes.to(ElementType::F32), s = scales.to(ElementType::F32),
         out = Tensor::make(ElementType::F32, codes.shape());
  Blocks(codes.shape(), blockSizes).forEach([&](int64_t i, int64_t at) {
    out.mutableAs<float>()[i] = x.as<float>()[i] * s.as<float>()[at];
  });
  return out;
}

// A scaled operand as floats; other operands as they are.
Tensor floats(const Tensor &t, Type type) {
  auto scaled = dyn_cast<scale::ScaledTensorType>(type);
  return scaled ? dequantized(t, t.scales(), scaled.getBlocks()) : t.to(ElementType::F32);
}

LogicalResult evalDynamicQuantize(Eval &e) {
  auto op = cast<graph::DynamicQuantizeOp>(e.op);
  if (int64_t(op.getBlocks().size()) != e.in[0].rank())
    return e.error() << "has " << op.getBlocks().size() << " block sizes for " << e.operandTypes();
  ScaleSpec spec;
  spec.element = e.resultType(0), spec.scale_type = e.resultType(1),
  spec.rounding = roundingOf(op.getRounding());
  auto [codes, scales] = quantized(e.in[0], op.getBlocks(), spec);
  return success(succeeded(e.give(codes)) && succeeded(e.give(scales)));
}

LogicalResult evalQuantize(Eval &e) {
  auto op = cast<scale::QuantizeOp>(e.op);
  scale::ScaledTensorType type = op.getResult().getType();
  ScaleSpec spec;
  spec.element = elementTypeOf(type.getElementType()), spec.scale_type = elementTypeOf(type.getScaleType());
  spec.rounding = roundingOf(op.getRounding());
  auto [codes, scales] = quantized(e.in[0], type.getBlocks(), spec);
  return e.give(codes.withScales(scales));
}

LogicalResult evalDequantize(Eval &e) {
  return e.give(floats(e.in[0], e.op->getOperand(0).getType()).to(e.resultType()));
}

LogicalResult evalPack(Eval &e) {
  auto type = cast<scale::PackOp>(e.op).getResult().getType();
  if (Blocks(e.in[0].shape(), type.getBlocks()).counts != Shape(e.in[1].shape()))
    return e.error() << "cannot pack " << e.operandTypes() << " with scales = " << type.getLayout();
  return e.give(e.in[0].withScales(e.in[1]));
}

LogicalResult evalUnpack(Eval &e) {
  Tensor scales = e.in[0].scales();
  return success(succeeded(e.give(e.in[0].withScales({}))) && succeeded(e.give(scales)));
}

// One side of a product: values without scales, and the scale of (row or column, k) of one matrix.
struct Side {
  Side(const Tensor &t, Type type, int64_t free, int64_t k) : values(t.to(ElementType::F32)) {
    if (auto scaled = dyn_cast<scale::ScaledTensorType>(type)) {
      scales = t.scales().to(ElementType::F32);
      blocks.emplace(t.shape(), scaled.getBlocks());
      run = scaled.getBlocks()[k] == 0 ? t.dim(k) : scaled.getBlocks()[k];
      freeAxis = free, kAxis = k;
    }
  }
  float scaleOf(int64_t batchOffset, int64_t i, int64_t k) const {
    return blocks ? scales.as<float>()[batchOffset + blocks->along(freeAxis, i) + blocks->along(kAxis, k)]
                  : 1;
  }
  // Where the scales of a matrix begin, given its leading coordinates (right-aligned, 1 stretches).
  int64_t batchOffset(ArrayRef<int64_t> coordinates) const {
    int64_t offset = 0, lead = values.rank() - 2, skip = int64_t(coordinates.size()) - lead;
    for (int64_t d = 0; blocks && d < lead; ++d)
      offset += values.dim(d) == 1 ? 0 : blocks->along(d, coordinates[skip + d]);
    return offset;
  }
  Tensor values, scales;
  std::optional<Blocks> blocks;
  int64_t run = INT64_MAX, freeAxis = 0, kAxis = 0;
};

// For each run of k under one scale of each side: the dot product of the codes, then both scales.
LogicalResult evalMatmul(Eval &e) {
  auto op = cast<scale::MatmulOp>(e.op);
  const Tensor &a = e.in[0], &b = e.in[1];
  if (a.rank() < 2 || b.rank() < 2 || a.dim(a.rank() - 1) != b.dim(b.rank() - 2))
    return e.error() << "cannot multiply " << e.operandTypes();
  Side l(a, op.getLhs().getType(), a.rank() - 2, a.rank() - 1),
      r(b, op.getRhs().getType(), b.rank() - 1, b.rank() - 2);
  int64_t m = a.dim(a.rank() - 2), k = a.dim(a.rank() - 1), n = b.dim(b.rank() - 1),
          run = std::min({l.run, r.run, std::max<int64_t>(k, 1)});
  auto batch = broadcastShapes({a.shape().drop_back(2), b.shape().drop_back(2)});
  if (!batch)
    return e.error() << "cannot broadcast the leading dimensions of " << e.operandTypes();
  Shape shape(*batch);
  shape.append({m, n});
  Tensor out = Tensor::make(ElementType::F32, shape);
  Strides la = broadcastStrides(a.shape().drop_back(2), *batch),
          lb = broadcastStrides(b.shape().drop_back(2), *batch);
  std::vector<float> dot(n);
  for (int64_t flat = 0, matrices = countOf(*batch); flat < matrices; ++flat) {
    Shape at(batch->size());
    int64_t rest = flat, fromA = 0, fromB = 0;
    for (int64_t d = int64_t(at.size()) - 1; d >= 0; --d) {
      at[d] = rest % (*batch)[d], rest /= (*batch)[d];
      fromA += at[d] * la[d], fromB += at[d] * lb[d];
    }
    const float *x = l.values.as<float>() + fromA * m * k, *w = r.values.as<float>() + fromB * k * n;
    float *y = out.mutableAs<float>() + flat * m * n;
    int64_t scaleA = l.batchOffset(at), scaleB = r.batchOffset(at);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t first = 0; first < k; first += run) {
        std::fill(dot.begin(), dot.end(), 0.0f);
        for (int64_t p = first; p < std::min(first + run, k); ++p)
          for (int64_t j = 0; j < n; ++j)
            dot[j] += x[i * k + p] * w[p * n + j];
        float left = l.scaleOf(scaleA, i, first);
        for (int64_t j = 0; j < n; ++j)
          y[i * n + j] += dot[j] * left * r.scaleOf(scaleB, j, first);
      }
  }
  return e.give(out.to(e.resultType()));
}

LogicalResult evalConv(Eval &e) {
  auto op = cast<scale::ConvOp>(e.op);
  Tensor x = floats(e.in[0], op.getInput().getType()), w = floats(e.in[1], op.getFilter().getType());
  return convolve(e, x, w, op.getStrides(), op.getPads(), op.getDilations(), op.getGroups());
}

Tensor transposed(const Tensor &t, ArrayRef<int64_t> permutation) {
  Strides from = stridesOf(t.shape()), strides;
  Shape shape;
  for (int64_t d : permutation) {
    strides.push_back(from[d]);
    shape.push_back(t.dim(d));
  }
  return stridedCopy(t, 0, strides, shape);
}

LogicalResult evalTranspose(Eval &e) {
  auto op = cast<scale::TransposeOp>(e.op);
  return e.give(
      transposed(e.in[0], op.getPermutation()).withScales(transposed(e.in[0].scales(), op.getPermutation())));
}

LogicalResult evalReshape(Eval &e) {
  auto type = cast<scale::ReshapeOp>(e.op).getResult().getType();
  SmallVector<int64_t> shape = e.in[1].integers();
  int64_t known = 1, open = -1;
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (size < 0)
      open = d;
    else
      known *= size;
  }
  if (open >= 0)
    shape[open] = known ? e.in[0].size() / known : 0;
  if (countOf(shape) != e.in[0].size() || int64_t(shape.size()) != type.getRank())
    return e.error() << "cannot reshape " << e.operandTypes();
  Tensor scales = e.in[0].scales();
  Blocks blocks(shape, type.getBlocks());
  if (countOf(blocks.counts) != scales.size())
    return e.error() << "cannot reshape " << e.operandTypes() << ": the blocks do not stay whole";
  return e.give(e.in[0].reshaped(shape).withScales(scales.reshaped(blocks.counts)));
}

LogicalResult evalSlice(Eval &e) {
  auto op = cast<scale::SliceOp>(e.op);
  scale::ScaledTensorType type = op.getResult().getType();
  const Tensor &x = e.in[0];
  Shape shape;
  int64_t start = 0, scaleStart = 0;
  Strides strides = stridesOf(x.shape()), scaleStrides = stridesOf(x.scales().shape());
  for (int64_t d = 0; d < x.rank(); ++d) {
    int64_t offset = op.getOffsets()[d], size = op.getSizes()[d], block = type.getBlocks()[d];
    shape.push_back(size < 0 ? x.dim(d) - offset : size);
    if (shape.back() < 0 || offset + shape.back() > x.dim(d))
      return e.error() << "leaves " << e.operandTypes() << " along dimension " << d;
    start += offset * strides[d];
    scaleStart += block == 0 ? 0 : offset / block * scaleStrides[d];
  }
  Tensor scales = stridedCopy(x.scales(), scaleStart, scaleStrides, Blocks(shape, type.getBlocks()).counts);
  return e.give(stridedCopy(x, start, strides, shape).withScales(scales));
}

} // namespace

void addQuantization(EvalTable &t) {
  add<graph::DynamicQuantizeOp>(t, evalDynamicQuantize);
  add<scale::QuantizeOp>(t, evalQuantize);
  add<scale::DequantizeOp>(t, evalDequantize);
  add<scale::PackOp>(t, evalPack);
  add<scale::UnpackOp>(t, evalUnpack);
  add<scale::MatmulOp>(t, evalMatmul);
  add<scale::ConvOp>(t, evalConv);
  add<scale::TransposeOp>(t, evalTranspose);
  add<scale::ReshapeOp>(t, evalReshape);
  add<scale::SliceOp>(t, evalSlice);
}

} // namespace quaver::interpreter
