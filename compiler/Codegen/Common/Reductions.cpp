// Reductions along dimensions: lanes along the last reduced one, or, where lanes run along a kept one, a
// vector of reductions.
#include "compiler/Codegen/Common/Emitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::codegen {

Value Emitter::reduction(Operation *op, ArrayRef<Index> idx) {
  Indices at(idx);
  if (!isa<ReduceOp>(op))
    split(at, dims(op->getResult(0)));
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<ReduceOp>([&](auto r) { return reduce(r, at); })
      .Case<ArgReduceOp>([&](auto r) { return argReduce(r, at); })
      .Case<MatmulOp>([&](auto r) { return matmul(r, at); })
      .Case<ConvOp>([&](auto r) { return conv(r, at); })
      .Case<ConvTransposeOp>([&](auto r) { return convTranspose(r, at); })
      .Case<PoolOp>([&](auto r) { return pool(r, at); })
      .Default([&](Operation *o) { return fail(o, "the reduction is not known"); });
}

// Reductions below a reduction, as far as its own indices tell.
void Emitter::demandReduction(Operation *op, ArrayRef<Index> idx) {
  if (auto r = dyn_cast<ReduceOp>(op))
    demand(r.getInput(), reducedInput(r.getInput(), r.getResult(), r.getAxes(), r.getKeepDims(), idx));
  if (auto r = dyn_cast<ArgReduceOp>(op))
    demand(r.getInput(),
           reducedInput(r.getInput(), r.getResult(), {int64_t(r.getAxis())}, r.getKeepDims(), idx));
}

Indices Emitter::reducedInput(Value input, Value result, ArrayRef<int64_t> axes, bool keepDims,
                              ArrayRef<Index> given) {
  Indices idx(given), out(dims(input).size());
  auto reduced = [&](int64_t i) { return llvm::is_contained(axes, i); };
  SmallVector<int64_t> from; // result dimension -> input dimension
  for (int64_t i = 0; i < int64_t(out.size()); ++i)
    if (keepDims || !reduced(i))
      from.push_back(i);
  split(idx, dims(result),
        [&](int64_t i) { return from[i + 1] == from[i] + 1 && !reduced(from[i]) && !reduced(from[i + 1]); });
  for (auto [i, f] : llvm::enumerate(from))
    if (!reduced(f))
      out[f] = idx[i];
  return out;
}

Value Emitter::neutral(ReduceKind kind, Type e) {
  Type t = registerType(e);
  double inf = std::numeric_limits<double>::infinity();
  bool f = isa<FloatType>(t);
  unsigned bits = t.getIntOrFloatBitWidth();
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
    return f ? floatConst(t, 0) : intConst(t, 0);
  case ReduceKind::prod:
    return f ? floatConst(t, 1) : intConst(t, 1);
  case ReduceKind::max:
    return f               ? floatConst(t, -inf)
           : isUnsigned(e) ? intConst(t, 0)
                           : intConst(t, APInt::getSignedMinValue(bits).getSExtValue());
  case ReduceKind::min:
    return f               ? floatConst(t, inf)
           : isUnsigned(e) ? intConst(t, -1)
                           : intConst(t, APInt::getSignedMaxValue(bits).getSExtValue());
  }
  return {};
}

Value Emitter::combine(ReduceKind kind, Value x, Value y, Type e) {
  Value v[] = {x, y};
  unify(v);
  x = v[0], y = v[1];
  bool f = isa<FloatType>(e);
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
    return f ? math.add(x, y) : Value(arith::AddIOp::create(b, loc, x, y));
  case ReduceKind::prod:
    return f ? math.mul(x, y) : Value(arith::MulIOp::create(b, loc, x, y));
  case ReduceKind::max:
    return maxOf(x, y, e, true);
  case ReduceKind::min:
    return maxOf(x, y, e, false);
  }
  return {};
}

