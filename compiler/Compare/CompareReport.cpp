#include "compiler/Compare/CompareReport.h"
#include "compiler/Interpreter/Inputs.h"
#include "compiler/Precision/LayerKinds.h"
#include "compiler/Precision/Values.h"
#include <cmath>

using llvm::cast;
using llvm::dyn_cast;
using nlohmann::json;

namespace quaver::compare {
namespace {

std::string decisionText(const json &d) {
  std::string lhs = d.at("lhs"), rhs = d.at("rhs"), recipe = d.at("recipe"), out = d.at("out");
  std::string text = lhs + (lhs.empty() || rhs.empty() ? "" : " x ") + rhs;
  if (!recipe.empty())
    text += " " + recipe;
  return text.empty() || lhs.empty() ? out : text + (out.empty() ? "" : " -> " + out);
}

/// Sorts before everything that differs less; exact ones last.
double ratioOf(const json &ratio) { return ratio.is_null() ? INFINITY : ratio.get<double>(); }

bool isWorse(const json &a, const json &b) {
  auto rank = [](const json &j) {
    return std::tuple(j["not_finite"] > 0 ? 0 : 1, ratioOf(j["effect_db"]), ratioOf(j["own_sqnr_db"]),
                      ratioOf(j["sqnr_db"]));
  };
  return rank(a) < rank(b);
}

std::string inputNameOf(mlir::Value argument) {
  auto a = cast<mlir::BlockArgument>(argument);
  auto entry = dyn_cast<mlir::func::FuncOp>(a.getOwner()->getParentOp());
  return entry ? interpreter::inputName(entry, a.getArgNumber()) : "";
}

using Decisions = std::map<std::string, const json *>;

json quantizationsOf(const Measurement &m, const QuantizeObserver &quantized, const Decisions &decided,
                     std::map<std::string, std::vector<size_t>> &readBy) {
  json all = json::array();
  for (auto &[op, figures] : quantized.all()) {
    json j = figures.describe();
    mlir::Value x = op->getOperand(0);
    std::string weight = precision::weightNameOf(x);
    mlir::Operation *def = x.getDefiningOp();
    j["weight"] = weight;
    j["tensor"] = !weight.empty() ? weight : def ? precision::nodeName(def->getLoc()) : inputNameOf(x);
    j["op"] = op->getName().getStringRef().str();
    j["node"] = precision::nodeName(op->getLoc());
    std::vector<std::string> readers = m.chosenValues().readersOf(op->getResult(0));
    if (readers.empty())
      readers.push_back(j["node"]); // an output of the model, or read in a loop
    for (const std::string &reader : readers)
      readBy[reader].push_back(all.size());
    auto d = decided.find(readers.front());
    j["recipe"] = d == decided.end() ? "" : d->second->at("recipe").get<std::string>();
    j["read_by"] = std::move(readers);
    all.push_back(std::move(j));
  }
  return all;
}

} // namespace

json report(const Measurement &m, const QuantizeObserver &quantized, const json &decisions,
            llvm::ArrayRef<std::string> outputNames) {
  Decisions decided;
  for (const json &d : decisions)
    decided[d.at("node")] = &d;
  std::map<std::string, const Difference *> totals; // a node's worst value
  for (auto &[key, e] : m.nodes()) {
    auto [it, isNew] = totals.try_emplace(key.first, &e.total);
    if (!isNew && e.total.sqnr().value_or(INFINITY) < it->second->sqnr().value_or(INFINITY))
      it->second = &e.total;
  }
  double noise = 0;
  for (auto &[node, effect] : m.effects())
    noise += effect.relativeNoise();

  std::map<std::string, std::vector<size_t>> readBy; // node -> positions in `quantizations`
  json quantizations = quantizationsOf(m, quantized, decided, readBy);
  json ops = json::array(), outputs = json::array();
  for (auto &[key, e] : m.nodes()) {
    json j = describe(e.total);
    j["node"] = key.first;
    j["op"] = e.op->getName().getStringRef().str();
    auto d = decided.find(key.first);
    j["kind"] = d == decided.end() ? "" : d->second->at("kind").get<std::string>();
    j["decision"] = d == decided.end() ? "" : decisionText(*d->second);
    j["order"] = e.order;
    j["elements"] = e.elements;
    j["type"] = std::string(mlir_name(e.type));
    j["own_sqnr_db"] = decibels(e.own);
    j["own_max_error"] = e.own.maxError;
    j["own_not_finite"] = e.own.notFinite;
    j["inputs"] = json::array();
    for (const std::string &input : m.chosenValues().inputsOf(key.first))
      if (auto t = totals.find(input); t != totals.end())
        j["inputs"].push_back({{"node", input}, {"sqnr_db", decibels(*t->second)}});
    j["effect_db"] = j["share"] = nullptr;
    if (auto effect = m.effects().find(key.first); effect != m.effects().end()) {
      double worst = effect->second.worstSqnr();
      if (std::isfinite(worst))
        j["effect_db"] = worst;
      j["share"] = noise > 0 ? effect->second.relativeNoise() / noise : 0;
    }
    j["quantizations"] = readBy[key.first];
    j["saturated"] = j["underflowed"] = nullptr;
    for (size_t i : readBy[key.first])
      for (const char *share : {"saturated", "underflowed"})
        if (j[share].is_null() || j[share] < quantizations[i][share])
          j[share] = quantizations[i][share];
    if (e.otherShapes)
      j["runs_of_other_shape"] = e.otherShapes;
    ops.push_back(std::move(j));
  }
  std::stable_sort(ops.begin(), ops.end(), isWorse);
  for (auto [name, d] : llvm::zip(outputNames, m.outputs())) {
    json j = describe(d);
    j["name"] = name;
    outputs.push_back(std::move(j));
  }
  return {{"runs", m.runCount()},
          {"ops", std::move(ops)},
          {"quantizations", std::move(quantizations)},
          {"outputs", std::move(outputs)}};
}

} // namespace quaver::compare
