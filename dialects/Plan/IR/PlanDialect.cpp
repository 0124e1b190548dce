#include "dialects/Plan/IR/PlanDialect.h"
#include "dialects/Graph/Analysis/DimExpr.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace quaver;
using namespace quaver::plan_ir;

#include "dialects/Plan/IR/PlanDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Plan/IR/PlanTypes.cpp.inc"

void PlanDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Plan/IR/PlanTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Plan/IR/PlanOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dialects/Plan/IR/PlanOps.cpp.inc"

static LogicalResult isExpression(Operation *op, StringRef what, StringRef text) {
  if (graph::DimExpr::parse(text))
    return success();
  return op->emitOpError() << "C3: " << what << " is not a dimension expression: \"" << text << "\"";
}

// A packing's dictionary: {operand = index, storage = string, parameters = array<i64>, bytes = integer}.
static bool isPacking(Attribute a, unsigned operands) {
  auto d = cast<DictionaryAttr>(a);
  auto operand = d.getAs<IntegerAttr>("operand");
  return operand && operand.getValue().ult(operands) && d.getAs<StringAttr>("storage") &&
         d.getAs<DenseI64ArrayAttr>("parameters") && d.getAs<IntegerAttr>("bytes");
}

// C1: region arguments are the operands. C2: the region yields the results. C3: sizes are expressions.
// C6: packings are of operands.
LogicalResult DispatchOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != TypeRange(getInputs().getTypes()))
    return emitOpError("C1: the region's arguments must have the operands' types");
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().getTypes() != getResultTypes())
    return emitOpError("C2: the region must end in a plan.yield of the results' types");
  for (auto [what, text] :
       {std::pair("workgroups", getWorkgroups()), {"scratch", getScratch()}, {"grain", getGrain()}})
    if (text && failed(isExpression(*this, what, *text)))
      return failure();
  if (getConstants())
    for (Attribute c : getConstantsAttr())
      if (failed(isExpression(*this, "a constant", cast<StringAttr>(c))))
        return failure();
  if (ArrayAttr packings = getPackingsAttr())
    for (Attribute p : packings)
      if (!isPacking(p, getInputs().size()))
        return emitOpError() << "C6: a packing must have an operand's number, storage, parameters and bytes: "
                             << p;
  return success();
}

LogicalResult EntryOp::verify() { return isExpression(*this, "peak", getPeak()); }

LogicalResult BufferOp::verify() {
  static const StringRef kMemories[] = {"arena", "input", "output", "weight", "state", "dynamic"};
  if (!llvm::is_contained(kMemories, getMemory()))
    return emitOpError() << "C4: unknown memory \"" << getMemory()
                         << "\"; expected arena, input, output, weight, state or dynamic";
  if (failed(isExpression(*this, "offset", getOffset())))
    return failure();
  return isExpression(*this, "bytes", getBytes());
}

LogicalResult LaunchOp::verify() {
  if (getNumWritten() < 0 || getNumWritten() > int64_t(getBuffers().size()))
    return emitOpError() << "C5: num_written is " << getNumWritten() << ", but there are "
                         << getBuffers().size() << " buffers";
  for (auto [what, text] :
       {std::pair("workgroups", getWorkgroups()), {"scratch", getScratch()}, {"grain", getGrain()}})
    if (failed(isExpression(*this, what, text)))
      return failure();
  for (Attribute c : getConstants())
    if (failed(isExpression(*this, "a constant", cast<StringAttr>(c))))
      return failure();
  return success();
}
