// The shell of a kernel: its function, its bindings, its sizes. Whoever emits a kernel starts here.
#pragma once
#include "compiler/Codegen/Common/KernelEmission.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include <map>

namespace quaver::codegen {

/// Who computes a workgroup.
enum class Grid {
  HostRange,  // a call computes a range of them
  WarpEach,   // GPU: the 32 lanes of a warp share one
  ThreadEach, // GPU: every thread has its own
};

/// Opens a kernel. Emit with `b`; then close(). Bindings, sizes and numbers are at the top of the function,
/// so they dominate everything. On the host: `void symbol(ptr bindings, ptr constants, i64 begin, i64 end,
/// ptr scratch)`. On a GPU: `void symbol(ptr binding..., i64 constant..., ptr scratch)` in blocks of
/// kBlockThreads threads, and the launch counts blocks; scratch is the block's share of the launch's.
class KernelFunction {
public:
  static constexpr int64_t kWarp = 32, kBlockThreads = 128;

  KernelFunction(plan_ir::DispatchOp dispatch, mlir::ModuleOp kernels, llvm::StringRef symbol,
                 Grid grid = Grid::HostRange);
  /// A function that a kernel of the dispatch calls: `llvmFunction` has an empty entry block, its arguments
  /// at these positions are the bindings and the constants. `constants` are continued; give the result to the
  /// kernel that is emitted next. Not closed.
  KernelFunction(plan_ir::DispatchOp dispatch, mlir::ModuleOp kernels, mlir::LLVM::LLVMFuncOp llvmFunction,
                 unsigned bindingsArgument, unsigned constantsArgument,
                 llvm::ArrayRef<graph::DimExpr> constants);
  /// Starts with constants that functions called by this kernel have numbered.
  void continueConstants(llvm::ArrayRef<graph::DimExpr> known);

  /// The workgroups that this call, warp or thread computes: at most one on a GPU.
  mlir::Value begin() { return first; }
  mlir::Value end() { return last; }
  /// Memory of the launch's scratchBytes that nobody else uses.
  mlir::Value scratch() { return ownScratch; }
  /// Number of the lane in its warp (i64) under Grid::WarpEach, null elsewhere.
  mlir::Value lane() { return laneInWarp; }
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
  void startOnGrid();
  int64_t unitsOfBlock() const;
  Launch placeOnGrid(const Launch &launch);
  /// A builder at the top of the function, behind what was put there before.
  mlir::OpBuilder top();
  mlir::Operation *lastAtTop = nullptr;
  mlir::Block *body;
  Grid grid = Grid::HostRange;
  mlir::Value first, last, ownScratch, laneInWarp;
  mlir::Value total, scratchStride; // placeholders on a GPU until the launch is known
  mlir::Value bindingsPointer, constantsPointer;
  llvm::DenseMap<unsigned, mlir::Value> bindings;
  std::map<int64_t, mlir::Value> numbers;
  llvm::SmallVector<mlir::Value> sizes;
};

} // namespace quaver::codegen
