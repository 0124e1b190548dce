#include "dialects/Graph/Analysis/ShapeAnalysis.h"
#include "dialects/Graph/Analysis/ShapeRules.h"
#include "dialects/Graph/IR/GraphDialect.h"

using namespace mlir;

namespace quaver::graph {

ShapeAnalysis::ShapeAnalysis(ModuleOp module) {
  if (!module)
    return;
  for (DimOp d : module.getOps<DimOp>()) {
    DimBounds b;
    b.min = d.getMin();
    b.max = d.getMax();
    b.multipleOf = d.getMultipleOf();
    symbols[d.getSymName().str()] = b;
  }
}

DimBounds ShapeAnalysis::boundsOf(StringRef symbol) const {
  auto it = symbols.find(symbol.str());
  if (it != symbols.end())
    return it->second;
  DimBounds b;
  if (symbol.starts_with("value_"))
    b.min = INT64_MIN;
  return b;
}

RankedTensorType ShapeAnalysis::typeOf(ArrayRef<DimExpr> dims, Type element) {
  SmallVector<int64_t> shape;
  for (const DimExpr &d : dims) {
    auto c = d.getConstant();
    shape.push_back(c && *c >= 0 ? *c : ShapedType::kDynamic);
  }
  return RankedTensorType::get(shape, element);
}

const SymbolicTensor &ShapeAnalysis::get(Value v) {
  auto it = known.find(v);
  if (it != known.end())
    return it->second;
  SymbolicTensor t;
  for (int64_t d : cast<RankedTensorType>(v.getType()).getShape())
    t.dims.push_back(ShapedType::isDynamic(d) ? DimExpr::symbol("unknown_" + std::to_string(anonymous++))
                                              : DimExpr(d));
  return known[v] = std::move(t);
}

DimExpr ShapeAnalysis::numElements(Value v) {
  DimExpr n(1);
  for (const DimExpr &d : get(v).dims)
    n = n * d;
  return n;
}

SmallVector<DimExpr> ShapeAnalysis::elementsOrFresh(Value v) {
  SymbolicTensor t = get(v);
  if (t.elements)
    return *t.elements;
  // Inside a dispatch: the symbols belong to the tensor outside, which the run can read.
  if (auto arg = dyn_cast<BlockArgument>(v))
    if (Operation *parent = arg.getOwner()->getParentOp();
        parent && parent->getName().getStringRef() == "plan.dispatch") {
      t.elements = elementsOrFresh(parent->getOperand(arg.getArgNumber()));
      known[v] = t;
      return *t.elements;
    }
  auto count = smallCount(t.dims);
  assert(count && "only small tensors of static shape have elements");
  t.elements.emplace();
  for (int64_t i = 0; i < *count; ++i) {
    std::string name = "value_" + std::to_string(fresh.size());
    fresh.push_back({name, v, i, false, std::nullopt});
    t.elements->push_back(DimExpr::symbol(name));
  }
  known[v] = t;
  return *t.elements;
}

DimExpr ShapeAnalysis::freshCount(Value tensor, std::optional<DimExpr> upperBound) {
  std::string name = "data_" + std::to_string(fresh.size());
  fresh.push_back({name, tensor, 0, true, std::move(upperBound)});
  return DimExpr::symbol(name);
}

bool ShapeAnalysis::assumeEqual(const DimExpr &a, const DimExpr &b) {
  if (a == b)
    return true;
  if (a.isConstant() && b.isConstant())
    return false;
  auto anonymousOnly = [](const DimExpr &e) { return StringRef(e.str()).contains("unknown_"); };
  if (anonymousOnly(a) || anonymousOnly(b))
    return true; // types alone are inferred here
  for (auto &[x, y] : assumptions)
    if ((x == a && y == b) || (x == b && y == a))
      return true;
  assumptions.push_back({a, b});
  return true;
}

std::optional<DimExpr> ShapeAnalysis::broadcast(const DimExpr &a, const DimExpr &b) {
  if (a == b || b == DimExpr(1))
    return a;
  if (a == DimExpr(1))
    return b;
  if (!assumeEqual(a, b))
    return std::nullopt;
  if (a.isConstant())
    return a;
  if (b.isConstant())
    return b;
  return a.str().size() <= b.str().size() ? a : b; // the simpler of the two
}

LogicalResult ShapeAnalysis::bindArguments(func::FuncOp func) {
  for (BlockArgument arg : func.getArguments()) {
    auto type = cast<RankedTensorType>(arg.getType());
    auto names = func.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(), "graph.dims");
    SymbolicTensor t;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!type.isDynamicDim(d)) {
        t.dims.push_back(DimExpr(type.getDimSize(d)));
        continue;
      }
      std::optional<DimExpr> e;
      if (names && d < int64_t(names.size()))
        e = DimExpr::parse(cast<StringAttr>(names[d]).getValue());
      if (!e)
        return func.emitOpError() << "argument " << arg.getArgNumber() << ": dimension " << d
                                  << " is dynamic and graph.dims does not name it";
      t.dims.push_back(*e);
    }
    known[arg] = std::move(t);
  }
  return success();
}

