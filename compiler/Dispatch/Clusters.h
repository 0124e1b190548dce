// Which ops of a block share a launch. Decides only; BuildDispatches obeys.
#pragma once
#include "compiler/Dispatch/FormDispatches.h"
#include "compiler/Dispatch/OpClass.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace quaver::dispatch {

/// What a cluster's loops look like, hence what may join it.
enum class Shape {
  Pointwise,   // elementwise and movement ops over one domain
  Rows,        // reductions over the trailing dimensions of the domain, and elementwise ops on it
  Reduction,   // a reduction over other dimensions; its domain is the result's
  Contraction, // matmul, conv; its domain is the product's
  Alone,
};

struct Cluster {
  Shape shape = Shape::Pointwise;
  Dims domain;
  int64_t rowRank = 0;                      // Rows: leading dimensions that are kept
  bool closed = false;                      // ends in a transpose of a product
  llvm::SmallVector<mlir::Operation *> ops; // in program order
};

class Clusters {
public:
  Clusters(mlir::Block &block, graph::ShapeAnalysis &shapes, const FormOptions &options);
  void decide();

  llvm::ArrayRef<Cluster> all() const { return clusters; }
  /// -1: in none.
  int of(mlir::Operation *op) const;
  /// Copied into every region that reads it.
  bool isCopied(mlir::Operation *op) const { return views.contains(op) || recomputed.contains(op); }
  /// Copied where operand `use` of a cluster's op reads it?
  bool isCopiedAt(mlir::OpOperand &use) const;
  /// Does the op read its data through pointers (loops, products and the views they read)?
  bool readsInPlace(mlir::Operation *op) const;
  /// Makes an op that is copied elsewhere a cluster too, because its value itself is needed.
  int addAlone(mlir::Operation *op);

private:
  friend class FusionRules;
  void place(mlir::Operation *op);
  void add(int cluster, mlir::Operation *op);
  void merge(int into, int from);
  /// Moves the last ops of a product to the launch that alone reads them, where that saves a result.
  void sink(int product);
  /// Clusters whose values `v` is made of, through copied ops and views.
  void producers(mlir::Value v, llvm::SmallSetVector<int, 4> &found) const;
  /// Ops that read `v`, through copied ops and views: in-block ones, or the op of the block that contains the
  /// reader.
  void readers(mlir::Value v, llvm::SmallSetVector<mlir::Operation *, 8> &found) const;
  /// Is every value of the cluster read by itself and `besides` only?
  bool isReadOnlyBy(int cluster, mlir::Operation *besides) const;
  /// Would one launch of these ops (clusters `a`, `b` or -1, and `op` or null) have to run both before and
  /// after another one?
  bool wouldCycle(int a, int b, mlir::Operation *op) const;

  mlir::Block &block;
  graph::ShapeAnalysis &shapes;
  const FormOptions &options;
  llvm::DenseSet<mlir::Operation *> views, recomputed;
  llvm::SmallVector<Cluster> clusters;
  llvm::DenseMap<mlir::Operation *, int> ofOp, position;
};

} // namespace quaver::dispatch
