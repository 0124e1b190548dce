// The stages up to a simplified graph module: what compiling and comparing share.
#pragma once
#include "compiler/Import/Onnx/ImportOnnx.h"
#include "compiler/Pipeline/Pipeline.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include <nlohmann/json.hpp>

namespace quaver::pipeline {

/// One model under way. Collects diagnostics of all its passes; not thread-safe.
class Frontend {
public:
  /// Both references outlive the frontend.
  Frontend(const CompileOptions &options, const Progress &progress);

  /// Reads the model: graph ops as the file says them.
  Status import();
  /// Shape chains become constants; nothing else changes. After import().
  Status foldShapes();
  /// The precision of options, and its decisions. After foldShapes().
  Status decide();
  /// All of the above, then composites and constants: what is left is work for the run. After import().
  Status simplify();

  mlir::MLIRContext &getContext() { return context; }
  mlir::ModuleOp getModule() { return *model.module; }
  WeightStore &getWeights() { return model.weights; }
  const std::string &getModelName() const { return model.name; }
  /// Warnings and remarks so far.
  const std::string &getNotes() const { return notes; }
  /// One object per operation that a precision was chosen for, after decide(): the report's
  /// precision_decisions.
  const nlohmann::json &getPrecisionDecisions() const { return precisionDecisions; }

  bool hasErrors() const { return !errors.empty(); }
  /// The error of a stage that failed with the diagnostics collected.
  Status failed(const char *stage);
  /// Writes the module after a stage if the user asked for it.
  Status dump(const char *stage, mlir::ModuleOp module);

private:
  Status checkDimensions();
  Status runPasses(const char *stage, llvm::function_ref<void(mlir::OpPassManager &)> add);
  mlir::LogicalResult collect(mlir::Diagnostic &d);

  const CompileOptions &options;
  const Progress &progress;
  mlir::MLIRContext context;
  mlir::ScopedDiagnosticHandler handler;
  std::string errors, notes;
  import::ImportedModel model;
  nlohmann::json precisionDecisions = nlohmann::json::array();
  int stages = 0;
};

} // namespace quaver::pipeline
