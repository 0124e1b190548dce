// When an op may join the cluster of a producer, and when two clusters become one. Spelled out rule by rule.
#pragma once
#include "compiler/Dispatch/Clusters.h"

namespace quaver::dispatch {

class FusionRules {
public:
  FusionRules(Clusters &c) : c(c) {}
  /// Why `op` cannot join `cluster` (one clause); empty when it can. Does not look at cycles.
  std::string whyNotJoin(const Cluster &cluster, int index, mlir::Operation *op);
  /// Changes the cluster's shape and domain to what they are with `op` in it. Before the op is added.
  void join(Cluster &cluster, mlir::Operation *op);
  /// May the producers' cluster `from` be computed inside `into`, which `op` has just joined?
  bool mayMerge(int into, int from, mlir::Operation *op);

private:
  std::string elementwise(const Cluster &cluster, int index, mlir::Operation *op);
  std::string movement(const Cluster &cluster, int index, mlir::Operation *op);
  std::string reduction(const Cluster &cluster, int index, mlir::Operation *op);
  bool sameDomain(const Cluster &cluster, const Dims &dims);
  bool isRowShape(const Cluster &cluster, const Dims &dims);
  /// Do the operands that `op` reads from the rows lie along them (not across, as [b, s] beside [b, s, s])?
  bool readsAlongRows(const Cluster &cluster, int index, mlir::Operation *op);
  bool isCheap(const Cluster &cluster);
  const Dims &dims(mlir::Value v) { return c.shapes.get(v).dims; }
  Clusters &c;
};

} // namespace quaver::dispatch
