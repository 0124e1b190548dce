// The shell of a kernel: its function, its bindings, its sizes. Whoever emits a kernel starts here.
#pragma once
#include "compiler/Codegen/Common/KernelEmission.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include <map>

namespace quaver::codegen {

/// Opens `void symbol(ptr bindings, ptr constants, i64 begin, i64 end, ptr scratch)`. Emit with `b`; then
/// close(). Bindings, sizes and numbers are materialized at the top of the function, so they dominate
/// everything.
class KernelFunction {
public:
  KernelFunction(plan_ir::DispatchOp dispatch, mlir::ModuleOp kernels, llvm::StringRef symbol);
  /// A function that a kernel of the dispatch calls: `llvmFunction` has an empty entry block, its arguments
  /// at these positions are the bindings and the constants. `constants` are continued; give the result to the
  /// kernel that is emitted next. Not closed.
  KernelFunction(plan_ir::DispatchOp dispatch, mlir::ModuleOp kernels, mlir::LLVM::LLVMFuncOp llvmFunction,
                 unsigned bindingsArgument, unsigned constantsArgument,
                 llvm::ArrayRef<graph::DimExpr> constants);
  /// Starts with constants that functions called by this kernel have numbered.
  void continueConstants(llvm::ArrayRef<graph::DimExpr> known);

  mlir::Value begin() { return function.getArgument(2); }
  mlir::Value end() { return function.getArgument(3); }
  mlir::Value scratch() { return function.getArgument(4); }
  /// The pointer of binding i: the dispatch's operands, then its results.
  mlir::Value binding(unsigned i);
  /// An i64: a literal, or one of the kernel's constants (equal expressions share one).
  mlir::Value size(const graph::DimExpr &e);
  mlir::Value number(int64_t n);

  /// What the runtime must know to launch the kernel.
  struct Launch {
    graph::DimExpr workgroups, grain = 1, scratchBytes = 0;
    std::string description;
  };
  /// Ends the function and sets the dispatch's attributes. Where the module holds an equal function already,
  /// this one is erased and that one is named.
  void close(const Launch &launch);
  /// Removes the function after a failure.
  void abandon();

  plan_ir::DispatchOp dispatch;
  mlir::ModuleOp kernels;
  mlir::func::FuncOp function;
  mlir::OpBuilder b;
  mlir::Location loc;
  /// Sizes in the order of the kernel's constants.
  llvm::SmallVector<graph::DimExpr> constants;

private:
  /// A builder at the top of the function, behind what was put there before.
  mlir::OpBuilder top();
  mlir::Operation *lastAtTop = nullptr;
  mlir::Block *body;
  mlir::Value bindingsPointer, constantsPointer;
  llvm::DenseMap<unsigned, mlir::Value> bindings;
  std::map<int64_t, mlir::Value> numbers;
  llvm::SmallVector<mlir::Value> sizes;
};

} // namespace quaver::codegen
