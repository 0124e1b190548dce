#include "compiler/Pipeline/Pipeline.h"
#include "compiler/Codegen/NVPTX/Generic/GpuKernel.h"
#include "compiler/Codegen/NVPTX/Lower/Lower.h"
#include "compiler/Codegen/X86/Generic/HostKernel.h"
#include "compiler/Codegen/X86/Generic/PackWeight.h"
#include "compiler/Codegen/X86/Lower/Lower.h"
#include "compiler/Dispatch/FormDispatches.h"
#include "compiler/Pipeline/Frontend.h"
#include "compiler/PlanEmit/PlanEmit.h"
#include "compiler/Precision/Precision.h"
#include "compiler/Report/CompileHtml.h"
#include "mlir/IR/Verifier.h"
#include "runtime/base/atomic_file.h"
#include "runtime/base/cpu_features.h"
#include "runtime/plan/artifact_writer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <nlohmann/json.hpp>

using namespace mlir;

namespace quaver::pipeline {

std::string resolveTarget(const std::string &name) { return name == "host" ? host_target() : name; }

namespace {

std::string folderOf(const std::string &path) {
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  return folder.empty() ? "." : folder.str();
}

class Compilation {
public:
  Compilation(const CompileOptions &options, const Progress &progress)
      : options(options), progress(progress), front(options, progress), writer(folderOf(options.output)) {}
  Status run(std::string *warnings);

private:
  Status checkOptions();
  Status generate(const std::string &targetName);
  LogicalResult emitKernels(func::FuncOp entry, graph::ShapeAnalysis &shapes, const codegen::Target &target,
                            ModuleOp kernels);
  std::vector<std::string> weightNames(const llvm::StringMap<size_t> &usesOf);
  Status addWeights();

