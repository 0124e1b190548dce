#include "compiler/Interpreter/MadeUpInputs.h"
#include "compiler/Interpreter/Inputs.h"
#include "dialects/Graph/Analysis/DimExpr.h"
#include "dialects/Graph/IR/GraphDialect.h"

using namespace mlir;

namespace quaver::interpreter {
namespace {

using DimRanges = std::map<std::string, std::pair<int64_t, int64_t>>;

constexpr int64_t kSymbolSize = 16;

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
  Inventor(func::FuncOp entry, const DimRanges &dims) : entry(entry), dims(dims) {}

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
    text += std::string(mlir_name(elementTypeOf(element)));
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
          if (auto range = dims.find(symbol.str()); isNew && range != dims.end())
            it->second = std::clamp(it->second, range->second.first, range->second.second);
          return it->second;
        })
        .value_or(1);
  }

  func::FuncOp entry;
  const DimRanges &dims;
  std::map<std::string, int64_t> sizes;
};

} // namespace

std::vector<std::string> completeSpecs(func::FuncOp entry, std::vector<std::string> specs,
                                       const DimRanges &dims) {
  Inventor inventor(entry, dims);
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    std::string name = inputName(entry, i) + "=";
    if (llvm::none_of(specs, [&](const std::string &s) { return llvm::StringRef(s).starts_with(name); }))
      specs.push_back(name + inventor.spec(i));
  }
  return specs;
}

} // namespace quaver::interpreter
