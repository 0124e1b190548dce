#include "compiler/Pipeline/Frontend.h"
#include "compiler/Codegen/Common/KernelEmission.h"
#include "compiler/Codegen/Common/LowerKernels.h"
#include "compiler/Pipeline/FoldBlockScales.h"
#include "compiler/Pipeline/FoldWeights.h"
#include "compiler/Pipeline/ScaleLint.h"
#include "compiler/Precision/Precision.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include "dialects/Graph/Transforms/Passes.h"
#include "dialects/Plan/IR/PlanDialect.h"
#include "mlir/Transforms/Passes.h"
#include "runtime/base/atomic_file.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace quaver::pipeline {

Frontend::Frontend(const CompileOptions &options, const Progress &progress)
    : options(options), progress(progress), context(MLIRContext::Threading::DISABLED),
      handler(&context, [this](Diagnostic &d) { return collect(d); }) {
  context.loadDialect<graph::GraphDialect, plan_ir::PlanDialect, func::FuncDialect>();
  codegen::loadKernelDialects(context);
}

LogicalResult Frontend::collect(Diagnostic &d) {
  std::string where;
  if (auto name = dyn_cast<NameLoc>(d.getLocation()))
    where = "node \"" + name.getName().str() + "\": ";
  std::string &text = d.getSeverity() == DiagnosticSeverity::Error ? errors : notes;
  text += (text.empty() ? "" : "\n  ") + where + d.str();
  return success();
}

Status Frontend::failed(const char *stage) {
  return UnimplementedError(options.model.empty() ? "the model" : options.model, ": ", stage, ": ",
                            errors.empty() ? "failed without a message" : errors);
}

Status Frontend::dump(const char *stage, ModuleOp module) {
  if (options.emitStages.empty())
    return OkStatus();
  if (std::error_code error = llvm::sys::fs::create_directories(options.emitStages))
    return InvalidArgumentError(options.emitStages, ": cannot be created: ", error.message());
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return write_file_atomically(llvm::formatv("{0}/{1:2}-{2}.mlir", options.emitStages, stages++, stage).str(),
                               text);
}

Status Frontend::import() {
  progress("importing", 0, 1);
  import::ImportOptions importOptions{options.dims};
  std::optional<import::SafetensorsCheckpoint> checkpoint;
  if (!options.weights.empty()) {
    QUAVER_ASSIGN_OR_RETURN(checkpoint, import::SafetensorsCheckpoint::open(options.weights));
    importOptions.checkpoint = &*checkpoint;
  }
  auto imported = options.bytes ? import::importOnnx(context, *options.bytes, options.folder, importOptions)
                                : import::importOnnx(context, options.model, importOptions);
  if (!imported.ok())
    return imported.status();
  model = std::move(*imported);
  notes += model.notes;
  QUAVER_RETURN_IF_ERROR(checkDimensions());
  progress("importing", 1, 1);
  return dump("import", *model.module);
}

// A range for a symbol that the model does not have is a mistake, not a wish.
Status Frontend::checkDimensions() {
  std::string known;
  llvm::StringSet<> names;
  for (graph::DimOp dim : getModule().getOps<graph::DimOp>()) {
    names.insert(dim.getSymName());
    known += (known.empty() ? "" : ", ") + dim.getSymName().str();
  }
  for (auto &[name, range] : options.dims)
    if (!names.contains(name))
      return InvalidArgumentError("the model has no dimension symbol \"", name, "\"; it has ",
                                  known.empty() ? "none: all its sizes are fixed" : known);
  return OkStatus();
}

Status Frontend::runPasses(const char *stage, llvm::function_ref<void(OpPassManager &)> add) {
  PassManager pm(&context);
  add(pm.nest<func::FuncOp>());
  if (mlir::failed(pm.run(*model.module)))
    return failed(stage);
  return dump(stage, *model.module);
}

static nlohmann::json decisionsReport(llvm::ArrayRef<precision::Decision> decisions) {
  nlohmann::json list = nlohmann::json::array();
  for (const precision::Decision &d : decisions)
    list.push_back({{"node", d.node},
                    {"weight", d.weight},
                    {"op", d.op},
                    {"kind", d.kind},
                    {"lhs", d.lhs},
                    {"rhs", d.rhs},
                    {"accumulate", d.accumulate},
                    {"out", d.out},
                    {"recipe", d.recipe},
                    {"reason", d.reason},
                    {"fallback", d.isFallback}});
  return list;
}

Status Frontend::foldShapes() {
  QUAVER_RETURN_IF_ERROR(runPasses("fold-shapes", [](OpPassManager &pm) {
    pm.addPass(graph::createFoldShapesPass());
    pm.addPass(createCSEPass());
  }));
  lintGivenScales(*model.module, model.weights);
  foldBlockScales(*model.module, model.weights);
  return OkStatus();
}

Status Frontend::decide() {
  std::vector<precision::Decision> decisions;
  Status dumped = OkStatus();
  auto onStage = [&](const char *stage, ModuleOp module) {
    if (dumped.ok())
      dumped = dump(stage, module);
  };
  if (mlir::failed(precision::apply(*model.module, options.precision, options.strict, &decisions, onStage)))
    return failed("precision");
  QUAVER_RETURN_IF_ERROR(dumped);
  precisionDecisions = decisionsReport(decisions);
  return OkStatus();
}

Status Frontend::simplify() {
  QUAVER_RETURN_IF_ERROR(foldShapes());
  QUAVER_RETURN_IF_ERROR(decide());
  // Before decomposing: a quantized weight becomes codes and scales, not the arithmetic that makes them.
  if (mlir::failed(foldWeights(*model.module, model.weights)))
    return failed("fold-weights");
  QUAVER_RETURN_IF_ERROR(runPasses("decompose", [](OpPassManager &pm) {
    graph::DecomposePassOptions decompose;
    decompose.forKernels = true;
    pm.addPass(graph::createDecomposePass(decompose));
    pm.addPass(graph::createFoldShapesPass());
    pm.addPass(createCSEPass());
  }));
  if (mlir::failed(foldWeights(*model.module, model.weights)))
    return failed("fold-weights");
  return runPasses("fold-weights", [](OpPassManager &pm) { pm.addPass(createCSEPass()); });
}

} // namespace quaver::pipeline
