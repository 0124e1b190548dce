// Where every tensor of an entry lies: which memory, how many bytes, from which instruction to which.
#pragma once
#include "dialects/Graph/Analysis/ShapeAnalysis.h"
#include "dialects/Plan/IR/Packing.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace quaver::plan_emit {

enum class Memory { Arena, Input, Output, Weight, State, Dynamic };
llvm::StringRef spell(Memory memory);

/// One allocation. Values that are views of it (reshape, expand_dims, squeeze, bitcast) share it.
struct Storage {
  Memory memory = Memory::Arena;
  int64_t index = 0;     // of the input, output, weight or state; running number otherwise
  graph::DimExpr bytes;  // what is reserved: sizes that depend on data are replaced by their bounds
  graph::DimExpr offset; // arena only; set by placeInArena
  mlir::Type element;
  std::string label;
  int first = 0, last = 0; // instruction positions, inclusive
};

/// A constant that the plan must carry, in one layout: a weight symbol or a graph.constant's bytes. One that
/// kernels read in two layouts is there twice.
struct WeightUse {
  std::string weight;            // symbol of a graph.weight, or empty:
  mlir::ElementsAttr constant;   // the value of a graph.constant
  std::string name;              // unique among the uses
  std::string storage = "dense"; // the plan's Weight.storage and packing
  llvm::SmallVector<int64_t, 4> packing;
};

/// Storage of all values of one entry in tensor form. Positions number the instructions in program order; a
/// loop's outside values live until its end.
class StorageAnalysis {
public:
  StorageAnalysis(mlir::func::FuncOp entry, graph::ShapeAnalysis &shapes,
                  llvm::SmallVectorImpl<WeightUse> &weights)
      : entry(entry), shapes(shapes), weights(weights) {}
  mlir::LogicalResult run();

  int storageOf(mlir::Value v) const;
  /// Of what a dispatch reads as operand i: a packed copy where it wants a constant packed.
  int storageOfOperand(plan_ir::DispatchOp op, unsigned i) const;
  llvm::MutableArrayRef<Storage> all() { return storages; }
  /// Return operand i must be copied into output i (it is an input, a weight or another output too).
  bool needsOutputCopy(unsigned i) const { return copiedOutputs.count(i); }
  /// graph.read_state ops whose value outlives an update of the state: they get a copy of their own.
  bool needsStateCopy(mlir::Operation *read) const { return copiedReads.count(read); }
  /// The plan's state symbols, in order of index.
  llvm::ArrayRef<std::string> stateNames() const { return states; }
  /// Storage of a loop-carried value (init i) of a graph.while.
  int carried(mlir::Operation *loop, unsigned i) const { return carriedOf.lookup({loop, i}); }

private:
  mlir::LogicalResult visitBlock(mlir::Block &block);
  mlir::LogicalResult visitIf(mlir::Operation *op);
  mlir::LogicalResult visitWhile(mlir::Operation *op);
  void claimOutputs();
  int create(Memory memory, int64_t index, mlir::Value like, std::string label);
  void touch(mlir::Value v);
  int weightIndex(mlir::Operation *source, const plan_ir::Packing *packing = nullptr);
  int64_t stateIndex(llvm::StringRef name);
  graph::DimExpr reservedBytes(mlir::Value v, bool &bounded);

  mlir::func::FuncOp entry;
  graph::ShapeAnalysis &shapes;
  llvm::SmallVectorImpl<WeightUse> &weights;
  llvm::SmallVector<Storage> storages;
  llvm::DenseMap<mlir::Value, int> of;
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, int> packedOf; // dispatch, operand
  llvm::DenseMap<mlir::Value, unsigned> outputOf;                       // root value -> output index
  llvm::DenseSet<unsigned> copiedOutputs;
  llvm::DenseSet<mlir::Operation *> copiedReads;
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, int> carriedOf;
  llvm::SmallVector<llvm::SmallVector<int>> loops; // storages touched inside each open loop
  llvm::DenseMap<int64_t, int> weightOf;           // index of a weight -> storage
  llvm::SmallVector<std::string> states;
  int position = 0;
};

/// Is the op a view of its first operand's bytes?
bool isAlias(mlir::Operation *op);

/// Names of the source nodes behind a location, joined by " + ".
std::string labelOf(mlir::Location loc);

/// Bytes of one element in memory (i1: 1).
int64_t elementBytes(mlir::Type element);

/// Gives every Arena storage an offset so that storages which live at the same time do not overlap; returns
/// the peak. Sizes are expressions: a place is reused where its lifetime is over, and is as large as the
/// largest use of it.
graph::DimExpr placeInArena(llvm::MutableArrayRef<Storage> storages, graph::ShapeAnalysis &shapes);

} // namespace quaver::plan_emit
