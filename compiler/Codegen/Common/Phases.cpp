// How results share loops: a phase is one loop nest, its workgroups are rows, blocks of columns, or both.
#include "compiler/Codegen/Common/Emitter.h"
#include "compiler/Codegen/Common/OpKinds.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace quaver::codegen {

// Elements that a workgroup of an elementwise phase computes.
static constexpr int64_t kBlock = 4096, kGpuBlock = 1024;

Value Emitter::yielded(unsigned result) {
  return k.dispatch.getBody().front().getTerminator()->getOperand(result);
}

int64_t Emitter::costOf(Operation *op) { return isTranscendental(op) ? 8 : isReduction(op) ? 4 : 1; }

Dims Emitter::groupDims(const Phase &p) {
  const Dims &d = dims(yielded(p.results[0]));
  Dims out;
  for (size_t g = 0; g < p.groups.size(); ++g) {
    int64_t hi = g + 1 < p.groups.size() ? p.groups[g + 1] : int64_t(d.size());
    out.push_back(product(ArrayRef<DimExpr>(d).slice(p.groups[g], hi - p.groups[g])));
  }
  return out;
}

Indices Emitter::groupedIndex(const Phase &p, ArrayRef<Index> perGroup) {
  int64_t rank = dims(yielded(p.results[0])).size();
  Indices out(rank);
  for (size_t g = 0; g < p.groups.size(); ++g) {
    int64_t hi = g + 1 < p.groups.size() ? p.groups[g + 1] : rank;
    for (int64_t i = p.groups[g]; i + 1 < hi; ++i)
      out[i] = Index{{}, {}, {}, true};
    out[hi - 1] = perGroup[g];
  }
  return out;
}

// Ops that a value is made of.
static void collect(Value v, llvm::SetVector<Operation *> &ops) {
  Operation *op = v.getDefiningOp();
  if (!op || !ops.insert(op))
    return;
  for (Value o : op->getOperands())
    collect(o, ops);
}

// A dry run over the leading groups: at how many of them is every reduction of rows known? More would compute
// it again.
int64_t Emitter::rowsWithKnownReductions(const Phase &p) {
  int64_t groups = p.groups.size();
  llvm::MapVector<Operation *, int64_t> level;
  auto dry = scf::IfOp::create(b, loc, TypeRange(), intConst(b.getI1Type(), 0), false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(dry.thenBlock());
    for (int64_t r = 0; r < groups; ++r)
      scoped([&] {
        auto note = [&](Operation *op, bool here) {
          if (here)
            level.insert({op, r});
        };
        onReduction = note;
        Indices per(groups);
        for (int64_t g = 0; g < r; ++g)
          per[g] = scalar(k.begin());
        for (unsigned i : p.results)
          demand(yielded(i), groupedIndex(p, per));
        onReduction = nullptr;
      });
  }
  dry.erase();
  int64_t rows = std::max<int64_t>(groups - 1, 0);
  for (auto &[op, r] : level)
    rows = std::min(rows, r);
  return level.empty() ? -1 : rows;
}

void Emitter::planPhase(Phase &p) {
  SmallVector<Value> values = llvm::map_to_vector(p.results, [&](unsigned i) { return yielded(i); });
  int64_t rank = dims(values[0]).size();
  p.groups = groupsOf(values, 0, rank);
  llvm::SetVector<Operation *> cone;
  for (Value v : values)
    collect(v, cone);
  p.reduces = llvm::any_of(cone, [&](Operation *op) { return isReduction(op); });
  for (Operation *op : cone)
    p.cost += costOf(op);
  int64_t groups = p.groups.size();
  p.rows = std::max<int64_t>(groups - 1, 0);
  if (groups == 0) {
    p.workgroups = 1;
    return;
  }
  Dims d = groupDims(p);
  int64_t rows = p.reduces ? rowsWithKnownReductions(p) : -1;
  bool columnsOnly = p.reduces && rows < 0;
  int64_t block = k.lane() ? kGpuBlock : kBlock;
  if (p.reduces && !columnsOnly)
    p.rows = rows;
  else
    p.block = columnsOnly ? (k.lane() ? step : 4 * W) : block;
  auto last = d.back().getConstant();
  if (p.block && last && *last <= (columnsOnly ? p.block : 2 * block) && groups > 1)
    p.block = 0;
  p.workgroups = product(ArrayRef<DimExpr>(d).take_front(p.rows));
  if (p.block)
    p.workgroups = p.workgroups * DimExpr::ceilDiv(d.back(), DimExpr(p.block));
}

bool Emitter::isRowResult(const Phase &p, unsigned result) {
  if (!p.reduces || p.block || p.groups.empty())
    return false;
  const Dims &main = dims(yielded(p.results[0])), &d = dims(yielded(result));
  size_t kept = p.rows < int64_t(p.groups.size()) ? p.groups[p.rows] : main.size();
  if (d.size() < kept || d.size() > main.size())
    return false;
  for (size_t i = 0; i < d.size(); ++i)
    if (i < kept ? d[i] != main[i] : !isOne(d[i]))
      return false;
  return true;
}

LogicalResult Emitter::formPhases() {
  unsigned n = k.dispatch.getNumResults();
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, n));
  llvm::stable_sort(
      order, [&](unsigned x, unsigned y) { return dims(yielded(x)).size() > dims(yielded(y)).size(); });
  // Among equal ranks, results of full size before those that are reduced.
  llvm::stable_sort(order, [&](unsigned x, unsigned y) {
    auto ones = [&](unsigned r) {
      return llvm::count_if(dims(yielded(r)), [](const DimExpr &e) { return isOne(e); });
    };
    size_t rx = dims(yielded(x)).size(), ry = dims(yielded(y)).size();
    return rx != ry ? rx > ry : ones(x) < ones(y);
  });
  SmallVector<bool> done(n, false);
  for (unsigned r : order) {
    if (done[r])
      continue;
    Phase p;
    for (unsigned o : order)
      if (!done[o] && dims(yielded(o)) == dims(yielded(r)))
        p.results.push_back(o), done[o] = true;
    planPhase(p);
    for (unsigned o : order)
      if (!done[o] && isRowResult(p, o))
        p.rowResults.push_back(o), done[o] = true;
    phases.push_back(std::move(p));
  }
  return success();
}

std::string Emitter::describe() {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto [i, p] : llvm::enumerate(phases)) {
    os << (i ? "; " : "") << "generic: ";
    Dims d = groupDims(p);
    if (p.groups.empty())
      os << "one element";
    else if (p.block && p.rows == 0)
      os << "blocks of " << p.block << " elements";
    else if (p.block)
      os << "rows [" << product(ArrayRef<DimExpr>(d).take_front(p.rows)).str() << "] in blocks of " << p.block
         << " of " << d.back().str();
    else
      os << "rows [" << product(ArrayRef<DimExpr>(d).take_front(p.rows)).str() << "] of "
         << product(ArrayRef<DimExpr>(d).drop_front(p.rows)).str();
  }
  os << ", " << step << " lanes";
  return text;
}

} // namespace quaver::codegen
