// Calls of the manifest's kernels, and the functions that they call back.
#pragma once
#include "compiler/Codegen/Common/Epilogue.h"
#include "runtime/numerics/formats.h"

namespace quaver::codegen {

/// The floats that kernels read and convert themselves: f32, bf16, f16; nullopt for others.
std::optional<ElementType> wideType(mlir::Value v);

/// Calls the kernel `name` of the target's bitcode, which is declared by the arguments' types.
void callKernel(KernelFunction &k, llvm::StringRef name, llvm::ArrayRef<mlir::Value> arguments);

/// An internal function with an empty body that returns nothing, or zero.
mlir::LLVM::LLVMFuncOp internalFunction(mlir::ModuleOp kernels, const llvm::Twine &name, mlir::Type result,
                                        llvm::ArrayRef<mlir::Type> arguments);
/// The name of an equal function that is there already, which takes its place so that equal kernels stay
/// equal; else its own.
std::string deduplicated(mlir::ModuleOp kernels, mlir::LLVM::LLVMFuncOp function);
mlir::Value addressOf(KernelFunction &k, llvm::StringRef function);

/// The address of an f32 that is 1.
mlir::Value addressOfOne(KernelFunction &k);

/// The function that stores what becomes of a product's sums; appends the constants that it reads.
mlir::FailureOr<std::string> epilogueFunction(plan_ir::DispatchOp dispatch, mlir::Operation *product,
                                              SumsLayout layout, const std::optional<ColumnScales> &scales,
                                              graph::ShapeAnalysis &shapes, const Target &target,
                                              mlir::ModuleOp kernels, llvm::StringRef symbol,
                                              llvm::SmallVectorImpl<graph::DimExpr> &constants);

} // namespace quaver::codegen
