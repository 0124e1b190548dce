// The pull: the value of a tensor at symbolic indices.
#include "compiler/Codegen/Common/Emitter.h"
#include "compiler/Codegen/Common/OpKinds.h"

using namespace mlir;

namespace quaver::codegen {

Value Emitter::fail(Operation *op, const Twine &why) {
  if (!failedAt)
    op->emitOpError() << "has no generic kernel: " << why;
  failedAt = op;
  Type t = registerType(getElementTypeOrSelf(op->getResult(0).getType()));
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(t));
}

bool Emitter::isReduction(Operation *op) {
  return op && isa<graph::ReduceOp, graph::ArgReduceOp, graph::MatmulOp, graph::ConvOp,
                   graph::ConvTransposeOp, graph::PoolOp>(op);
}

std::optional<SmallVector<Emitter::Access, 3>> Emitter::accesses(Operation *op, ArrayRef<Index> idx) {
  SmallVector<Access, 3> out;
  if (isElementwise(op)) {
    for (Value v : op->getOperands())
      out.push_back({v, broadcastIndex(v, op->getResult(0), idx)});
    return out;
  }
  if (auto e = dyn_cast<graph::ExpandOp>(op)) {
    out.push_back({e.getInput(), broadcastIndex(e.getInput(), e.getResult(), idx)});
    return out;
  }
  if (isa<graph::ReshapeOp, graph::ExpandDimsOp, graph::SqueezeOp>(op)) {
    out.push_back({op->getOperand(0), reshaped(op->getOperand(0), op->getResult(0), idx)});
    return out;
  }
  if (auto t = dyn_cast<graph::TransposeOp>(op)) {
    out.push_back({t.getInput(), transposed(t, idx)});
    return out;
  }
  if (auto s = dyn_cast<graph::SliceOp>(op)) {
    out.push_back({s.getInput(), sliced(s, idx)});
    return out;
  }
  return std::nullopt;
}

// Elements of a small integer tensor that are known as expressions need no code beside a constant.
std::optional<Value> Emitter::symbolicElement(Value t, ArrayRef<Index> idx) {
  const auto &s = shapes.get(t);
  auto type = dyn_cast<IntegerType>(element(t));
  if (!s.elements || !type || type.getWidth() == 1 || s.elements->size() > 16 || isa<BlockArgument>(t))
    return std::nullopt;
  for (const DimExpr &e : *s.elements) {
    std::map<std::string, int> symbols;
    e.collectSymbols(symbols);
    for (auto &[name, count] : symbols)
      if (StringRef(name).starts_with("value_") || StringRef(name).starts_with("data_"))
        return std::nullopt;
  }
  if (s.elements->empty())
    return std::nullopt;
  auto narrow = [&](Value v) -> Value {
    return type.getWidth() == 64
               ? v
               : arith::TruncIOp::create(b, loc, b.getIntegerType(type.getWidth()), v).getResult();
  };
  Index lin = linear(idx, dims(t));
  if (!lin.known())
    return std::nullopt;
  Value which = valueOf(lin), v = narrow(size(s.elements->front()));
  for (int64_t i = 1; i < int64_t(s.elements->size()); ++i)
    v = select(compare(arith::CmpIPredicate::eq, which, isVector(which) ? splat(num(i)) : num(i)),
               narrow(size((*s.elements)[i])), v);
  return v;
}

bool Emitter::isExpensive(Operation *op) {
  if (isTranscendental(op))
    return true;
  if (isa<graph::MatmulOp, graph::ConvOp, graph::ConvTransposeOp, graph::PoolOp>(op))
    return true;
  if (!isElementwise(op))
    return false;
  return llvm::any_of(op->getOperands(), [&](Value v) {
    return v.getDefiningOp() && v.hasOneUse() && isExpensive(v.getDefiningOp());
  });
}

// A value of the row that the lanes walk whole, read by more than one walk.
bool Emitter::spillable(Operation *op, ArrayRef<Index> idx) {
  if (!phase || !phase->reduces || phase->block || !laneBase || op->hasOneUse() ||
      phase->rows + 1 != int64_t(phase->groups.size()))
    return false;
  Value main = yielded(phase->results[0]), t = op->getResult(0);
  if (dims(t) != dims(main) || op->getNumResults() != 1 || !isExpensive(op))
    return false;
  Indices want = rowLanes;
  want.back() = {laneBase, num(1), {}, false};
  return ArrayRef<Index>(want) == idx;
}

