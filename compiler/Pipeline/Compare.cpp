#include "compiler/Pipeline/Compare.h"
#include "compiler/Interpreter/Inputs.h"
#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Pipeline/Frontend.h"
#include "compiler/Precision/Precision.h"
#include "dialects/Graph/Analysis/DimExpr.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cmath>

using namespace mlir;
using nlohmann::json;

namespace quaver::pipeline {

using interpreter::Tensor;

namespace {

constexpr int64_t kSymbolSize = 16;

/// Name of a node's value: the node, and which of its results.
using Key = std::pair<std::string, unsigned>;

std::string nodeOf(Operation *op) {
  auto name = dyn_cast<NameLoc>(op->getLoc());
  return name ? name.getName().str() : std::string();
}

/// The op that gives each node's value in the end: a node may have become several ops, the last of them
/// counts. Regions of loops run many times, so that their ops have no one value.
std::map<std::string, Operation *> lastOps(func::FuncOp entry) {
  std::map<std::string, Operation *> last;
  for (Operation &op : entry.getBody().front())
    if (op.getNumResults() && !isa<graph::GetWeightOp, graph::ConstantOp, graph::SizesOp>(op))
      if (std::string node = nodeOf(&op); !node.empty())
        last[node] = &op;
  return last;
}

struct Difference {
  double signal = 0, noise = 0, maxError = 0, magnitude = 0;
  int64_t notFinite = 0;

  void add(const Tensor &reference, const Tensor &value) {
    for (int64_t i = 0; i < reference.size(); ++i) {
      double r = reference.number(i), v = value.number(i);
      if (!std::isfinite(r) || !std::isfinite(v)) {
        notFinite += !(r == v || (std::isnan(r) && std::isnan(v)));
        continue;
      }
      double e = r - v;
      signal += r * r, noise += e * e;
      maxError = std::max(maxError, std::abs(e));
      magnitude = std::max(magnitude, std::abs(r));
    }
  }

  json describe() const {
    json j = {
        {"max_error", maxError}, {"magnitude", magnitude}, {"not_finite", notFinite}, {"sqnr_db", nullptr}};
    if (noise > 0)
      j["sqnr_db"] = signal > 0 ? 10 * std::log10(signal / noise) : -300.0;
    return j;
  }
};

bool isWorse(const json &a, const json &b) {
  if ((a["not_finite"] > 0) != (b["not_finite"] > 0))
    return a["not_finite"] > 0;
  if (a["sqnr_db"].is_null() || b["sqnr_db"].is_null())
    return !a["sqnr_db"].is_null() && b["sqnr_db"].is_null();
  return a["sqnr_db"] < b["sqnr_db"];
}

/// Rows of the table that `input` indexes, through casts and views; nullopt if it indexes none.
std::optional<int64_t> rowsIndexedBy(Value input) {
  for (OpOperand &use : input.getUses()) {
    Operation *op = use.getOwner();
    if (auto gather = dyn_cast<graph::GatherOp>(op); gather && use.getOperandNumber() == 1) {
      int64_t rows = cast<RankedTensorType>(gather->getOperand(0).getType()).getDimSize(gather.getAxis());
      if (!ShapedType::isDynamic(rows))
        return rows;
    }
    if (isa<graph::CastOp, graph::ReshapeOp, graph::ExpandDimsOp, graph::SqueezeOp, graph::TransposeOp>(op))
      if (auto rows = rowsIndexedBy(op->getResult(0)))
        return rows;
  }
  return std::nullopt;
}

/// Invents inputs; a dimension symbol has one size in all of them.
class Inventor {
public:
  Inventor(func::FuncOp entry, const CompileOptions &options) : entry(entry), options(options) {}

  std::string spec(unsigned i) {
    auto type = cast<RankedTensorType>(entry.getArgument(i).getType());
    auto names = entry.getArgAttrOfType<ArrayAttr>(i, "graph.dims");
    std::string text;
    for (auto [d, n] : llvm::enumerate(type.getShape())) {
      bool named = names && d < names.size();
      text += std::to_string(ShapedType::isDynamic(n)
                                 ? size(named ? cast<StringAttr>(names[d]).getValue() : "", d)
                                 : n) +
              "x";
    }
    Type element = type.getElementType();
    text += std::string(mlir_name(interpreter::elementTypeOf(element)));
    if (isa<FloatType>(element))
      return text + "=normal(0,1)";
    if (auto rows = rowsIndexedBy(entry.getArgument(i)))
      return text + "=rand(0," + std::to_string(*rows) + ")";
    return text + "=1";
  }

private:
  int64_t size(llvm::StringRef name, size_t position) {
    auto expr = graph::DimExpr::parse(name);
    if (!expr)
      return position == 0 ? 1 : kSymbolSize;
    return expr
        ->evaluate([&](llvm::StringRef symbol) -> std::optional<int64_t> {
          auto [it, isNew] = sizes.try_emplace(symbol.str(), position == 0 ? 1 : kSymbolSize);
          if (auto range = options.dims.find(symbol.str()); isNew && range != options.dims.end())
            it->second = std::clamp(it->second, range->second.first, range->second.second);
          return it->second;
        })
        .value_or(1);
  }

