// Walks a model: scopes, initializers, functions, subgraphs. Private to this room.
#pragma once
#include "compiler/Import/Onnx/ImportOnnx.h"
#include "compiler/Import/Onnx/NodeImport.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace quaver::import {

class Importer {
public:
  Importer(mlir::MLIRContext &context, OnnxFile &file, const ImportOptions &options, ImportedModel &out);
  Status run();

  // For handlers of control flow and sequences.
  /// Imports a subgraph at the builder's insertion point with its inputs bound to `arguments`; gives its
  /// outputs.
  Status importSubgraph(const onnx::Graph &graph, llvm::ArrayRef<mlir::Value> arguments,
                        std::vector<mlir::Value> &outputs);
  /// A tensor message as a value: a constant when small, a weight otherwise.
  StatusOr<mlir::Value> constant(const onnx::Tensor &tensor, llvm::StringRef name,
                                 std::optional<TensorBytes> stripped = std::nullopt);
  const onnx::Attribute *resolve(const onnx::Attribute *attribute);
  graph::ShapeAnalysis &shapeAnalysis() { return *shapes; }
  mlir::OpBuilder &builder() { return b; }

private:
  friend class NodeImport;
  struct Scope {
    llvm::StringMap<Item> names;
    const onnx::Graph *graph = nullptr; // whose initializers are looked up on demand
    llvm::StringMap<int> initializers;
  };
  struct Frame { // of a function call
    std::map<std::string, int> opsets;
    std::map<std::string, const onnx::Attribute *> attributes;
    std::string prefix; // of node names
    size_t firstScope = 0;
  };

  Status checkOperators();
  void collectUnsupported(const google::protobuf::RepeatedPtrField<onnx::Node> &nodes,
                          const std::map<std::string, int> &opsets, int depth, std::vector<std::string> &out);
  Status createEntry();
  Status declareInput(const onnx::ValueInfo &info, llvm::SmallVectorImpl<mlir::Type> &types,
                      llvm::SmallVectorImpl<mlir::DictionaryAttr> &attrs);
  std::string dimSymbol(const std::string &name);
  Status importNodes(const google::protobuf::RepeatedPtrField<onnx::Node> &nodes);
  Status importNode(const onnx::Node &node);
  Status callFunction(const onnx::Node &node, const onnx::Function &function, std::vector<Item> inputs);
  StatusOr<Item> lookup(const std::string &name);
  Status define(const std::string &name, Item item);
  mlir::Value weightOp(llvm::StringRef symbol, mlir::RankedTensorType type, llvm::StringRef name,
                       size_t bytes);
  // --- Checkpoint.cpp
  StatusOr<mlir::Value> fromCheckpoint(const SafeTensor &tensor, const onnx::Tensor &initializer);
  StatusOr<const SafeTensor *> scalesOf(const SafeTensor &codes);
  mlir::Value addWeight(const SafeTensor &tensor, llvm::ArrayRef<int64_t> shape, std::string *symbol);
  Status finishCheckpoint();
  void alignNames();
  const SafeTensor *storedTensor(llvm::StringRef initializer) const;
  Status finishEntry();
  Status checkOps();
  const onnx::Function *findFunction(const onnx::Node &node) const;
  static std::map<std::string, int>
  readOpsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetId> &ids);
  std::string describe(const onnx::Node &node) const;

  mlir::MLIRContext &context;
  OnnxFile &file;
  const ImportOptions &options;
  ImportedModel &out;
  mlir::OpBuilder b;
  std::unique_ptr<graph::ShapeAnalysis> shapes;
  mlir::func::FuncOp entry;
  std::vector<Scope> scopes;
  std::vector<Frame> frames;
  std::map<std::string, std::string> dimSymbols; // model's name -> symbol
  std::string diagnostics;                       // of ops, collected while importing
  int depth = 0;
  llvm::StringSet<> boundTensors;            // of the checkpoint
  std::string modelPrefix, checkpointPrefix; // before otherwise equal names; at most one is not empty
};

/// The handler of an operator at an opset; null when there is none.
const HandlerRow *findHandler(llvm::StringRef domain, llvm::StringRef op, int opset);
/// ONNX writes its own domain in two ways.
llvm::StringRef canonicalDomain(llvm::StringRef domain);

} // namespace quaver::import