Value Emitter::acrossLanes(ReduceKind kind, ArrayRef<Value> acc, Type e) {
  Value v = acc[0];
  for (Value a : acc.drop_front())
    v = combine(kind, v, a, e);
  for (int64_t n = W / 2; n >= 1; n /= 2) { // halves of the vector onto each other
    auto half = [&](int64_t from) {
      SmallVector<int64_t> ids = llvm::to_vector(llvm::seq<int64_t>(from, from + n));
      return vector::ShuffleOp::create(b, loc, v, v, ids).getResult();
    };
    v = combine(kind, half(0), half(n), e);
  }
  v = vector::ExtractOp::create(b, loc, v, 0);
  for (int64_t n = KernelFunction::kWarp / 2; k.lane() && n >= 1; n /= 2) // halves of the warp
    v = combine(kind, v, fromOtherLane(v, n), e);
  return v;
}

// The value that the lane with another bit has. All lanes of the warp are here: reductions of rows stand
// outside of what lanes do each for itself. `shfl` moves 32 bits.
Value Emitter::fromOtherLane(Value v, int64_t bit) {
  Type t = v.getType(), i32 = b.getI32Type();
  unsigned bits = t.getIntOrFloatBitWidth();
  auto shuffle = [&](Value word) -> Value {
    return NVVM::ShflOp::create(b, loc, i32, intConst(i32, -1), word, intConst(i32, bit),
                                intConst(i32, KernelFunction::kWarp - 1), NVVM::ShflKind::bfly, UnitAttr());
  };
  Type integer = b.getIntegerType(bits);
  Value x = isa<FloatType>(t) ? arith::BitcastOp::create(b, loc, integer, v).getResult() : v;
  if (bits < 32) {
    x = arith::TruncIOp::create(b, loc, integer, shuffle(arith::ExtUIOp::create(b, loc, i32, x)));
  } else if (bits == 32) {
    x = shuffle(x);
  } else {
    Value half = intConst(integer, 32);
    Value low = shuffle(arith::TruncIOp::create(b, loc, i32, x));
    Value high = shuffle(arith::TruncIOp::create(b, loc, i32, arith::ShRUIOp::create(b, loc, x, half)));
    x = arith::OrIOp::create(
        b, loc, arith::ExtUIOp::create(b, loc, integer, low),
        arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, integer, high), half));
  }
  return isa<FloatType>(t) ? arith::BitcastOp::create(b, loc, t, x).getResult() : x;
}

Value Emitter::reduce(ReduceOp op, ArrayRef<Index> idx) {
  Value in = op.getInput();
  Type e = element(in), ce = computeType(e);
  const Dims &d = dims(in);
  Indices inIdx = reducedInput(in, op.getResult(), op.getAxes(), op.getKeepDims(), idx);
  bool column = !allUniform(idx);
  // Adjacent reduced dimensions that the input lets merge are one loop.
  struct Run {
    int64_t lo, hi;
  };
  SmallVector<Run> runs;
  for (int64_t a : op.getAxes()) {
    if (!runs.empty() && runs.back().hi == a && canMerge(in, a - 1))
      runs.back().hi = a + 1;
    else
      runs.push_back({a, a + 1});
  }
  auto sizeOf = [&](Run r) { return product(ArrayRef<DimExpr>(d).slice(r.lo, r.hi - r.lo)); };
  auto set = [&](Run r, Index i) {
    for (int64_t j = r.lo; j + 1 < r.hi; ++j)
      inIdx[j] = Index{{}, {}, {}, true};
    inIdx[r.hi - 1] = i;
  };
  auto unset = [&](Run r) {
    for (int64_t j = r.lo; j < r.hi; ++j)
      inIdx[j] = Index();
  };
  Value zero = neutral(op.getKind(), ce);
  auto take = [&](Value acc) { return combine(op.getKind(), acc, toCompute(at(in, inIdx), e), ce); };
  Value savedMask = mask;
  int64_t unroll = column ? 1 : 4;
  if (!column)
    mask = {};
  std::function<Values(size_t, ValueRange)> nest = [&](size_t n, ValueRange acc) -> Values {
    if (n == runs.size())
      return {take(acc[0])};
    Run r = runs[n];
    if (!column && n + 1 == runs.size()) {
      ++stage;
      return lanes(num(0), size(sizeOf(r)), sizeOf(r).getConstant(), unroll, acc,
                   [&](Index i, ValueRange a) -> Values {
                     set(r, i);
                     Value v = take(a[0]);
                     unset(r);
                     return {v};
                   });
    }
    return loop(num(0), size(sizeOf(r)), num(1), acc, [&](Value i, ValueRange a) {
      set(r, scalar(i));
      if (!column)
        demand(in, inIdx);
      Values v = nest(n + 1, a);
      unset(r);
      return v;
    });
  };
  Value v;
  if (runs.empty()) {
    v = toCompute(at(in, inIdx), e);
  } else {
    Values acc(unroll, splat(zero));
    acc = nest(0, acc);
    v = column ? acc[0] : acrossLanes(op.getKind(), acc, ce);
  }
  if (!column)
    ++stage;
  mask = savedMask;
  if (op.getKind() == ReduceKind::mean) {
    DimExpr n(1);
    for (int64_t a : op.getAxes())
      n = n * d[a];
    Value count = convert(size(n), b.getI64Type(), ce);
    if (isVector(v))
      count = splat(count);
    v = isa<FloatType>(ce) ? math.div(v, count) : divide(v, count, isUnsigned(ce), false);
  }
  return fromCompute(v, e);
}

