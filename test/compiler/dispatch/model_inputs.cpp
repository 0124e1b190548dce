#include "test/compiler/dispatch/model_inputs.h"
#include "dialects/Graph/Analysis/ShapeAnalysis.h"
#include "dialects/Graph/IR/Decompose.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include <algorithm>

using namespace mlir;

namespace quaver::test {

using interpreter::Tensor;

std::string identifierOf(const char *model) {
  std::string name = model;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string pathOf(const std::string &name) { return std::string(QUAVER_TEST_MODELS) + "/" + name + ".onnx"; }

StatusOr<import::ImportedModel> importAndDecompose(MLIRContext &context, const std::string &name) {
  auto model = import::importOnnx(context, pathOf(name));
  if (model.ok() && failed(graph::decomposeAll(*model->module, [](Operation *) { return true; })))
    return InvalidArgumentError("a composite has no decomposition");
  return model;
}

SmallVector<Tensor> inputsOf(func::FuncOp func) {
  std::map<std::string, int64_t> sizes;
  SmallVector<Tensor> inputs;
  uint32_t state = 1;
  auto next = [&] { return state = state * 1664525u + 1013904223u; };
  for (BlockArgument arg : func.getArguments()) {
    auto type = cast<RankedTensorType>(arg.getType());
    auto names = func.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(), "graph.dims");
    auto name = func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "graph.name");
    interpreter::Shape shape;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!type.isDynamicDim(d)) {
        shape.push_back(type.getDimSize(d));
        continue;
      }
      auto e = graph::DimExpr::parse(cast<StringAttr>(names[d]).getValue());
      shape.push_back(*e->evaluate([&](llvm::StringRef symbol) -> std::optional<int64_t> {
        return sizes.try_emplace(symbol.str(), 2 + int64_t(sizes.size())).first->second;
      }));
    }
    Tensor t = Tensor::make(interpreter::elementTypeOf(type.getElementType()), shape);
    bool isMask = name && name.getValue().contains("mask");
    for (int64_t i = 0; i < t.size(); ++i) {
      double v = isMask ? 1 : double(next() >> 8) / (1 << 23) - 1;
      if (t.type() == ElementType::F32)
        t.mutableAs<float>()[i] = float(v);
      else if (t.type() == ElementType::I64)
        t.mutableAs<int64_t>()[i] = isMask ? 1 : int64_t(next() >> 8) % 5;
      else if (t.type() == ElementType::BOOL)
        t.mutableAs<uint8_t>()[i] = 1;
    }
    inputs.push_back(t);
  }
  return inputs;
}

} // namespace quaver::test
