#include "compiler/Dispatch/FusionRules.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::dispatch {

// Longer clusters gain nothing more and make long kernels.
static constexpr size_t kMaxOps = 96;

static bool endsWith(const Dims &dims, const DimExpr &last) { return !dims.empty() && dims.back() == last; }

// The domain itself, or the same rows counted differently: [b, s, n] and [b * s, n].
bool FusionRules::sameDomain(const Cluster &cluster, const Dims &d) {
  if (d == cluster.domain)
    return true;
  if (cluster.shape == Shape::Pointwise)
    return product(d) == product(cluster.domain);
  if (cluster.shape == Shape::Contraction || cluster.shape == Shape::Reduction)
    return !cluster.domain.empty() && endsWith(d, cluster.domain.back()) &&
           product(d) == product(cluster.domain);
  return false;
}

// One element a row: the row's sizes, then ones or nothing.
bool FusionRules::isRowShape(const Cluster &cluster, const Dims &d) {
  if (cluster.shape != Shape::Rows || d.size() > cluster.domain.size() || int64_t(d.size()) < cluster.rowRank)
    return false;
  for (size_t i = 0; i < d.size(); ++i)
    if (d[i] != (int64_t(i) < cluster.rowRank ? cluster.domain[i] : DimExpr(1)))
      return false;
  return true;
}

bool FusionRules::readsAlongRows(const Cluster &cluster, int index, Operation *op) {
  const Dims d = dims(op->getResult(0));
  for (Value v : op->getOperands()) {
    llvm::SmallSetVector<int, 4> from;
    c.producers(v, from);
    if (!from.contains(index))
      continue;
    const Dims o = dims(v);
    if (o.size() != d.size() || (o != d && !isRowShape(cluster, o)))
      return false;
    Operation *def = v.getDefiningOp();
    if (c.of(def) < 0 && classify(def) == OpClass::Elementwise && !readsAlongRows(cluster, index, def))
      return false;
    if (c.of(def) < 0 && isa<ExpandOp>(def)) {
      const Dims in = dims(def->getOperand(0));
      if (in.size() != o.size() || !isRowShape(cluster, in))
        return false;
    }
  }
  return true;
}

bool FusionRules::isCheap(const Cluster &cluster) {
  return cluster.shape == Shape::Pointwise && cluster.ops.size() <= 4 &&
         llvm::none_of(cluster.ops, [](Operation *op) {
           return isTranscendental(op) || isa<GatherOp, GatherElementsOp, GatherNdOp>(op);
         });
}

std::string FusionRules::elementwise(const Cluster &cluster, int index, Operation *op) {
  const Dims d = dims(op->getResult(0));
  if (cluster.shape == Shape::Alone)
    return "that op is alone in its launch";
  if (cluster.closed)
    return "that product already ends in a transpose";
  if (cluster.shape == Shape::Rows && !readsAlongRows(cluster, index, op))
    return "it reads across the rows";
  if (sameDomain(cluster, d) || isRowShape(cluster, d))
    return "";
  // Broadcast upwards: only what is cheap is computed again for every reader.
  if (isCheap(cluster) && c.isReadOnlyBy(index, op))
    return "";
  return "it works on other sizes";
}

std::string FusionRules::movement(const Cluster &cluster, int index, Operation *op) {
  if (cluster.shape == Shape::Alone)
    return "that op is alone in its launch";
  if (!c.isReadOnlyBy(index, op))
    return "what it moves is read elsewhere too";
  if (cluster.shape == Shape::Contraction)
    return isa<TransposeOp>(op) && !cluster.closed ? ""
                                                   : "a product ends in elementwise ops and one transpose";
  if (cluster.shape != Shape::Pointwise)
    return "rows and reductions end in elementwise ops";
  bool reads = isa<GatherOp, GatherElementsOp, GatherNdOp>(op);
  if (reads && !isCheap(cluster))
    return "gathered values would be computed many times";
  bool grows = isa<ExpandOp, PadOp>(op);
  if (grows && !isCheap(cluster))
    return "repeated values would be computed many times";
  return "";
}