Value Emitter::argReduce(ArgReduceOp op, ArrayRef<Index> idx) {
  Value in = op.getInput();
  Type e = element(in), ce = computeType(e);
  int64_t axis = op.getAxis();
  Indices inIdx = reducedInput(in, op.getResult(), {axis}, op.getKeepDims(), idx);
  bool column = !allUniform(idx), isMax = op.getKind() == ReduceKind::max, f = isa<FloatType>(ce);
  Value savedMask = mask;
  if (!column)
    mask = {};
  Value best = neutral(op.getKind(), ce), where = num(0);
  if (column)
    best = splat(best), where = splat(where);
  // The first (or last) element always enters, so that an array of lowest values has a position.
  Values r = loop(
      num(0), size(dims(in)[axis]), num(1), ValueRange{best, where}, [&](Value i, ValueRange acc) -> Values {
        inIdx[axis] = scalar(i);
        Value v[] = {toCompute(at(in, inIdx), e), acc[0]};
        inIdx[axis] = Index();
        if (column)
          v[0] = splat(v[0]), v[1] = splat(v[1]);
        Value better;
        if (f) {
          better =
              math.cmp(isMax ? (op.getSelectLast() ? arith::CmpFPredicate::OGE : arith::CmpFPredicate::OGT)
                             : (op.getSelectLast() ? arith::CmpFPredicate::OLE : arith::CmpFPredicate::OLT),
                       v[0], v[1]);
          Value nan = math.isNan(v[0]);
          if (!op.getSelectLast())
            nan = arith::AndIOp::create(
                b, loc, nan, arith::XOrIOp::create(b, loc, math.isNan(v[1]), intConst(nan.getType(), 1)));
          better = arith::OrIOp::create(b, loc, better, nan);
        } else {
          bool u = isUnsigned(ce);
          using IP = arith::CmpIPredicate;
          IP p = isMax ? (op.getSelectLast() ? (u ? IP::uge : IP::sge) : (u ? IP::ugt : IP::sgt))
                       : (op.getSelectLast() ? (u ? IP::ule : IP::sle) : (u ? IP::ult : IP::slt));
          better = arith::CmpIOp::create(b, loc, p, v[0], v[1]);
        }
        return {arith::SelectOp::create(b, loc, better, v[0], v[1]),
                arith::SelectOp::create(b, loc, better, column ? splat(i) : i, acc[1])};
      });
  mask = savedMask;
  return r[1];
}

} // namespace quaver::codegen
