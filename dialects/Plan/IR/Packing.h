// How a kernel wants a constant to lie in memory: what codegen asks for and the plan's weights must give.
#pragma once
#include "dialects/Plan/IR/PlanDialect.h"

namespace quaver::plan_ir {

/// A constant operand of a dispatch in a layout that a kernel reads. `storage` and `parameters` become those
/// of the plan's Weight; only the target that made them knows what they mean.
struct Packing {
  int64_t operand = 0; // of the dispatch
  std::string storage; // "panel16_f32"
  llvm::SmallVector<int64_t, 4> parameters;
  int64_t bytes = 0; // of the packed constant
};

/// The attribute `packings` of a dispatch.
llvm::SmallVector<Packing> packingsOf(DispatchOp dispatch);
void setPackings(DispatchOp dispatch, llvm::ArrayRef<Packing> packings);

} // namespace quaver::plan_ir
