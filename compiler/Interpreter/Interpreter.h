// The interpreter: what a module of graph, scale and tensor-form plan ops computes. The judge of every pass
// and kernel.
#pragma once
#include "compiler/Interpreter/Tensor.h"
#include "compiler/Weights/WeightStore.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <map>

namespace quaver::interpreter {

/// Runs entries of one module. States live as long as the interpreter and start as their `init` (or zeros, at
/// the first use, when all sizes are known). Errors are diagnostics on the op: its name, location, and the
/// shapes at run time. Not thread-safe.
class Interpreter {
public:
  /// Both outlive the interpreter. The module is only read.
  Interpreter(mlir::ModuleOp module, const WeightStore &weights) : module(module), weights(weights) {}

  /// Called after every op with what it read and gave; it may replace results. Regions' ops come before their
  /// parent.
  using Hook = std::function<void(mlir::Operation *, llvm::ArrayRef<Tensor> operands,
                                  llvm::MutableArrayRef<Tensor> results)>;
  void setHook(Hook h) { hook = std::move(h); }

  /// Asked before every op of the entry; one that gives results stands for the op, which is not evaluated.
  using Recall = std::function<std::optional<llvm::SmallVector<Tensor>>(mlir::Operation *)>;
  void setRecall(Recall r) { recall = std::move(r); }

  /// Runs @entry (the only entry when empty). Inputs in the order of its arguments; sizes of arguments bind
  /// the dimension symbols.
  mlir::FailureOr<llvm::SmallVector<Tensor>> run(llvm::StringRef entry, llvm::ArrayRef<Tensor> inputs);
  /// One op by itself on given operands; for folding weights and for replaying captured ops. Ops with regions
  /// run them.
  mlir::FailureOr<llvm::SmallVector<Tensor>> evaluate(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);
  /// Can this op be evaluated at all (is it known)?
  static bool knows(mlir::Operation *op);

  /// The block's ops with its arguments bound; the operands of its terminator. For the evaluation of region
  /// ops.
  mlir::FailureOr<llvm::SmallVector<Tensor>> runBlock(mlir::Block &block, llvm::ArrayRef<Tensor> arguments);
  /// A dimension symbol's value in this run; nullopt before it is bound.
  std::optional<int64_t> dimension(llvm::StringRef symbol) const;

  mlir::FailureOr<Tensor> readState(mlir::Operation *reader, llvm::StringRef name);
  void writeState(llvm::StringRef name, Tensor value) { states[name] = std::move(value); }
  mlir::ModuleOp getModule() const { return module; }
  const WeightStore &getWeights() const { return weights; }

private:
  mlir::LogicalResult bindDimensions(mlir::Operation *func, llvm::ArrayRef<Tensor> inputs);
  mlir::LogicalResult runOp(mlir::Operation *op);
  mlir::LogicalResult bindDataDependent(mlir::Operation *op, llvm::ArrayRef<Tensor> results);
  mlir::LogicalResult checkResults(mlir::Operation *op, llvm::ArrayRef<Tensor> results);

  mlir::ModuleOp module;
  const WeightStore &weights;
  Hook hook;
  Recall recall;
  llvm::DenseMap<mlir::Value, Tensor> values;
  std::map<std::string, int64_t> dimensions;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<std::pair<int64_t, std::string>>>
      boundByData; // element (-1: the count) -> symbol
  llvm::StringMap<Tensor> states;
};

} // namespace quaver::interpreter
