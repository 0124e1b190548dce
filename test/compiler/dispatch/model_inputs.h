// The small models, decomposed, and inputs for them.
#pragma once
#include "compiler/Import/Onnx/ImportOnnx.h"
#include "compiler/Interpreter/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace quaver::test {

inline constexpr const char *kModels[] = {"bert-tiny",
                                          "bert-tiny-traced-opset13",
                                          "bert-tiny-fp8-qdq",
                                          "cnn-tiny-unfolded",
                                          "gpt2-tiny",
                                          "llama-tiny",
                                          "llama-tiny-opset23",
                                          "llama-tiny-decode",
                                          "mlp-train",
                                          "attention24-cache-hand",
                                          "mixtral-tiny-grouped",
                                          "deepseek-v3-tiny-batched",
                                          "gpt-tiny-train",
                                          "mixtral-tiny-loop"};

/// "bert-tiny" as a name in C++.
std::string identifierOf(const char *model);
/// test/models/<name>.onnx
std::string pathOf(const std::string &name);
/// That model with composites decomposed.
StatusOr<import::ImportedModel> importAndDecompose(mlir::MLIRContext &context, const std::string &name);
/// Small sizes for symbols; ids below 5, masks of ones, floats in [-1, 1).
llvm::SmallVector<interpreter::Tensor> inputsOf(mlir::func::FuncOp func);

} // namespace quaver::test
