// Formats and reasons as attributes: see Passes.td. Rules are read and matched in Policy/.
#include "compiler/Precision/LayerKinds.h"
#include "compiler/Precision/Passes.h"
#include "compiler/Precision/Policy/Policy.h"
#include "compiler/Precision/Values.h"

using namespace mlir;

namespace quaver::precision {
#define GEN_PASS_DEF_ASSIGNPRECISIONPASS
#include "compiler/Precision/Passes.h.inc"

namespace {

constexpr int64_t kSmallTable = 4096; // elements; below, narrowing saves nothing

Type typeOf(MLIRContext *context, Format f) {
  switch (f) {
  case Format::F32:
    return Float32Type::get(context);
  case Format::BF16:
    return BFloat16Type::get(context);
  case Format::F16:
    return Float16Type::get(context);
  case Format::E4M3:
    return Float8E4M3FNType::get(context);
  case Format::E5M2:
    return Float8E5M2Type::get(context);
  }
  llvm_unreachable("all formats are named");
}

bool comesFromDequantize(Value v) {
  for (Operation *op = v.getDefiningOp(); op; op = op->getOperand(0).getDefiningOp()) {
    if (isa<graph::DequantizeOp>(op))
      return true;
    if (!movesOperand0(op) && !isa<graph::CastOp>(op))
      return false;
  }
  return false;
}

// Why no rule may touch a product; empty if one may.
const char *asInFile(Operation *op) {
  Type l = elementOf(op->getOperand(0)), r = elementOf(op->getOperand(1));
  if (!isa<FloatType>(l) || !isa<FloatType>(r))
    return "a product of integers";
  if (l.isF64() || elementOf(op->getResult(0)).isF64())
    return "the file computes it in fp64";
  if (comesFromDequantize(op->getOperand(0)) || comesFromDequantize(op->getOperand(1)))
    return "the file quantizes its operands itself";
  return "";
}

bool isTableWorthNarrowing(Operation *op) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  return type.getElementType().isF32() && type.hasStaticShape() && type.getNumElements() >= kSmallTable;
}

// Do only narrow operands of products read this value, directly or moved?
bool isReadNarrow(Value v) {
  bool isRead = false;
  for (OpOperand &use : v.getUses()) {
    Operation *user = use.getOwner();
    if (isa<graph::ShapeOp>(user))
      continue;
    isRead = true;
    if (movesOperand0(user) && use.getOperandNumber() == 0 && isReadNarrow(user->getResult(0)))
      continue;
    auto precision = user->getAttrOfType<scale::PrecisionAttr>(kPrecision);
    Type format = !precision                    ? Type()
                  : use.getOperandNumber() == 0 ? precision.getLhs()
                  : use.getOperandNumber() == 1 ? precision.getRhs()
                                                : Type();
    if (!format || format.getIntOrFloatBitWidth() >= 32)
      return false;
  }
  return isRead;
}

struct AssignPrecision : impl::AssignPrecisionPassBase<AssignPrecision> {
  using Base::Base;

  void runOnOperation() override {
    auto loaded = loadPolicy(policyName);
    if (!loaded.ok()) {
      getOperation().emitError() << loaded.status().message();
      return signalPassFailure();
    }
    policy = std::move(*loaded);
    collect();
    SmallVector<const Rule *> applied;
    for (auto &[op, facts] : ops) {
      const Rule *rule = findRule(policy, facts);
      if (rule)
        applied.push_back(rule);
      if (!facts.isProduct())
        assignStorage(op, facts, rule);
      else
        assign(op, facts, rule);
    }
    narrowResults();
    for (const Rule &r : policy.rules)
      if (!r.isOptional && !llvm::is_contained(applied, &r))
        return refuseIdle(r);
  }

  void collect() {
    ops.clear();
    llvm::DenseMap<Operation *, std::string> kinds = layerKinds(getOperation());
    getOperation().walk([&](Operation *op) {
      auto kind = kinds.find(op);
      if (kind == kinds.end())
        return;
      if (isProduct(op))
        if (StringRef why = asInFile(op); !why.empty())
          return op->setAttr(kReason, StringAttr::get(&getContext(), why));
      if (isTableRead(op) && !isTableWorthNarrowing(op))
        return;
      OpFacts f;
      f.node = nodeName(op->getLoc());
      f.op = op->getName().stripDialect().str();
      f.kind = kind->second;
      Value weight = isProduct(op) ? op->getOperand(weightOperand(op)) : op->getOperand(0);
      f.weight = weightNameOf(weight);
      if (Operation *lookUp = stackLookUp(weight))
        weight = lookUp->getOperand(0);
      if (auto type = cast<RankedTensorType>(weight.getType()); isConstant(weight) && type.hasStaticShape())
        f.size = type.getNumElements();
      if (auto role = op->getAttrOfType<StringAttr>("role"))
        f.role = role.str();
      ops.push_back({op, f});
    });
    int64_t count = llvm::count_if(ops, [](auto &o) { return o.second.isProduct(); }), i = 0;
    for (auto &[op, facts] : ops) {
      if (!facts.isProduct())
        continue;
      facts.fromFirst = i++;
      facts.fromLast = count - i;
    }
  }