  const CompileOptions &options;
  const Progress &progress;
  Frontend front;
  plan::Plan plan;
  plan::ArtifactWriter writer;
  llvm::SmallVector<plan_emit::WeightUse> weights;
  int emitted = 0; // kernels of the target under way
  std::vector<std::unique_ptr<std::vector<char>>>
      owned; // code and constants, alive until the file is written
  std::vector<OwningOpRef<ModuleOp>> targetModules;
  nlohmann::json report;
};

Status Compilation::checkOptions() {
  if (options.output.empty())
    return InvalidArgumentError("no output is named");
  if (!llvm::sys::fs::is_directory(folderOf(options.output)))
    return NotFoundError(options.output, ": there is no folder ", folderOf(options.output));
  if (options.targets.empty())
    return InvalidArgumentError("no target is named");
  for (const std::string &t : options.targets)
    if (!codegen::findTarget(resolveTarget(t)))
      return InvalidArgumentError("unknown target \"", t, "\"; targets are host, ",
                                  llvm::join(codegen::targetNames(), ", "));
  return precision::check(options.precision);
}

LogicalResult Compilation::emitKernels(func::FuncOp entry, graph::ShapeAnalysis &shapes,
                                       const codegen::Target &target, ModuleOp kernels) {
  llvm::SmallVector<plan_ir::DispatchOp> dispatches;
  entry.walk([&](plan_ir::DispatchOp d) { dispatches.push_back(d); });
  // Entries share the module of kernels: the second one goes on numbering.
  for (auto [i, d] : llvm::enumerate(dispatches)) {
    progress("emitting kernels", int(i), int(dispatches.size()));
    std::string symbol = "kernel_" + std::to_string(emitted++);
    auto emit = target.isGpu() ? codegen::emitGpuKernel : codegen::emitHostKernel;
    if (mlir::failed(emit(d, shapes, target, kernels, symbol)))
      return failure();
  }
  return success();
}

static FailureOr<std::vector<char>> compileKernels(ModuleOp kernels, const codegen::Target &target) {
  if (!target.isGpu())
    return codegen::compileToElf(kernels, target);
  auto ptx = codegen::compileToPtx(kernels, target);
  if (mlir::failed(ptx))
    return failure();
  return std::vector<char>(ptx->begin(), ptx->end());
}

Status Compilation::generate(const std::string &name) {
  codegen::Target target = *codegen::findTarget(name);
  targetModules.push_back(OwningOpRef<ModuleOp>(front.getModule().clone()));
  ModuleOp module = *targetModules.back();
  plan::Target *out = plan.add_targets();
  emitted = 0;
  out->set_name(name);
  if (!target.isGpu())
    for (const std::string &f : x86_target_features(name))
      out->add_features(f);
  OwningOpRef<ModuleOp> kernels(ModuleOp::create(UnknownLoc::get(&front.getContext())));
  llvm::SmallVector<func::FuncOp> entries(module.getOps<func::FuncOp>());
  std::vector<std::unique_ptr<graph::ShapeAnalysis>> analyses;
  auto analyse = [&](func::FuncOp entry) -> std::unique_ptr<graph::ShapeAnalysis> {
    auto shapes = std::make_unique<graph::ShapeAnalysis>(module);
    if (mlir::failed(shapes->bindArguments(entry)) || mlir::failed(shapes->run(entry)))
      return nullptr;
    return shapes;
  };
  for (func::FuncOp entry : entries) {
    auto before = analyse(entry);
    if (!before || mlir::failed(dispatch::formDispatches(entry, *before)))
      return front.failed("forming dispatches");
    analyses.push_back(analyse(entry));
    if (!analyses.back() || mlir::failed(emitKernels(entry, *analyses.back(), target, *kernels)))
      return front.failed("emitting kernels");
  }
  QUAVER_RETURN_IF_ERROR(front.dump("dispatches", module));
  QUAVER_RETURN_IF_ERROR(front.dump("kernels", *kernels));
  progress("compiling kernels", 0, 1);
  auto code = compileKernels(*kernels, target);
  if (mlir::failed(code))
    return front.failed("compiling kernels");
  progress("compiling kernels", 1, 1);
  owned.push_back(std::make_unique<std::vector<char>>(std::move(*code)));
  writer.add_module(out->add_modules(), "targets/" + name + (target.isGpu() ? "/kernels.ptx" : "/kernels.so"),
                    std::as_bytes(std::span(*owned.back())));
  for (auto [entry, shapes] : llvm::zip(entries, analyses)) {
    auto lowered = plan_emit::lowerToBuffers(entry, *shapes, weights);
    if (mlir::failed(lowered) || mlir::failed(verify(module)))
      return front.failed("placing buffers");
    plan_emit::ExprTable exprs(plan, *shapes);
    exprs.add(graph::DimExpr(0)); // unset indices mean expression 0
    if (mlir::failed(plan_emit::serializeEntry(*lowered, exprs, *out)))
      return front.failed("writing the plan");
  }
  for (const plan::Kernel &k : out->kernels())
    report["targets"][name]["kernels"].push_back({{"symbol", k.symbol()}, {"description", k.description()}});
  return front.dump("plan", module);
}

// A weight is called as the source model calls it, codes and untouched bytes first; its scales, and further
// forms of it, are called after it.
std::vector<std::string> Compilation::weightNames(const llvm::StringMap<size_t> &usesOf) {
  std::vector<std::string> names(weights.size());
  std::set<std::string> taken;
  auto dataOf = [&](size_t i) {
    return weights[i].weight.empty() ? nullptr : front.getWeights().find(weights[i].weight);
  };
  auto claim = [&](size_t i, const std::string &name) {
    if (names[i].empty() && !name.empty() && taken.insert(name).second)
      names[i] = name;
  };
  for (int round = 0; round < 2; ++round)
    for (size_t i = 0; i < weights.size(); ++i)
      if (const WeightData *data = dataOf(i);
          data && (round == 1 || !data->scales.empty() || data->program.empty()))
        claim(i, data->sourceName);
  for (size_t i = 0; i < weights.size(); ++i)
    if (const WeightData *codes = dataOf(i); codes && !codes->scales.empty())
      if (auto scales = usesOf.find(codes->scales); scales != usesOf.end())
        claim(scales->second, names[i].empty() ? "" : names[i] + ".scales");
  for (size_t i = 0; i < weights.size(); ++i) {
    claim(i, weights[i].name);
    for (int n = 2; names[i].empty(); ++n)
      claim(i, weights[i].name + "_" + std::to_string(n));
  }
  return names;
}

Status Compilation::addWeights() {
  llvm::StringMap<size_t> usesOf; // symbol -> its first use: a large model has tens of thousands
  for (auto [i, use] : llvm::enumerate(weights))
    if (!use.weight.empty())
      usesOf.try_emplace(use.weight, i);
  std::vector<std::string> names = weightNames(usesOf);
  for (auto [i, use] : llvm::enumerate(weights)) {
    plan::Weight *w = plan.add_weights();
    w->set_name(names[i]);
    w->set_storage(use.storage);
    w->mutable_packing()->Assign(use.packing.begin(), use.packing.end());
    RankedTensorType type;
    std::span<const std::byte> bytes;
    if (!use.weight.empty()) {
      const WeightData *data = front.getWeights().find(use.weight);
      if (!data)
        return InternalError("weight @", use.weight, " has no bytes");
      type = data->type;
      bytes = std::as_bytes(std::span(data->bytes.data(), data->bytes.size()));
      w->set_program(data->program);
      if (auto scales = usesOf.find(data->scales); scales != usesOf.end()) {
        w->set_recipe(data->recipe);
        w->set_scales_plus_1(uint32_t(scales->second) + 1);
      }
    } else {
      type = cast<RankedTensorType>(use.constant.getType());
      owned.push_back(std::make_unique<std::vector<char>>(bytesOf(use.constant)));
      bytes = std::as_bytes(std::span(*owned.back()));
    }
    w->set_type(plan_emit::elementTypeOf(type.getElementType()));
    for (int64_t d : type.getShape())
      w->add_shape(d);
    auto releaseSource =
        [&] { // read once for its checksum or packing; mapped pages come back when it is written
          if (!use.weight.empty())
            front.getWeights().release(use.weight);
        };
    if (use.storage == "dense") {
      w->set_blob(writer.add_blob(&plan, bytes));
      releaseSource();
      continue;
    }
    // Packed copies go to disk one by one: never two of them in memory.
    QUAVER_ASSIGN_OR_RETURN(
        uint32_t blob, writer.add_blob(&plan, [&](const plan::ArtifactWriter::BlobSink &sink) -> Status {
          auto packed = codegen::packWeight(use.storage, use.packing,
                                            {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
          if (!packed)
            return InternalError("weight ", w->name(), " has no layout ", use.storage);
          return sink(std::as_bytes(std::span(*packed)));
        }));
    w->set_blob(blob);
    releaseSource();
  }
  return OkStatus();
}

Status Compilation::run(std::string *warnings) {
  QUAVER_RETURN_IF_ERROR(checkOptions());
  QUAVER_RETURN_IF_ERROR(front.import());
  QUAVER_RETURN_IF_ERROR(front.simplify());
  plan.set_producer("quaver " QUAVER_VERSION);
  plan.set_model_name(front.getModelName());
  plan.set_precision(options.precision);
  std::vector<std::string> names;
  for (const std::string &t : options.targets)
    if (std::string name = resolveTarget(t); !llvm::is_contained(names, name))
      names.push_back(name);
  for (const std::string &name : names)
    QUAVER_RETURN_IF_ERROR(generate(name));
  QUAVER_RETURN_IF_ERROR(addWeights());
  report["precision"] = options.precision;
  report["precision_decisions"] = front.getPrecisionDecisions();
  std::string text = report.dump(2) + "\n";
  writer.add_entry("report.json", text);
  progress("writing", 0, 1);
  QUAVER_RETURN_IF_ERROR(writer.write(options.output, &plan));
  if (!options.report.empty())
    QUAVER_RETURN_IF_ERROR(
        write_file_atomically(options.report, llvm::StringRef(options.report).ends_with(".html")
                                                  ? report::compileHtml(report, front.getModelName())
                                                  : text));
  progress("writing", 1, 1);
  if (warnings)
    *warnings = front.getNotes();
  return OkStatus();
}

} // namespace

Status compile(const CompileOptions &options, const Progress &progress, std::string *warnings) {
  return Compilation(options, progress).run(warnings);
}

} // namespace quaver::pipeline
