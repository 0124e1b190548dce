// If and Loop.
#include "compiler/Import/Onnx/Importer.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::import {
namespace {

void ifNode(NodeImport &n) {
  const onnx::Graph *thenGraph = n.graph("then_branch"), *elseGraph = n.graph("else_branch");
  Value condition = n.in(0);
  if (n.failed())
    return;
  if (auto c = n.g.constants(condition)) { // known: only the branch that runs
    std::vector<Value> outputs;
    Status status = n.importer.importSubgraph((*c)[0] ? *thenGraph : *elseGraph, {}, outputs);
    if (!status.ok())
      return n.error(status.message());
    for (auto [k, v] : llvm::enumerate(outputs))
      n.set(k, v);
    return;
  }
  OpBuilder &b = n.importer.builder();
  SmallVector<Type> types;
  for (const onnx::ValueInfo &info : thenGraph->output())
    types.push_back(UnrankedTensorType::get(n.type(info.type().tensor_type().elem_type())));
  if (n.failed() || types.size() != n.outputs.size())
    return n.error("its branches must declare ", n.outputs.size(), " tensor outputs");
  auto op = IfOp::create(b, n.g.loc, types, condition);
  for (auto [region, graph] :
       {std::pair(&op.getThenRegion(), thenGraph), std::pair(&op.getElseRegion(), elseGraph)}) {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(region);
    std::vector<Value> values;
    Status status = n.importer.importSubgraph(*graph, {}, values);
    if (!status.ok())
      return n.error(status.message());
    YieldOp::create(b, n.g.loc, values);
    if (values.size() != n.outputs.size())
      return n.error("a branch gives ", values.size(), " values for ", n.outputs.size(), " outputs");
    for (auto [v, t] : llvm::zip(values, types))
      if (n.g.element(v) != cast<UnrankedTensorType>(t).getElementType())
        return n.error("its branches give different element types");
  }
  n.g.finish(op);
  for (auto [k, v] : llvm::enumerate(op.getResults()))
    n.set(k, v);
}

/// Loop without scan outputs becomes graph.while carrying (iteration, condition, values...).
void loop(NodeImport &n) {
  const onnx::Graph *body = n.graph("body");
  if (n.failed())
    return;
  size_t carried = n.inputCount() >= 2 ? n.inputCount() - 2 : 0;
  if (n.outputs.size() != carried || body->output_size() != int(carried) + 1)
    return n.error("scan outputs are not supported; write results into a carried tensor instead");
  OpBuilder &b = n.importer.builder();
  GraphBuilder &g = n.g;
  Value zero = g.intScalar(0), always = g.scalar(1, b.getI1Type());
  auto toScalar = [&](Value v) { return !g.failed() && g.rank(v) == 1 ? g.squeeze(v, {0}) : v; };
  Value limit = n.has(0) ? toScalar(n.in(0)) : g.intScalar(INT64_MAX),
        start = n.has(1) ? toScalar(n.in(1)) : always;
  SmallVector<Value> inits = {zero, start};
  for (size_t k = 0; k < carried; ++k)
    inits.push_back(n.in(k + 2));
  if (n.failed())
    return;
  SmallVector<Type> types, regionTypes;
  for (Value v : inits)
    types.push_back(UnrankedTensorType::get(g.element(v))), regionTypes.push_back(v.getType());
  auto op = WhileOp::create(b, g.loc, types, inits);
  SmallVector<Location> locs(inits.size(), g.loc);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&op.getBefore(), {}, regionTypes, locs);
  for (auto [arg, init] : llvm::zip(before->getArguments(), inits))
    g.shapes.set(arg, {g.shapes.get(init).dims, std::nullopt});
  Value go = g.make<AndOp>(b.getI1Type(), g.compare(CompareKind::lt, before->getArgument(0), limit),
                           before->getArgument(1));
  SmallVector<Value> passed = {go};
  passed.append(before->getArguments().begin(), before->getArguments().end());
  YieldOp::create(b, g.loc, passed);
  Block *inner = b.createBlock(&op.getBody(), {}, regionTypes, locs);
  SmallVector<Value> arguments(inner->getArguments());
  for (auto [arg, init] : llvm::zip(arguments, inits))
    g.shapes.set(arg, {g.shapes.get(init).dims, std::nullopt});
  std::vector<Value> next;
  Status status = n.importer.importSubgraph(*body, arguments, next);
  if (!status.ok())
    return n.error(status.message());
  SmallVector<Value> yielded = {g.add(arguments[0], 1.0), toScalar(next[0])};
  yielded.append(next.begin() + 1, next.end());
  YieldOp::create(b, g.loc, yielded);
  b.setInsertionPointAfter(op);
  if (n.failed())
    return;
  g.finish(op);
  for (size_t k = 0; k < carried; ++k)
    n.set(k, op.getResult(k + 2));
}

} // namespace

ArrayRef<HandlerRow> controlHandlers() {
  static const HandlerRow kRows[] = {{"", "If", 1, 0, ifNode}, {"", "Loop", 1, 0, loop}};
  return kRows;
}

} // namespace quaver::import