  func::FuncOp entry;
  const CompileOptions &options;
  std::map<std::string, int64_t> sizes;
};

/// All inputs as specs, in the entry's order; an unknown name is an error of inputsFromSpecs.
std::vector<std::string> completed(func::FuncOp entry, std::vector<std::string> specs,
                                   const CompileOptions &options) {
  Inventor inventor(entry, options);
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    std::string name = interpreter::inputName(entry, i) + "=";
    if (llvm::none_of(specs, [&](const std::string &s) { return llvm::StringRef(s).starts_with(name); }))
      specs.push_back(name + inventor.spec(i));
  }
  return specs;
}

} // namespace

StatusOr<json> compare(const CompileOptions &options, const std::vector<std::string> &inputs, uint64_t seed,
                       const Progress &progress) {
  QUAVER_RETURN_IF_ERROR(precision::check(options.precision));
  CompileOptions asFile = options;
  asFile.precision = "source";
  asFile.emitStages.clear();
  Frontend reference(asFile, progress), chosen(options, progress);
  for (Frontend *f : {&reference, &chosen}) {
    QUAVER_RETURN_IF_ERROR(f->import());
    QUAVER_RETURN_IF_ERROR(f->simplify());
  }
  auto entry = interpreter::findEntry(reference.getModule(), "");
  if (!entry.ok())
    return entry.status();
  auto tensors = interpreter::inputsFromSpecs(*entry, completed(*entry, inputs, options), seed);
  if (!tensors.ok())
    return tensors.status();

  struct Run {
    std::map<std::string, Operation *> last;
    llvm::SmallVector<Tensor> outputs;
  };
  std::map<Key, Tensor> values;
  std::map<Key, json> found;
  auto run = [&](Frontend &f, Run &r, bool isReference) -> Status {
    func::FuncOp function = *f.getModule().getOps<func::FuncOp>().begin();
    r.last = lastOps(function);
    llvm::DenseMap<Operation *, std::string> nodes;
    for (auto &[node, op] : r.last)
      nodes[op] = node;
    interpreter::Interpreter machine(f.getModule(), f.getWeights());
    int done = 0;
    machine.setHook([&](Operation *op, llvm::ArrayRef<Tensor>, llvm::MutableArrayRef<Tensor> results) {
      auto node = nodes.find(op);
      if (node == nodes.end())
        return;
      progress(isReference ? "running as the file says" : "running as decided", ++done, int(nodes.size()));
      for (auto [i, value] : llvm::enumerate(results)) {
        Key key{node->second, i};
        if (isReference) {
          values[key] = value;
          continue;
        }
        auto it = values.find(key);
        if (it == values.end() || it->second.shape() != value.shape())
          continue;
        Difference d;
        d.add(it->second, value);
        json j = d.describe();
        j["node"] = node->second;
        j["op"] = op->getName().getStringRef().str();
        j["elements"] = value.size();
        j["type"] = std::string(mlir_name(value.type()));
        found[key] = std::move(j);
        values.erase(it); // compared: its memory is free
      }
    });
    auto outputs = machine.run("", *tensors);
    if (failed(outputs))
      return f.failed("interpreting");
    r.outputs = *outputs;
    return OkStatus();
  };
  Run first, second;
  QUAVER_RETURN_IF_ERROR(run(reference, first, true));
  QUAVER_RETURN_IF_ERROR(run(chosen, second, false));

  json report = {{"model", options.model},
                 {"precision", options.precision},
                 {"ops", json::array()},
                 {"outputs", json::array()}};
  for (auto &[key, j] : found)
    report["ops"].push_back(std::move(j));
  std::stable_sort(report["ops"].begin(), report["ops"].end(), isWorse);
  for (auto [i, pair] : llvm::enumerate(llvm::zip(first.outputs, second.outputs))) {
    auto &[r, v] = pair;
    if (r.shape() != v.shape())
      return InternalError("output ", i, " has another shape with precision ", options.precision);
    Difference d;
    d.add(r, v);
    json j = d.describe();
    j["name"] = interpreter::outputName(*entry, i);
    report["outputs"].push_back(std::move(j));
  }
  return report;
}

} // namespace quaver::pipeline
