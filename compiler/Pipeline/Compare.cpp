#include "compiler/Pipeline/Compare.h"
#include "compiler/Compare/CompareReport.h"
#include "compiler/Interpreter/Inputs.h"
#include "compiler/Interpreter/MadeUpInputs.h"
#include "compiler/Pipeline/Frontend.h"
#include "compiler/Precision/Precision.h"
#include "compiler/Report/CompareCsv.h"
#include "compiler/Report/CompareHtml.h"
#include "runtime/base/atomic_file.h"

using namespace mlir;
using nlohmann::json;

namespace quaver::pipeline {

StatusOr<json> compare(const CompileOptions &options, const CompareOptions &what, const Progress &progress) {
  QUAVER_RETURN_IF_ERROR(precision::check(options.precision));
  CompileOptions asFile = options;
  asFile.precision = "source";
  asFile.emitStages.clear();
  // Weights stay as they are, so that what quantizes them is seen at work.
  Frontend reference(asFile, progress), chosen(options, progress);
  for (Frontend *f : {&reference, &chosen}) {
    QUAVER_RETURN_IF_ERROR(f->import());
    QUAVER_RETURN_IF_ERROR(f->foldShapes());
  }
  if (failed(precision::exposeProducts(reference.getModule())))
    return reference.failed("precision");
  QUAVER_RETURN_IF_ERROR(chosen.decide());
  QUAVER_ASSIGN_OR_RETURN(func::FuncOp entry, interpreter::findEntry(reference.getModule(), ""));
  QUAVER_ASSIGN_OR_RETURN(func::FuncOp chosenEntry, interpreter::findEntry(chosen.getModule(), ""));
  QUAVER_ASSIGN_OR_RETURN(
      auto inputs, interpreter::inputsFromSpecs(
                       entry, interpreter::completeSpecs(entry, what.inputs, options.dims), what.seed));

  compare::Measurement measurement({reference.getModule(), reference.getWeights(), entry},
                                   {chosen.getModule(), chosen.getWeights(), chosenEntry}, what.effects,
                                   progress);
  compare::QuantizeObserver quantized;
  measurement.setObserver(
      [&](Operation *op, ArrayRef<interpreter::Tensor> operands,
          MutableArrayRef<interpreter::Tensor> results) { quantized.see(op, operands, results); });
  if (failed(measurement.addRun(inputs)))
    return (reference.hasErrors() ? reference : chosen).failed("interpreting");

  llvm::SmallVector<std::string> names;
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    names.push_back(interpreter::outputName(entry, i));
  json report = compare::report(measurement, quantized, chosen.getPrecisionDecisions(), names);
  report["model"] = options.model;
  report["precision"] = options.precision;
  if (what.bound)
    report["bisect"] = compare::bisect(report["ops"], *what.bound);
  if (!what.csv.empty())
    QUAVER_RETURN_IF_ERROR(write_file_atomically(what.csv, report::compareCsv(report)));
  if (!what.html.empty())
    QUAVER_RETURN_IF_ERROR(write_file_atomically(what.html, report::compareHtml(report)));
  return report;
}

} // namespace quaver::pipeline
