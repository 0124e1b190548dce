// Runs modules written as text on the interpreter.
#pragma once
#include "compiler/Interpreter/Interpreter.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include "dialects/Scale/IR/ScaleDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <random>

namespace quaver::test {

/// A parsed module with one entry; `errors` collects what any step says.
struct TextRun {
  explicit TextRun(const std::string &text)
      : context(mlir::MLIRContext::Threading::DISABLED), handler(&context, [this](mlir::Diagnostic &d) {
          errors += d.str() + "\n";
          return mlir::success();
        }) {
    context.loadDialect<graph::GraphDialect, scale::ScaleDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }
  /// The results; none after an error.
  llvm::SmallVector<interpreter::Tensor> run(llvm::ArrayRef<interpreter::Tensor> inputs) {
    if (!module)
      return {};
    auto out = interpreter::Interpreter(*module, weights).run("", inputs);
    return mlir::succeeded(out) ? *out : llvm::SmallVector<interpreter::Tensor>();
  }
  bool apply(llvm::function_ref<void(mlir::OpPassManager &)> add) {
    mlir::PassManager pm(&context);
    add(pm.nest<mlir::func::FuncOp>());
    return module && mlir::succeeded(pm.run(*module));
  }

  std::string errors;
  mlir::MLIRContext context;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  WeightStore weights;
};

/// Normal values.
inline interpreter::Tensor randomTensor(llvm::ArrayRef<int64_t> shape, uint32_t seed) {
  interpreter::Tensor t = interpreter::Tensor::make(ElementType::F32, shape);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < t.size(); ++i)
    t.mutableAs<float>()[i] = normal(random);
  return t;
}

} // namespace quaver::test
