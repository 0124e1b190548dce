// Products of any type as loops over k: what no kernel of the manifest computes.
#include "compiler/Codegen/Common/Emitter.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::codegen {

Value Emitter::accumulate(Value acc, Value x, Value y) {
  Value v[] = {x, y, acc};
  unify(v);
  if (isa<FloatType>(getElementTypeOrSelf(acc.getType())))
    return math.fma(v[0], v[1], v[2]);
  return arith::AddIOp::create(b, loc, v[2], arith::MulIOp::create(b, loc, v[0], v[1]));
}

Value Emitter::matmul(MatmulOp op, ArrayRef<Index> idx) {
  Type out = element(op.getResult()), acc = computeType(out);
  Type le = element(op.getLhs()), re = element(op.getRhs());
  size_t r = idx.size();
  // Leading dimensions broadcast from the right.
  auto operandIndex = [&](Value operand, Index row, Index column) {
    const Dims &d = dims(operand);
    Indices i(d.size());
    for (size_t j = 0; j + 2 < d.size(); ++j)
      i[j] = isOne(d[j]) ? scalar(num(0)) : idx[r - d.size() + j];
    i[d.size() - 2] = row, i[d.size() - 1] = column;
    return i;
  };
  bool column = !allUniform(idx);
  Value zero = neutral(ReduceKind::sum, acc);
  if (column)
    zero = splat(zero);
  Value savedMask = mask;
  Values v = loop(num(0), size(dims(op.getLhs()).back()), num(1), zero, [&](Value k, ValueRange a) -> Values {
    Value x = convert(at(op.getLhs(), operandIndex(op.getLhs(), idx[r - 2], scalar(k))), le, acc);
    Value y = convert(at(op.getRhs(), operandIndex(op.getRhs(), scalar(k), idx[r - 1])), re, acc);
    return {accumulate(a[0], x, y)};
  });
  mask = savedMask;
  return fromCompute(v[0], out);
}

Value Emitter::conv(ConvOp op, ArrayRef<Index> idx) {
  Type out = element(op.getResult()), acc = computeType(out);
  Type ie = element(op.getInput()), fe = element(op.getFilter());
  const Dims &in = dims(op.getInput()), &fd = dims(op.getFilter());
  size_t spatial = in.size() - 2;
  DimExpr perGroup = DimExpr::floorDiv(fd[0], DimExpr(int64_t(op.getGroups())));
  Index group = op.getGroups() == 1 ? scalar(num(0)) : quotient(idx[1], perGroup);
  Index firstChannel = times(group, size(fd[1]));
  bool column = !allUniform(idx);
  Value zero = neutral(ReduceKind::sum, acc);
  if (column)
    zero = splat(zero);
  std::function<Values(size_t, Indices, Indices, Value, ValueRange)> nest =
      [&](size_t s, Indices i, Indices f, Value inside, ValueRange a) -> Values {
    if (s == spatial) {
      auto term = [&] {
        Value x = convert(at(op.getInput(), i), ie, acc), w = convert(at(op.getFilter(), f), fe, acc);
        Value r = accumulate(a[0], x, w);
        return column ? splat(r) : r;
      };
      if (!inside)
        return {term()};
      return {choose(inside, term, [&] { return Value(a[0]); })};
    }
    return loop(num(0), size(fd[2 + s]), num(1), a, [&](Value k, ValueRange a2) {
      Index p = plus(times(idx[2 + s], num(op.getStrides()[s])),
                     scalar(sub(mul(k, num(op.getDilations()[s])), num(op.getPads()[s]))));
      Value v = valueOf(p), now = inside;
      bool padded = op.getPads()[s] || op.getPads()[spatial + s];
      auto c = [&](Value x) { return isVector(v) ? splat(x) : x; };
      if (padded)
        now = both(inside, both(compare(arith::CmpIPredicate::sge, v, c(num(0))),
                                compare(arith::CmpIPredicate::slt, v, c(size(in[2 + s])))));
      Indices i2 = i, f2 = f;
      i2.push_back(p), f2.push_back(scalar(k));
      return nest(s + 1, i2, f2, now, a2);
    });
  };
  Values v = loop(num(0), size(fd[1]), num(1), zero, [&](Value c, ValueRange a) {
    return nest(0, {idx[0], plus(firstChannel, scalar(c))}, {idx[1], scalar(c)}, {}, a);
  });
  return fromCompute(v[0], out);
}

