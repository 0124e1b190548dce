// Which values of an entry the nodes of the source model hand on, in two modules made from one model.
#pragma once
#include "compiler/Interpreter/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace quaver::compare {

/// A node's name, and which of the values that it hands on, counted from the last one: precision adds ops in
/// front of a node's own, never behind them, so that equal keys mean equal values in both modules.
using NodeKey = std::pair<std::string, unsigned>;

/// Of an entry after graph::FoldShapes and precision::exposeProducts. Only ops directly in the entry count:
/// those in regions of loops run many times and have no one value. Constants, and what is made of constants
/// only, belong to no node.
class NodeValues {
public:
  explicit NodeValues(mlir::func::FuncOp entry);

  struct Handed {
    NodeKey key;
    mlir::OpResult value;
    bool isCastOf = false; // only a cast, in the same node, of the value that this key means
  };
  /// In the order of execution.
  llvm::ArrayRef<Handed> all() const { return values; }
  /// Those that this op makes.
  llvm::ArrayRef<Handed> madeBy(mlir::Operation *op) const;
  /// Nodes whose values `node` reads, through conversions and constants, without repeats, in name order.
  std::vector<std::string> inputsOf(llvm::StringRef node) const;
  /// The nodes with a product, look-up or other op of their own that read `value`, through conversions.
  std::vector<std::string> readersOf(mlir::Value value) const;

private:
  mlir::Block *body;
  std::vector<Handed> values;
  llvm::DenseMap<mlir::Operation *, std::pair<size_t, size_t>> ranges; // op -> its part of `values`
  llvm::DenseMap<mlir::Value, size_t> indexOf;
};

/// Conversions are what precision inserts: casts between floats, quantize and dequantize.
bool isConversion(mlir::Operation *op);

} // namespace quaver::compare
