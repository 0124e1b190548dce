// What quantization means in simpler ops: codes under given scales, and scales that follow from the data.
#include "dialects/Graph/IR/Decompose.h"
#include <cmath>

using namespace mlir;

namespace quaver::graph {

// One element per block, repeated over the block; dimensions of one block broadcast.
static Value spreadBlocks(GraphBuilder &g, Value parameter, Value input, ArrayRef<int64_t> blocks) {
  for (auto [d, block] : llvm::enumerate(blocks)) {
    if (g.failed())
      return parameter;
    bool isOneBlock = block == 0 || g.shapes.dim(parameter, d) == DimExpr(1);
    if (isOneBlock || block == 1)
      continue;
    Value position = g.iota(g.dim(input, d));
    parameter = g.gather(parameter, g.div(position, g.intScalar(block)), d);
  }
  return parameter;
}

// A scale or zero point in the input's rank: per tensor as it is, per axis along the axis, blocked with each
// block repeated.
static Value spread(GraphBuilder &g, Value parameter, Value input, int64_t axis, int64_t block,
                    ArrayRef<int64_t> blocks) {
  int64_t rank = g.rank(input);
  if (g.failed())
    return parameter;
  if (!blocks.empty())
    return spreadBlocks(g, parameter, input, blocks);
  if (block > 0) {
    Value position = g.iota(g.dim(input, axis));
    return g.gather(parameter, g.div(position, g.intScalar(block)), axis);
  }
  if (g.rank(parameter) == 0)
    return parameter;
  SmallVector<int64_t> shape(rank, 1);
  if (g.shapes.dim(parameter, 0) == DimExpr(1))
    return g.squeeze(parameter, {0});
  shape[axis] = -1;
  return g.reshape(parameter, shape);
}

static std::pair<double, double> integerRange(IntegerType t) {
  double width = t.getWidth();
  return t.isUnsigned() ? std::pair(0.0, std::exp2(width) - 1)
                        : std::pair(-std::exp2(width - 1), std::exp2(width - 1) - 1);
}

FailureOr<SmallVector<Value>> QuantizeOp::decompose(OpBuilder &b) {
  Decomposition d(*this, b);
  GraphBuilder &g = d.g;
  Type out = g.element(getResult()), compute = getComputeType();
  Value scale = spread(g, g.cast(getScale(), compute), getInput(), getAxis(), getBlockSize(), getBlocks());
  Value y = g.div(g.cast(getInput(), compute), scale);
  if (isa<FloatType>(out))
    return d.finish({g.make<CastOp>(out, y, getSaturate(), false, RoundMode::nearest)});
  // Round, then the zero point, then saturate: in f32 or wider, where all codes are exact.
  y = g.unary<RoundOp>(g.cast(y, computeType(compute)));
  if (getZeroPoint())
    y = g.add(y, spread(g, g.cast(getZeroPoint(), g.element(y)), getInput(), getAxis(), getBlockSize(),
                        getBlocks()));
  auto [low, high] = integerRange(cast<IntegerType>(out));
  y = g.min(g.max(y, g.scalarLike(low, y)), g.scalarLike(high, y));
  return d.finish({g.cast(y, out)});
}

FailureOr<SmallVector<Value>> DequantizeOp::decompose(OpBuilder &b) {
  Decomposition d(*this, b);
  GraphBuilder &g = d.g;
  Type f32 = b.getF32Type(), out = g.element(getResult());
  Value x = getInput();
  if (getZeroPoint() && isa<IntegerType>(g.element(x))) {
    Type wide = b.getI32Type();
    x = g.sub(g.cast(x, wide),
              spread(g, g.cast(getZeroPoint(), wide), x, getAxis(), getBlockSize(), getBlocks()));
  }
  Value scale = spread(g, g.cast(getScale(), f32), getInput(), getAxis(), getBlockSize(), getBlocks());
  return d.finish({g.cast(g.mul(g.cast(x, f32), scale), out)});
}

// max |x| of every block, of the scales' shape: split each blocked dimension into (blocks, block), padded
// with zeros to whole ones.
static Value largestOfBlocks(GraphBuilder &g, Value x, ArrayRef<int64_t> blocks) {
  Value a = g.unary<AbsOp>(x);
  SmallVector<int64_t> whole, within;
  SmallVector<Value> shape;
  for (auto [d, block] : llvm::enumerate(blocks)) {
    if (g.failed())
      return a;
    Value size = g.dim(x, d);
    if (block == 0)
      whole.push_back(d);
    if (block <= 1) {
      shape.push_back(block == 0 ? g.ints({1}) : size);
      continue;
    }
    Value n = g.ints({block}), count = g.div(g.add(size, g.ints({block - 1})), n);
    auto known = g.shapes.dim(x, d).getConstant();
    if (!known || *known % block) {
      Value pads = g.concat({g.ints({0}), g.sub(g.mul(count, n), size)}, 0);
      a = g.make<PadOp>(g.element(a), a, pads, g.scalarLike(0, a), ArrayRef<int64_t>{int64_t(d)},
                        PadMode::constant);
    }
    shape.push_back(count);
    shape.push_back(n);
    within.push_back(int64_t(shape.size()) - 1);
  }
  if (!whole.empty())
    a = g.reduce(ReduceKind::max, a, whole);
  if (within.empty())
    return a;
  return g.reduce(ReduceKind::max, g.reshape(a, g.concat(shape, 0)), within, false);
}

// The power of two at or above (up) or at or below a positive normal float: by its bits.
static Value powerOfTwo(GraphBuilder &g, Value x, bool up) {
  Type i32 = g.b.getI32Type(), f32 = g.b.getF32Type();
  Value bits = g.make<BitcastOp>(i32, x);
  if (up)
    bits = g.add(bits, g.intScalar(0x007FFFFF, i32));
  return g.make<BitcastOp>(f32, g.binary<BitwiseAndOp>(bits, g.intScalar(int32_t(0xFF800000), i32)));
}

// As runtime/numerics/scale_recipe.h has it.
FailureOr<SmallVector<Value>> DynamicQuantizeOp::decompose(OpBuilder &b) {
  Decomposition d(*this, b);
  GraphBuilder &g = d.g;
  Type f32 = b.getF32Type(), scaleType = g.element(getScales()), element = g.element(getCodes());
  bool isE4m3 = isa<Float8E4M3FNType>(element), isE8m0 = !scaleType.isF32();
  Value x = g.cast(getInput(), f32), amax = largestOfBlocks(g, x, getBlocks());
  double smallest = std::exp2(isE8m0 ? -127 : -126);
  Value scale;
  if (getRounding() == ScaleRounding::floor)
    scale = g.mul(powerOfTwo(g, amax, false), std::exp2(isE4m3 ? -8 : -15));
  else
    scale = g.div(amax, isE4m3 ? 448.0 : 57344.0);
  scale = g.max(scale, g.scalar(smallest, f32));
  // 2^-127 has no normal form: rounding up its bits would make 2^-126 of it.
  if (getRounding() == ScaleRounding::power_of_two) {
    Value rounded = powerOfTwo(g, scale, true);
    scale = isE8m0 ? g.select(g.compare(CompareKind::eq, scale, g.scalar(smallest, f32)), scale, rounded)
                   : rounded;
  }
  Value zero = g.scalar(0, f32), one = g.scalar(1, f32),
        infinity = g.scalar(std::numeric_limits<double>::infinity(), f32);
  scale = g.select(g.compare(CompareKind::eq, amax, zero), one, scale);
  Value lost = isE8m0 ? g.scalar(std::numeric_limits<double>::quiet_NaN(), f32) : one;
  scale = g.select(g.compare(CompareKind::lt, amax, infinity), scale, lost);
  Value codes = g.make<CastOp>(element, g.div(x, spreadBlocks(g, scale, x, getBlocks())), true, false,
                               RoundMode::nearest);
  Value stored = isE8m0 ? g.make<CastOp>(scaleType, scale, true, false, RoundMode::nearest) : scale;
  return d.finish({codes, stored});
}

} // namespace quaver::graph