LogicalResult ShapeAnalysis::run(func::FuncOp func) {
  for (Operation &op : func.getBody().front())
    if (failed(visit(&op)))
      return failure();
  SmallVector<Type> inputs(func.getBody().front().getArgumentTypes()),
      results(func.getBody().front().getTerminator()->getOperandTypes());
  func.setType(FunctionType::get(func.getContext(), inputs, results));
  return success();
}

LogicalResult ShapeAnalysis::visit(Operation *op) { return ShapeRules(*this).visit(op); }

SliceRange sliceRange(const DimExpr &dim, const DimExpr &start, const DimExpr &end, const DimExpr &step) {
  constexpr int64_t kHuge = int64_t(1) << 30; // exporters write INT32_MAX and INT64_MAX for "to the end"
  // A position counted from the end when negative, clamped to [low, dim + high].
  auto clamp = [&](const DimExpr &p, int64_t low, int64_t high) -> DimExpr {
    DimExpr top = dim + DimExpr(high);
    if (auto c = p.getConstant()) {
      if (*c >= kHuge)
        return top;
      if (*c <= -kHuge)
        return DimExpr(low);
      return *c < 0 ? DimExpr::max(dim + p, DimExpr(low)) : DimExpr::min(p, top);
    }
    std::map<std::string, int> symbols;
    p.collectSymbols(symbols);
    bool mayBeNegative =
        llvm::any_of(symbols, [](auto &s) { return StringRef(s.first).starts_with("value_"); }) ||
        StringRef(p.str()).contains("-");
    if (!mayBeNegative)
      return DimExpr::min(p, top);
    return DimExpr::select(DimExpr::lt(p, DimExpr(0)), DimExpr::max(dim + p, DimExpr(low)),
                           DimExpr::min(p, top));
  };
  auto forward = [&](const DimExpr &by) -> SliceRange {
    DimExpr first = clamp(start, 0, 0), last = clamp(end, 0, 0);
    return {first, DimExpr::max(DimExpr::ceilDiv(last - first, by), DimExpr(0)), step};
  };
  auto backward = [&](const DimExpr &by) -> SliceRange {
    DimExpr first = clamp(start, -1, -1), last = clamp(end, -1, -1);
    return {first, DimExpr::max(DimExpr::ceilDiv(first - last, by), DimExpr(0)), step};
  };
  if (auto c = step.getConstant())
    return *c > 0 ? forward(step) : backward(DimExpr(-*c));
  SliceRange f = forward(DimExpr::max(step, DimExpr(1))),
             g = backward(DimExpr::max(DimExpr(0) - step, DimExpr(1)));
  DimExpr negative = DimExpr::lt(step, DimExpr(0));
  return {DimExpr::select(negative, g.first, f.first), DimExpr::select(negative, g.size, f.size), step};
}

} // namespace quaver::graph