// The gradient of conv: output position o receives input position i where o = i * stride + k * dilation -
// pad.
Value Emitter::convTranspose(ConvTransposeOp op, ArrayRef<Index> idx) {
  Type out = element(op.getResult()), acc = computeType(out);
  Type ie = element(op.getInput()), fe = element(op.getFilter());
  const Dims &in = dims(op.getInput()), &fd = dims(op.getFilter());
  size_t spatial = in.size() - 2;
  Index group = op.getGroups() == 1 ? scalar(num(0)) : quotient(idx[1], fd[1]);
  Index within = op.getGroups() == 1 ? idx[1] : remainder(idx[1], fd[1]);
  DimExpr channels = DimExpr::floorDiv(in[1], DimExpr(int64_t(op.getGroups())));
  Index firstChannel = times(group, size(channels));
  bool column = !allUniform(idx);
  Value zero = neutral(ReduceKind::sum, acc);
  if (column)
    zero = splat(zero);
  std::function<Values(size_t, Indices, Indices, Value, ValueRange)> nest =
      [&](size_t s, Indices i, Indices f, Value inside, ValueRange a) -> Values {
    if (s == spatial) {
      auto term = [&] {
        Value x = convert(at(op.getInput(), i), ie, acc), w = convert(at(op.getFilter(), f), fe, acc);
        Value r = accumulate(a[0], x, w);
        return column ? splat(r) : r;
      };
      return {choose(inside, term, [&] { return Value(a[0]); })};
    }
    return loop(num(0), size(fd[2 + s]), num(1), a, [&](Value k, ValueRange a2) {
      Value v =
          valueOf(plus(idx[2 + s], scalar(sub(num(op.getPads()[s]), mul(k, num(op.getDilations()[s]))))));
      auto c = [&](Value x) { return isVector(v) ? splat(x) : x; };
      Value stride = c(num(op.getStrides()[s])), q = v,
            fits = compare(arith::CmpIPredicate::sge, v, c(num(0)));
      if (op.getStrides()[s] != 1) {
        q = arith::DivSIOp::create(b, loc, v, stride);
        fits = both(fits, compare(arith::CmpIPredicate::eq, arith::MulIOp::create(b, loc, q, stride), v));
      }
      fits = both(fits, compare(arith::CmpIPredicate::slt, q, c(size(in[2 + s]))));
      Indices i2 = i, f2 = f;
      i2.push_back(indexOf(q)), f2.push_back(scalar(k));
      return nest(s + 1, i2, f2, both(inside, fits), a2);
    });
  };
  Values v = loop(num(0), size(channels), num(1), zero, [&](Value c, ValueRange a) {
    Index channel = plus(firstChannel, scalar(c));
    return nest(0, {idx[0], channel}, {channel, within}, {}, a);
  });
  return fromCompute(v[0], out);
}

Value Emitter::pool(PoolOp op, ArrayRef<Index> idx) {
  Type e = element(op.getInput()), ce = computeType(e);
  const Dims &in = dims(op.getInput());
  size_t spatial = in.size() - 2;
  bool isMax = op.getKind() == PoolKind::max, column = !allUniform(idx);
  ReduceKind kind = isMax ? ReduceKind::max : ReduceKind::sum;
  Value zero = neutral(kind, ce), none = floatConst(b.getF32Type(), 0);
  if (!isa<FloatType>(ce) && !isMax)
    return fail(op, "averages of integers are not defined");
  if (column)
    zero = splat(zero), none = splat(none);
  using IP = arith::CmpIPredicate;
  std::function<Values(size_t, Indices, Value, Value, ValueRange)> nest =
      [&](size_t s, Indices i, Value inside, Value counted, ValueRange a) -> Values {
    if (s == spatial) {
      Value v = choose(
          inside,
          [&] {
            Value r = combine(kind, a[0], toCompute(at(op.getInput(), i), e), ce);
            return column ? splat(r) : r;
          },
          [&] { return Value(a[0]); });
      Value n = math.add(a[1], math.c(a[1], 1));
      Value c = op.getKind() == PoolKind::average_with_padding ? counted : inside;
      if (isVector(n) && !isVector(c))
        c = splat(c);
      return {v, arith::SelectOp::create(b, loc, c, n, a[1])};
    }
    return loop(num(0), num(op.getKernel()[s]), num(1), a, [&](Value k, ValueRange a2) {
      int64_t before = op.getPads()[s], after = op.getPads()[spatial + s];
      Index p = plus(times(idx[2 + s], num(op.getStrides()[s])),
                     scalar(sub(mul(k, num(op.getDilations()[s])), num(before))));
      Value v = valueOf(p);
      auto c = [&](Value x) { return isVector(v) ? splat(x) : x; };
      Value n = size(in[2 + s]);
      Value fits = both(compare(IP::sge, v, c(num(0))), compare(IP::slt, v, c(n)));
      Value padded = both(compare(IP::sge, v, c(num(-before))), compare(IP::slt, v, c(add(n, num(after)))));
      Indices i2 = i;
      i2.push_back(p);
      return nest(s + 1, i2, both(inside, fits), both(counted, padded), a2);
    });
  };
  Values v = nest(0, {idx[0], idx[1]}, {}, {}, ValueRange{zero, none});
  if (isMax)
    return fromCompute(v[0], e);
  Value n = v[1];
  if (ce.isF64())
    n = arith::ExtFOp::create(b, loc, like(n.getType(), b.getF64Type()), n);
  return fromCompute(math.div(v[0], n), e);
}

} // namespace quaver::codegen
