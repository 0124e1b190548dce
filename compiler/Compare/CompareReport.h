// What a comparison found, as JSON: the one source of its table, CSV and HTML.
#pragma once
#include "compiler/Compare/Measurement.h"
#include "compiler/Compare/QuantizeFigures.h"

namespace quaver::compare {

/// {"runs", "ops": [...], "quantizations": [...], "outputs": [...]}.
///
/// One op is one value that a node hands on: {"node", "op", "kind", "decision" (both empty where nothing was
/// decided), "order" (position in execution), "elements", "type", "own_sqnr_db", "own_max_error",
/// "own_not_finite", "sqnr_db",
/// "max_error", "magnitude", "not_finite", "inputs": [{"node", "sqnr_db"}], "effect_db", "share",
/// "quantizations" (positions of those that it reads), "saturated", "underflowed" (the largest among them)}.
/// A ratio that is null means that nothing differs. effect_db: the smallest SQNR of an output when only this
/// node is computed as decided; share: its part of all measured effects' noise; both null where the effect
/// was not measured. Sorted: not finite ones, then by effect, then by own SQNR, then by SQNR.
///
/// One quantization is one op that makes narrow codes: QuantizeFigures::describe with "op", "node", "tensor"
/// (the weight or the node that it quantizes), "weight" (empty for activations), "recipe" and "read_by"
/// (nodes).
///
/// `decisions`: the report's precision_decisions. `outputNames`: of the entry.
nlohmann::json report(const Measurement &m, const QuantizeObserver &quantized,
                      const nlohmann::json &decisions, llvm::ArrayRef<std::string> outputNames);

} // namespace quaver::compare
