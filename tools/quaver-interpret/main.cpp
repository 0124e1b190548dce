// quaver-interpret: runs a model (.onnx) or a stage's dump (.mlir) on the interpreter.
#include "compiler/Import/Onnx/ImportOnnx.h"
#include "compiler/Interpreter/Inputs.h"
#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Precision/Precision.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include "dialects/Plan/IR/PlanDialect.h"
#include "dialects/Scale/IR/ScaleDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

using namespace quaver;
using namespace quaver::interpreter;
namespace cl = llvm::cl;

static cl::opt<std::string> file(cl::Positional, cl::desc("FILE.onnx or FILE.mlir"));
static cl::list<std::string> inputs("input", cl::desc("NAME=@FILE.npy or NAME=1x128xi64=rand(0,32000)"));
static cl::list<std::string> outputs("output", cl::desc("NAME=@FILE.npy; outputs without one are printed"));
static cl::opt<std::string> entryName("entry", cl::desc("the entry to run (default: the only one)"));
static cl::opt<std::string> preset("precision", cl::desc("run as this preset computes (default: source)"),
                                   cl::init("source"));
static cl::opt<uint64_t> seed("seed", cl::desc("of random inputs"));
static cl::opt<bool> trace("trace", cl::desc("print every op with its results' types as it is computed"));
static cl::opt<std::string> batch(
    "batch",
    cl::desc(
        "a file of JSON lines {model, inputs: [file.npy], outputs: PREFIX}; prints one JSON line for each"));

namespace {

struct Loaded {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  WeightStore weights;
};

StatusOr<Loaded> loadFile(mlir::MLIRContext &context, const std::string &path) {
  if (!llvm::StringRef(path).ends_with(".mlir")) {
    QUAVER_ASSIGN_OR_RETURN(import::ImportedModel model, import::importOnnx(context, path));
    return Loaded{std::move(model.module), std::move(model.weights)};
  }
  Loaded loaded{mlir::parseSourceFile<mlir::ModuleOp>(path, &context), {}};
  if (!loaded.module)
    return InvalidArgumentError(path, " cannot be parsed");
  QUAVER_RETURN_IF_ERROR(
      loadWeights(*loaded.module, llvm::sys::path::parent_path(path).str(), loaded.weights));
  return loaded;
}

StatusOr<Loaded> load(mlir::MLIRContext &context, const std::string &path) {
  QUAVER_RETURN_IF_ERROR(precision::check(preset));
  QUAVER_ASSIGN_OR_RETURN(Loaded loaded, loadFile(context, path));
  if (preset != "source" && failed(precision::apply(*loaded.module, preset)))
    return InvalidArgumentError(path, " cannot be computed as ", std::string(preset));
  return loaded;
}

StatusOr<llvm::SmallVector<Tensor>> interpret(Loaded &loaded, llvm::StringRef entry,
                                              llvm::ArrayRef<Tensor> values) {
  Interpreter interpreter(*loaded.module, loaded.weights);
  if (trace)
    interpreter.setHook(
        [](mlir::Operation *op, llvm::ArrayRef<Tensor>, llvm::MutableArrayRef<Tensor> results) {
          llvm::errs() << op->getName() << " " << op->getLoc() << " ->";
          for (const Tensor &t : results)
            llvm::errs() << " " << t.typeString();
          llvm::errs() << "\n";
        });
  auto results = interpreter.run(entry, values);
  if (failed(results))
    return InternalError("the run failed");
  return std::move(*results);
}

Status runOne() {
  mlir::MLIRContext context;
  context
      .loadDialect<graph::GraphDialect, scale::ScaleDialect, plan_ir::PlanDialect, mlir::func::FuncDialect>();
  QUAVER_ASSIGN_OR_RETURN(Loaded loaded, load(context, file));
  QUAVER_ASSIGN_OR_RETURN(mlir::func::FuncOp entry, findEntry(*loaded.module, entryName));
  QUAVER_ASSIGN_OR_RETURN(auto values, inputsFromSpecs(entry, std::vector<std::string>(inputs), seed));
  QUAVER_ASSIGN_OR_RETURN(auto results, interpret(loaded, entry.getName(), values));
  std::map<std::string, std::string> paths;
  for (const std::string &o : outputs) {
    auto [name, path] = llvm::StringRef(o).split("=@");
    if (path.empty())
      return InvalidArgumentError("output '", o, "': expected NAME=@FILE.npy");
    paths[name.str()] = path.str();
  }
  for (auto [i, t] : llvm::enumerate(results)) {
    std::string name = outputName(entry, i);
    auto it = paths.find(name);
    if (it == paths.end()) {
      llvm::outs() << name << ": " << toText(t) << "\n";
      continue;
    }
    QUAVER_RETURN_IF_ERROR(writeTensor(it->second, t));
    paths.erase(it);
  }
  if (!paths.empty())
    return NotFoundError("the model has no output '", paths.begin()->first, "'");
  return OkStatus();
}

StatusOr<nlohmann::json> runLine(const nlohmann::json &line) {
  mlir::MLIRContext context;
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &d) { diagnostics += d.str() + "; "; });
  context
      .loadDialect<graph::GraphDialect, scale::ScaleDialect, plan_ir::PlanDialect, mlir::func::FuncDialect>();
  QUAVER_ASSIGN_OR_RETURN(Loaded loaded, load(context, line.at("model")));
  QUAVER_ASSIGN_OR_RETURN(mlir::func::FuncOp entry, findEntry(*loaded.module, ""));
  llvm::SmallVector<Tensor> values;
  for (const std::string path : line.at("inputs")) {
    if (values.size() == entry.getNumArguments())
      return InvalidArgumentError("more inputs than the entry takes");
    auto type =
        elementTypeOf(mlir::getElementTypeOrSelf(entry.getArgument(unsigned(values.size())).getType()));
    QUAVER_ASSIGN_OR_RETURN(Tensor t, readTensor(path, type));
    values.push_back(t);
  }
  auto results = interpret(loaded, "", values);
  if (!results.ok())
    return InternalError(diagnostics.empty() ? results.status().message() : diagnostics);
  nlohmann::json report{{"ok", true}, {"outputs", nlohmann::json::array()}};
  for (auto [i, t] : llvm::enumerate(*results)) {
    std::string path = line.at("outputs").get<std::string>() + std::to_string(i) + ".npy";
    QUAVER_RETURN_IF_ERROR(writeTensor(path, t));
    report["outputs"].push_back(
        {{"name", outputName(entry, i)}, {"file", path}, {"type", std::string(mlir_name(t.type()))}});
  }
  return report;
}

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "runs a model on the interpreter\n");
  if (batch.empty()) {
    Status status = file.empty() ? InvalidArgumentError("no FILE given") : runOne();
    if (!status.ok())
      llvm::errs() << "error: " << status.message() << "\n";
    return !status.ok();
  }
  std::ifstream lines(batch);
  for (std::string text; std::getline(lines, text);) {
    auto line = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    auto report = line.is_object() ? runLine(line) : InvalidArgumentError("not a JSON object: ", text);
    std::cout << (report.ok() ? *report : nlohmann::json{{"ok", false}, {"error", report.status().message()}})
                     .dump()
              << std::endl;
  }
}
