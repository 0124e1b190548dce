// Symbols, states, control flow, dispatch regions.
#include "compiler/Interpreter/Eval.h"
#include "dialects/Graph/Analysis/DimExpr.h"
#include "dialects/Plan/IR/PlanDialect.h"

using namespace mlir;

namespace quaver::interpreter {
namespace {

LogicalResult evalConstant(Eval &e) {
  ElementsAttr value = cast<graph::ConstantOp>(e.op).getValue();
  if (!isa<DenseElementsAttr>(value))
    return e.error() << "holds a value that is not written out; make it a weight";
  return e.give(Tensor::of(value));
}

LogicalResult evalGetWeight(Eval &e) {
  StringRef name = cast<graph::GetWeightOp>(e.op).getWeight();
  const WeightData *data = e.interpreter.getWeights().find(name);
  if (!data)
    return e.error() << "reads @" << name << ", whose bytes the weight store does not hold";
  return e.give(Tensor::of(*data));
}

LogicalResult evalSizes(Eval &e) {
  auto op = cast<graph::SizesOp>(e.op);
  auto type = cast<RankedTensorType>(op.getResult().getType());
  SmallVector<int64_t> values;
  for (Attribute a : op.getElements()) {
    auto expr = graph::DimExpr::parse(cast<StringAttr>(a).getValue());
    auto value =
        expr ? expr->evaluate([&](StringRef s) { return e.interpreter.dimension(s); }) : std::nullopt;
    if (!value)
      return e.error() << "needs " << a << ", of which a symbol is not bound in this run";
    values.push_back(*value);
  }
  return e.give(Tensor::ints(values).reshaped(type.getShape()).to(elementTypeOf(type.getElementType())));
}

LogicalResult evalReadState(Eval &e) {
  auto value = e.interpreter.readState(e.op, cast<graph::ReadStateOp>(e.op).getState());
  return failed(value) ? failure() : e.give(*value);
}
LogicalResult evalUpdateState(Eval &e) {
  e.interpreter.writeState(cast<graph::UpdateStateOp>(e.op).getState(), e.in[0]);
  return success();
}

FailureOr<bool> conditionOf(Eval &e, const Tensor &t) {
  if (t.size() != 1)
    return e.error() << "needs a condition of one element, got " << t.typeString(), failure();
  return t.integer(0) != 0;
}

LogicalResult evalIf(Eval &e) {
  auto op = cast<graph::IfOp>(e.op);
  auto condition = conditionOf(e, e.in[0]);
  if (failed(condition))
    return failure();
  auto results = e.interpreter.runBlock((*condition ? op.getThenRegion() : op.getElseRegion()).front(), {});
  if (failed(results))
    return failure();
  e.out = std::move(*results);
  return success();
}

LogicalResult evalWhile(Eval &e) {
  auto op = cast<graph::WhileOp>(e.op);
  SmallVector<Tensor> carried(e.in);
  while (true) {
    auto before = e.interpreter.runBlock(op.getBefore().front(), carried);
    if (failed(before))
      return failure();
    auto more = conditionOf(e, before->front());
    if (failed(more))
      return failure();
    before->erase(before->begin());
    if (!*more)
      return e.out = std::move(*before), success();
    auto next = e.interpreter.runBlock(op.getBody().front(), *before);
    if (failed(next))
      return failure();
    carried = std::move(*next);
  }
}

LogicalResult evalDispatch(Eval &e) {
  auto results = e.interpreter.runBlock(cast<plan_ir::DispatchOp>(e.op).getBody().front(), e.in);
  if (failed(results))
    return failure();
  e.out = std::move(*results);
  return success();
}

} // namespace

void addControl(EvalTable &t) {
  add<graph::ConstantOp>(t, evalConstant);
  add<graph::GetWeightOp>(t, evalGetWeight);
  add<graph::SizesOp>(t, evalSizes);
  add<graph::ReadStateOp>(t, evalReadState);
  add<graph::UpdateStateOp>(t, evalUpdateState);
  add<graph::IfOp>(t, evalIf);
  add<graph::WhileOp>(t, evalWhile);
  add<plan_ir::DispatchOp>(t, evalDispatch);
}

} // namespace quaver::interpreter
