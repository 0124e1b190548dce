// What a handler of one ONNX operator sees and does.
#pragma once
#include "compiler/Import/Onnx/OnnxFile.h"
#include "dialects/Graph/IR/GraphBuilder.h"

namespace quaver::import {

/// What an ONNX name stands for: a tensor, a list of tensors (sequences are known at compile time), or
/// nothing.
struct Item {
  mlir::Value value;
  std::optional<std::vector<mlir::Value>> sequence;
};

class Importer;

/// One node being imported. Handlers read inputs and attributes, build graph ops through `g`, and set
/// outputs. After error() the rest of a handler may run on; what it builds is thrown away.
class NodeImport {
public:
  NodeImport(Importer &importer, const onnx::Node &node, int opset, std::vector<Item> inputs,
             graph::GraphBuilder &g)
      : importer(importer), node(node), opset(opset), items(std::move(inputs)), g(g),
        outputs(node.output_size()) {}

  Importer &importer;
  const onnx::Node &node;
  const int opset; // version of the node's domain
  std::vector<Item> items;
  graph::GraphBuilder &g;
  std::vector<Item> outputs;

  // Inputs.
  size_t inputCount() const { return items.size(); }
  bool has(size_t i) const { return i < items.size() && items[i].value; }
  /// A tensor input that must be there.
  mlir::Value in(size_t i);
  /// The input, or null.
  mlir::Value optional(size_t i) { return has(i) ? items[i].value : mlir::Value(); }
  const std::vector<mlir::Value> &sequence(size_t i);
  /// The constant elements of an integer input; an error when they depend on data.
  llvm::SmallVector<int64_t> constantInts(size_t i);
  int64_t constantInt(size_t i);
  /// The one constant element of a float (or integer) input.
  std::optional<double> constantFloat(size_t i);

  // Attributes. An attribute of another type than asked for is an error.
  bool hasAttr(llvm::StringRef name) { return find(name) != nullptr; }
  int64_t i(llvm::StringRef name, int64_t otherwise);
  double f(llvm::StringRef name, double otherwise);
  std::string s(llvm::StringRef name, llvm::StringRef otherwise);
  llvm::SmallVector<int64_t> ints(llvm::StringRef name, llvm::ArrayRef<int64_t> otherwise = {});
  llvm::SmallVector<double> floats(llvm::StringRef name, llvm::ArrayRef<double> otherwise = {});
  const onnx::Attribute *find(llvm::StringRef name);
  const onnx::Graph *graph(llvm::StringRef name);
  /// The MLIR type of a data type attribute or number.
  mlir::Type type(int64_t onnxType);

  // Axes: negative ones count from the end; out of range is an error.
  int64_t axis(int64_t value, int64_t rank);
  llvm::SmallVector<int64_t> axes(llvm::ArrayRef<int64_t> values, int64_t rank);

  // Outputs.
  void set(size_t i, mlir::Value v) {
    if (i < outputs.size())
      outputs[i].value = v;
  }
  void set(mlir::Value v) { set(0, v); }
  bool wants(size_t i) const { return i < size_t(node.output_size()) && !node.output(int(i)).empty(); }

  // Errors. The node's name, operator and opset are added.
  template <class... P> void error(const P &...parts) { fail(str_cat(parts...)); }
  bool failed() const { return !message.empty() || g.failed(); }
  const std::string &errorText() const { return message; }

private:
  void fail(std::string text);
  std::string message;
};

using Handler = void (*)(NodeImport &n);

/// One row of the table: the handler serves opsets first to last (0 = newest) of the domain.
struct HandlerRow {
  const char *domain;
  const char *op;
  int first, last;
  Handler handler;
};

// The rows by category.
llvm::ArrayRef<HandlerRow> elementwiseHandlers();
llvm::ArrayRef<HandlerRow> activationHandlers();
llvm::ArrayRef<HandlerRow> movementHandlers();
llvm::ArrayRef<HandlerRow> reductionHandlers();
llvm::ArrayRef<HandlerRow> contractionHandlers();
llvm::ArrayRef<HandlerRow> normalizationHandlers();
llvm::ArrayRef<HandlerRow> attentionHandlers();
llvm::ArrayRef<HandlerRow> quantizationHandlers();
llvm::ArrayRef<HandlerRow> sequenceHandlers();
llvm::ArrayRef<HandlerRow> controlHandlers();

} // namespace quaver::import