Value Emitter::at(Value t, ArrayRef<Index> idx) {
  for (Known &e : llvm::reverse(known))
    if (e.tensor == t && (!e.mask || e.mask == mask) && ArrayRef<Index>(e.idx) == idx)
      return e.value;
  Value v;
  Operation *op = t.getDefiningOp();
  if (op && spillable(op, idx)) {
    Spill *s = llvm::find_if(spills, [&](Spill &s) { return s.tensor == t; });
    Value row = size(groupDims(*phase).back());
    auto home = [&](int64_t slot) {
      return LLVM::GEPOp::create(
                 b, loc, k.scratch().getType(),
                 registerType(element(t)).isInteger(1) ? b.getI8Type() : registerType(element(t)),
                 k.scratch(),
                 ValueRange{
                     mul(num(slot * 8 / std::max<int64_t>(1, element(t).getIntOrFloatBitWidth() / 8)), row)})
          .getResult();
    };
    if (s != spills.end() && s->stage != stage) {
      v = load(home(s->slot), element(t), idx.back());
    } else {
      v = compute(t, idx);
      if (s == spills.end()) {
        spills.push_back({t, int64_t(spills.size()), stage});
        s = &spills.back();
        DimExpr bytes = DimExpr(8 * int64_t(spills.size())) * groupDims(*phase).back();
        scratchBytes = DimExpr::max(scratchBytes, bytes);
      }
      store(home(s->slot), element(t), idx.back(), v);
    }
  } else {
    v = compute(t, idx);
  }
  known.push_back({t, Indices(idx), v, isVector(v) ? mask : Value()});
  return v;
}

Value Emitter::compute(Value t, ArrayRef<Index> idx) {
  if (auto a = dyn_cast<BlockArgument>(t))
    return loadArgument(a, idx);
  Operation *op = t.getDefiningOp();
  if (op == finished)
    return finishedValue;
  if (auto c = dyn_cast<graph::ConstantOp>(op))
    return constantAt(c, idx);
  if (auto v = symbolicElement(t, idx))
    return *v;
  if (auto in = accesses(op, idx)) {
    Values v;
    for (Access &a : *in)
      v.push_back(at(a.from, a.idx));
    return isElementwise(op) ? elementwise(op, v) : v[0];
  }
  if (isReduction(op))
    return reduction(op, idx);
  if (isa<graph::SizesOp>(op))
    return fail(op, "its sizes are not known here");
  if (auto c = dyn_cast<graph::ConcatOp>(op))
    return concat(c, idx);
  if (auto p = dyn_cast<graph::PadOp>(op))
    return pad(p, idx);
  if (auto r = dyn_cast<graph::RangeOp>(op))
    return range(r, idx);
  if (auto s = dyn_cast<graph::ShapeOp>(op))
    return shapeElement(s, idx);
  if (auto g = gathered(op, idx))
    return at(g->from, g->idx);
  return fail(op, "the op is not one that clusters are made of");
}

// Computes, at this point, every reduction below `t` whose indices are already known.
void Emitter::demand(Value t, ArrayRef<Index> idx) {
  Operation *op = t.getDefiningOp();
  if (!op || op == finished)
    return;
  for (Known &e : known)
    if (e.tensor == t && ArrayRef<Index>(e.idx) == idx)
      return;
  if (auto in = accesses(op, idx)) {
    for (Access &a : *in)
      demand(a.from, a.idx);
    return;
  }
  if (auto g = dyn_cast<graph::GatherOp>(op)) {
    Indices at(idx);
    split(at, dims(t));
    int64_t rank = dims(g.getIndices()).size();
    return demand(g.getIndices(), ArrayRef<Index>(at).slice(g.getAxis(), rank));
  }
  if (!isReduction(op))
    return;
  demandReduction(op, idx);
  bool here = allKnown(idx) && allUniform(idx);
  if (onReduction)
    onReduction(op, here);
  else if (here)
    at(t, idx);
}

} // namespace quaver::codegen
