// Loops over scalars and over vectors.
#include "compiler/Codegen/Common/Emitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace quaver::codegen {

Values Emitter::loop(Value from, Value to, Value step, ValueRange carried, Body body) {
  auto f = scf::ForOp::create(b, loc, from, to, step, carried);
  {
    OpBuilder::InsertionGuard guard(b);
    if (carried.empty())
      b.setInsertionPoint(f.getBody()->getTerminator());
    else
      b.setInsertionPointToStart(f.getBody());
    scoped([&] {
      Values out = body(f.getInductionVar(), f.getRegionIterArgs());
      if (!carried.empty())
        scf::YieldOp::create(b, loc, out);
    });
  }
  return llvm::to_vector<4>(ValueRange(f.getResults()));
}

Value Emitter::ownPosition(Value i) { return k.lane() ? add(i, mul(k.lane(), num(W))) : i; }

Values Emitter::lanes(Value from, Value to, std::optional<int64_t> count, int64_t unroll, ValueRange carried,
                      Step body) {
  int64_t whole = step * unroll, each = carried.size() / unroll;
  Value one = num(1);
  Value savedBase = laneBase, savedMask = mask;
  mask = {};
  Value span = sub(to, from);
  Value mainEnd = count ? add(from, num(*count / whole * whole))
                        : add(from, sub(span, arith(Arith::RemU, span, num(whole))));
  Values out(carried.begin(), carried.end());
  auto vectors = [&](Value lo, Value hi, int64_t copies) {
    ValueRange in = copies == unroll ? ValueRange(out) : ValueRange(out).take_front(each);
    Values start(in.begin(), in.end());
    return loop(lo, hi, num(step * copies), start, [&](Value i, ValueRange acc) {
      Values r;
      for (int64_t u = 0; u < copies; ++u)
        scoped([&] {
          laneBase = ownPosition(add(i, num(u * step)));
          Values v = body({laneBase, one, {}, false}, acc.slice(u * each, each));
          r.append(v.begin(), v.end());
        });
      return r;
    });
  };
  if (!count || *count >= whole) {
    Values r = vectors(from, mainEnd, unroll);
    if (each)
      out = r;
  }
  auto keepFirst = [&](const Values &r) {
    for (int64_t i = 0; i < each; ++i)
      out[i] = r[i];
  };
  int64_t rest = count ? *count % whole : whole;
  if (count && unroll > 1 && rest >= step) {
    Value hi = add(mainEnd, num(rest / step * step));
    keepFirst(vectors(mainEnd, hi, 1));
    mainEnd = hi, rest %= step;
  }
  if (rest) {
    ValueRange first = ValueRange(out).take_front(each);
    Values start(first.begin(), first.end());
    keepFirst(loop(mainEnd, to, num(step), start, [&](Value i, ValueRange acc) {
      Value own = ownPosition(i);
      auto type = VectorType::get(W, b.getI32Type());
      SmallVector<int32_t> iota = llvm::to_vector(llvm::seq<int32_t>(0, W));
      Value left = arith::TruncIOp::create(b, loc, b.getI32Type(), arith(Arith::MinS, sub(to, own), num(W)));
      Value ids = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(iota)));
      mask = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, ids, splat(left));
      laneBase = own;
      Values v = body({own, one, {}, false}, acc);
      for (auto [x, old] : llvm::zip(v, acc))
        x = arith::SelectOp::create(b, loc, mask, x, old);
      mask = {};
      return v;
    }));
  }
  laneBase = savedBase, mask = savedMask;
  return out;
}

} // namespace quaver::codegen
