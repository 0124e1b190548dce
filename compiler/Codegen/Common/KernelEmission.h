// The generic path: a kernel for any elementwise, reduction, gather or movement cluster, any sizes, any
// types.
//
// Values are pulled from the results: elementwise ops inline into their users, movement ops become index
// arithmetic, a reduction is emitted at the outermost loop where its indices are known. No bufferization, no
// intermediate buffer beside a row of scratch.
#pragma once
#include "dialects/Graph/Analysis/ShapeAnalysis.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include "dialects/Plan/IR/PlanDialect.h"

namespace quaver::codegen {

/// The machine that kernels are made for.
struct Target {
  enum class Kind { X86, NvidiaGpu };
  std::string name; // "x86-64-v3", "x86-64-v4", "x86-64-v4+bf16", "sm_89", "sm_90a"
  Kind kind = Kind::X86;
  std::string cpu;           // LLVM's name: "x86-64-v4", "sm_90a"
  std::string features;      // LLVM's: "+avx512bf16,+avx512vbmi", "+ptx84"; may be empty
  unsigned vectorBits = 256; // of one thread's vectors
  bool isGpu() const { return kind == Kind::NvidiaGpu; }
};
/// By Quaver's name of the target; nullopt for one it does not know.
std::optional<Target> findTarget(llvm::StringRef name);
/// All names that findTarget knows.
std::vector<std::string> targetNames();

/// Emits, for a CPU,
///   void symbol(void *const *bindings, const int64_t *constants, int64_t begin, int64_t end, void *scratch)
/// or, for a GPU, a kernel of which every warp computes one workgroup (KernelFunction.h),
/// for the region of `dispatch` into `kernels` (func, scf, vector, arith, math, llvm loads and stores) and
/// sets the dispatch's kernel, workgroups, constants, scratch, grain and description. An equal kernel that is
/// there already is reused: the attribute `kernel` then names that one. Fails with a diagnostic on an op that
/// it cannot emit.
mlir::LogicalResult emitGenericKernel(plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes,
                                      const Target &target, mlir::ModuleOp kernels, llvm::StringRef symbol);

/// Why an op cannot be part of a cluster for emitGenericKernel (one clause with op and types); nullopt when
/// it can.
std::optional<std::string> whyNotGeneric(mlir::Operation *op);

} // namespace quaver::codegen