std::string FusionRules::reduction(const Cluster &cluster, int index, Operation *op) {
  if (cluster.shape == Shape::Alone)
    return "that op is alone in its launch";
  if (cluster.shape == Shape::Contraction)
    return "a product's sums are not a row in one place";
  if (cluster.shape == Shape::Reduction)
    return "it would reduce what another loop reduces";
  const Dims in = dims(op->getOperand(0));
  auto reduce = dyn_cast<ReduceOp>(op);
  SmallVector<int64_t> axes;
  if (reduce)
    axes.assign(reduce.getAxes().begin(), reduce.getAxes().end());
  else
    axes.push_back(cast<ArgReduceOp>(op).getAxis());
  int64_t kept = int64_t(in.size()) - int64_t(axes.size());
  bool trailing = llvm::all_of(axes, [&](int64_t a) { return a >= kept; });
  if (cluster.shape == Shape::Rows) {
    if (in != cluster.domain)
      return "it works on other sizes";
    return trailing && kept == cluster.rowRank ? "" : "it reduces other dimensions than that row";
  }
  if (trailing && in == cluster.domain)
    return "";
  return c.isReadOnlyBy(index, op) ? "" : "what it reduces is read elsewhere too";
}

std::string FusionRules::whyNotJoin(const Cluster &cluster, int index, Operation *op) {
  if (cluster.ops.size() >= kMaxOps)
    return "that launch has many ops already";
  switch (classify(op)) {
  case OpClass::Elementwise:
    return elementwise(cluster, index, op);
  case OpClass::Movement:
    return movement(cluster, index, op);
  case OpClass::Reduce:
    return reduction(cluster, index, op);
  default:
    return "it starts a launch";
  }
}

void FusionRules::join(Cluster &cluster, Operation *op) {
  const Dims d = dims(op->getResult(0));
  if (classify(op) == OpClass::Reduce) {
    if (cluster.shape == Shape::Rows)
      return;
    const Dims in = dims(op->getOperand(0));
    auto reduce = dyn_cast<ReduceOp>(op);
    int64_t kept = int64_t(in.size()) - (reduce ? int64_t(reduce.getAxes().size()) : 1);
    bool trailing = reduce ? llvm::all_of(reduce.getAxes(), [&](int64_t a) { return a >= kept; })
                           : int64_t(cast<ArgReduceOp>(op).getAxis()) == kept;
    cluster.shape = trailing ? Shape::Rows : Shape::Reduction;
    cluster.domain = trailing ? in : d;
    cluster.rowRank = kept;
    return;
  }
  if (cluster.shape == Shape::Contraction) {
    cluster.closed = isa<TransposeOp>(op);
    return;
  }
  if (cluster.shape == Shape::Pointwise)
    cluster.domain = d;
}

bool FusionRules::mayMerge(int into, int from, Operation *op) {
  const Cluster &a = c.clusters[into], &b = c.clusters[from];
  if (b.shape != Shape::Pointwise || b.ops.empty() || a.ops.size() + b.ops.size() > kMaxOps)
    return false;
  bool only = c.isReadOnlyBy(from, op);
  // A concat's parts, a gather's indices: other sizes, but nobody else reads them.
  if (classify(op) == OpClass::Movement)
    return a.shape == Shape::Pointwise && only && movement(b, from, op).empty();
  if (a.shape == Shape::Pointwise && sameDomain(a, b.domain))
    return true;
  if (a.shape == Shape::Rows && (b.domain == a.domain || isRowShape(a, b.domain)))
    return true;
  if (a.shape == Shape::Contraction && !a.closed && only && b.domain == a.domain)
    return llvm::none_of(b.ops, [](Operation *o) { return isa<GatherOp, GatherElementsOp, GatherNdOp>(o); });
  return only && isCheap(b) && a.shape != Shape::Alone && !a.closed;
}

} // namespace quaver::dispatch
