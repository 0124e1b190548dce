// Shape chains vanish here: see Passes.td.
#include "dialects/Graph/Analysis/ShapeAnalysis.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include "dialects/Graph/Transforms/Passes.h"

using namespace mlir;

namespace quaver::graph {
#define GEN_PASS_DEF_FOLDSHAPESPASS
#include "dialects/Graph/Transforms/Passes.h.inc"

namespace {

bool dependsOnData(const DimExpr &e) {
  std::map<std::string, int> symbols;
  e.collectSymbols(symbols);
  return llvm::any_of(symbols, [](auto &s) {
    return StringRef(s.first).starts_with("value_") || StringRef(s.first).starts_with("data_");
  });
}

Operation *materialize(OpBuilder &b, Location loc, RankedTensorType type, ArrayRef<DimExpr> elements) {
  if (llvm::all_of(elements, [](const DimExpr &e) { return e.isConstant(); })) {
    SmallVector<APInt> values;
    for (const DimExpr &e : elements)
      values.push_back(
          APInt(type.getElementTypeBitWidth(), *e.getConstant(), /*isSigned=*/true, /*implicitTrunc=*/true));
    return ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, values));
  }
  SmallVector<Attribute> texts;
  for (const DimExpr &e : elements)
    texts.push_back(b.getStringAttr(e.str()));
  return SizesOp::create(b, loc, type, b.getArrayAttr(texts));
}

struct FoldShapes : impl::FoldShapesPassBase<FoldShapes> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    ShapeAnalysis shapes(func->getParentOfType<ModuleOp>());
    if (failed(shapes.bindArguments(func)) || failed(shapes.run(func)))
      return signalPassFailure();
    SmallVector<Operation *> candidates;
    func.walk([&](Operation *op) {
      if (op->getNumResults() == 1 && isPure(op) && op->getNumRegions() == 0 &&
          !isa<ConstantOp, SizesOp, GetWeightOp>(op))
        candidates.push_back(op);
    });
    for (Operation *op : candidates) {
      auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
      if (!type || !type.hasStaticShape() || !isa<IntegerType>(type.getElementType()) ||
          type.getNumElements() == 0)
        continue;
      const SymbolicTensor &t = shapes.get(op->getResult(0));
      if (!t.elements || llvm::any_of(*t.elements, dependsOnData))
        continue;
      OpBuilder b(op);
      op->getResult(0).replaceAllUsesWith(materialize(b, op->getLoc(), type, *t.elements)->getResult(0));
      ++folded;
    }
    // Users first, so that whole chains go.
    for (bool changed = true; changed;) {
      changed = false;
      for (Operation *&op : llvm::reverse(candidates))
        if (op && op->use_empty())
          op->erase(), op = nullptr, changed = true;
      llvm::erase(candidates, nullptr);
    }
  }
};

} // namespace
} // namespace quaver::graph