  StringAttr reasonOf(const Rule &rule, const OpFacts &facts, const Twine &more = "") {
    std::string why = rule.reason.empty() ? facts.kind : rule.reason;
    return StringAttr::get(&getContext(), policy.placeOf(rule) + ": " + why + more);
  }

  void assign(Operation *op, const OpFacts &facts, const Rule *rule) {
    MLIRContext *context = &getContext();
    if (!rule)
      return op->setAttr(kReason, StringAttr::get(context, policy.name + ": no rule selects it: fp32"));
    Format lhs = rule->lhs.value_or(Format::F32), rhs = rule->rhs.value_or(Format::F32);
    std::string recipe = rule->recipe;
    if ((isFp8(lhs) || isFp8(rhs)) && isa<graph::ConvTransposeOp>(op)) {
      lhs = rhs = Format::BF16, recipe.clear();
      op->setAttr(kFallback, UnitAttr::get(context));
      op->setAttr(kReason, reasonOf(*rule, facts, "; no FP8 form of conv_transpose: bf16"));
    } else {
      op->setAttr(kReason, reasonOf(*rule, facts));
    }
    Type f32 = Float32Type::get(context);
    op->setAttr(kPrecision,
                scale::PrecisionAttr::get(context, typeOf(context, lhs), typeOf(context, rhs), f32,
                                          rule->out ? typeOf(context, *rule->out) : f32, recipe));
    if (rule->out)
      fixedResults.insert(op);
  }

  // Tables and norms are stored; of FP8 there is no stored form without a reader that scales.
  void assignStorage(Operation *op, const OpFacts &facts, const Rule *rule) {
    if (!rule)
      return;
    std::optional<Format> format = facts.kind == "norm" ? rule->out : rule->rhs ? rule->rhs : rule->out;
    if (!format || *format == Format::F32)
      return;
    bool isFallback = isFp8(*format);
    if (isFallback)
      op->setAttr(kFallback, UnitAttr::get(&getContext()));
    op->setAttr(kStorage, TypeAttr::get(typeOf(&getContext(), isFallback ? Format::BF16 : *format)));
    op->setAttr(kReason, reasonOf(*rule, facts, isFallback ? "; no FP8 form of a look-up: bf16" : ""));
  }

  // bf16 where nothing reads more of a product. Last ones first, so that chains are seen.
  void narrowResults() {
    for (auto &[op, facts] : llvm::reverse(ops)) {
      auto p = op->getAttrOfType<scale::PrecisionAttr>(kPrecision);
      if (!p || p.getLhs().isF32() || fixedResults.contains(op) || !isReadNarrow(op->getResult(0)))
        continue;
      Type narrow = p.getLhs().isF16() ? p.getLhs() : Type(BFloat16Type::get(&getContext()));
      op->setAttr(kPrecision, scale::PrecisionAttr::get(&getContext(), p.getLhs(), p.getRhs(),
                                                        p.getAccumulate(), narrow, p.getRecipe()));
    }
  }

  void refuseIdle(const Rule &rule) {
    int64_t selected = llvm::count_if(ops, [&](auto &o) { return selects(rule, o.second); });
    InFlightDiagnostic error = getOperation().emitError() << policy.placeOf(rule) << ": rules: ";
    if (selected)
      error << "the " << selected
            << " ops that this rule selects are all taken by rules before it; reorder them, or write "
               "optional: true";
    else
      error << "this rule selects no op of the model (of " << ops.size()
            << "); allowed: a rule that selects one, or optional: true in it";
    signalPassFailure();
  }

  Policy policy;
  std::vector<std::pair<Operation *, OpFacts>> ops;
  llvm::DenseSet<Operation *> fixedResults;
};

} // namespace
} // namespace quaver::precision
