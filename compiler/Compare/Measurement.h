// Error of every node of a model computed in a chosen precision: its own, what it inherits, and what its own
// does to the outputs.
#pragma once
#include "compiler/Compare/Difference.h"
#include "compiler/Compare/NodeValues.h"
#include "compiler/Interpreter/Interpreter.h"
#include "mlir/IR/BuiltinOps.h"

namespace quaver::compare {

/// One of the two modules made from one model, with its weights; both outlive the measurement.
struct Side {
  mlir::ModuleOp module;
  const WeightStore &weights;
  mlir::func::FuncOp entry;
};

/// Accumulated over runs. `total` compares the model computed as decided with the reference. `own` compares
/// what a node makes of the reference's inputs with what the reference makes of them.
struct NodeError {
  mlir::Operation *op = nullptr; // of the chosen module, which gives the value
  size_t order = 0;              // position in its entry
  ElementType type = ElementType::Invalid;
  int64_t elements = 0; // of one run's value
  Difference total, own;
  int64_t otherShapes = 0; // runs in which the value had another shape than the reference: not compared
};

/// What a node's own error alone does to each output: every other node computes as the reference does.
struct Effect {
  std::vector<Difference> outputs;
  /// The output with the smallest ratio of signal to noise; infinite when all are
  /// exact, -300 when one has elements that are not finite.
  double worstSqnr() const;
  /// Noise relative to the output's signal, summed over outputs: effects of small errors add up in it.
  double relativeNoise() const;
};

class Measurement {
public:
  using Progress = std::function<void(const char *stage, int done, int total)>;
  /// `effects`: for how many nodes the effect on the outputs is measured: those of the lowest own SQNR in the
  /// first run. Each costs the part of a reference run that depends on the node.
  Measurement(Side reference, Side chosen, int effects, Progress progress);

  /// Sees every op of the chosen module as it is computed as decided, each run; set before the first run.
  void setObserver(interpreter::Interpreter::Hook hook) { observer = std::move(hook); }

  /// Interprets: as the reference says, as decided, as decided with every node's inputs right, and the
  /// effects. Fails with diagnostics of the op at fault.
  mlir::LogicalResult addRun(llvm::ArrayRef<interpreter::Tensor> inputs);

  int runCount() const { return runs; }
  const std::map<NodeKey, NodeError> &nodes() const { return found; }
  const std::map<std::string, Effect> &effects() const { return effectOf; }
  const std::vector<Difference> &outputs() const { return outputErrors; }
  const NodeValues &chosenValues() const { return chosenNodes; }
  /// What the chosen module gave in the last run.
  llvm::ArrayRef<interpreter::Tensor> lastOutputs() const { return chosenOutputs; }

private:
  using Results = llvm::SmallVector<interpreter::Tensor>;
  mlir::LogicalResult runReference(llvm::ArrayRef<interpreter::Tensor> inputs);
  mlir::LogicalResult runChosen(llvm::ArrayRef<interpreter::Tensor> inputs);
  mlir::LogicalResult runForced(llvm::ArrayRef<interpreter::Tensor> inputs);
  mlir::LogicalResult runEffects(llvm::ArrayRef<interpreter::Tensor> inputs);
  NodeError &errorOf(const NodeValues::Handed &handed);
  std::vector<std::string> nodesOfLowestOwn() const;
  llvm::DenseSet<mlir::Operation *> dependents(const llvm::DenseSet<mlir::Operation *> &sources);

  Side reference, chosen;
  int effectCount;
  Progress progress;
  interpreter::Interpreter::Hook observer;
  NodeValues referenceNodes, chosenNodes;
  std::map<NodeKey, mlir::OpResult> referenceValue; // which value of the reference module a key names
  std::map<NodeKey, NodeError> found;
  std::map<std::string, Effect> effectOf;
  std::vector<Difference> outputErrors;
  int runs = 0;

  // Of the run under way.
  llvm::DenseMap<mlir::Operation *, Results> right; // every op of the reference's entry
  std::map<NodeKey, interpreter::Tensor>
      ownValues; // made of right inputs, where they differ from the reference
  Results referenceOutputs, chosenOutputs;
};

} // namespace quaver::compare
