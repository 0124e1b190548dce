#include "compiler/Codegen/Common/Epilogue.h"
#include "compiler/Codegen/Common/Emitter.h"
#include "compiler/Codegen/Common/OpKinds.h"

using namespace mlir;

namespace quaver::codegen {

static bool isView(Operation *op) {
  return isa<graph::TransposeOp, graph::ReshapeOp, graph::ExpandDimsOp, graph::SqueezeOp>(op);
}

std::optional<std::string> whyNotEpilogue(plan_ir::DispatchOp dispatch, Operation *matmul,
                                          graph::ShapeAnalysis &shapes) {
  // The views passed through on the way from the product: both operands of an op must have come the same way.
  DenseMap<Value, SmallVector<Operation *>> way;
  way[matmul->getResult(0)] = {};
  for (Operation &op : dispatch.getBody().front().without_terminator()) {
    if (&op == matmul)
      continue;
    std::string name = op.getName().getStringRef().str();
    if (isa<graph::ReduceOp, graph::ArgReduceOp, graph::MatmulOp, graph::ConvOp, graph::ConvTransposeOp,
            graph::PoolOp>(op))
      return name + " is in the same dispatch";
    std::optional<SmallVector<Operation *>> came;
    for (Value v : op.getOperands()) {
      auto it = way.find(v);
      if (it == way.end())
        continue;
      if (came && *came != it->second)
        return name + " reads the product in two orders";
      if (!isView(&op) && shapes.get(v).dims != shapes.get(op.getResult(0)).dims)
        return name + " stretches the product";
      came = it->second;
    }
    if (!came)
      continue;
    if (isView(&op))
      came->push_back(&op);
    else if (!isElementwise(&op))
      return name + " reads the product";
    way[op.getResult(0)] = *came;
  }
  for (Value v : dispatch.getBody().front().getTerminator()->getOperands())
    if (!way.count(v))
      return std::string("a result does not depend on the product");
  return std::nullopt;
}

LogicalResult emitEpilogue(KernelFunction &k, Block *body, Operation *product, SumsLayout layout,
                           const std::optional<ColumnScales> &scales, graph::ShapeAnalysis &shapes,
                           const Target &target) {
  return Emitter(k, shapes, target).epilogue(product, body, layout, scales);
}

LogicalResult emitBatchOffset(KernelFunction &k, Block *body, graph::MatmulOp matmul,
                              ArrayRef<DimExpr> batchDims, graph::ShapeAnalysis &shapes,
                              const Target &target) {
  return Emitter(k, shapes, target).batchOffset(body, matmul, batchDims);
}

LogicalResult Emitter::epilogue(Operation *matmul, Block *body, SumsLayout layout,
                                const std::optional<ColumnScales> &scales) {
  llvm::ScopedHashTableScope<ExprKey, Value> scope(exprs);
  finished = matmul;
  Value product = matmul->getResult(0), sums = body->getArgument(0), column = body->getArgument(3),
        n = body->getArgument(4);
  int64_t rank = dims(product).size();
  Index joined{{}, {}, {}, true};
  lanes(num(0), n, std::nullopt, 1, {}, [&](Index i, ValueRange) {
    Indices at0(rank, joined);
    Value batch = body->getArgument(1), row = body->getArgument(2);
    if (layout == SumsLayout::Batched && rank > 2)
      at0[rank - 3] = scalar(batch);
    if (layout == SumsLayout::Filters) {
      auto conv = cast<graph::ConvOp>(matmul);
      DimExpr filters = DimExpr::floorDiv(dims(conv.getFilter())[0], DimExpr(int64_t(conv.getGroups())));
      at0[1] = scalar(add(mul(batch, size(filters)), row));
    } else {
      at0[rank - 2] = scalar(row);
    }
    at0[rank - 1] = {add(column, i.base), i.stride, {}, false};
    Value sum = load(sums, b.getF32Type(), i);
    if (scales) {
      Index at = times(at0[rank - 1], size(scales->stride));
      sum = math.mul(sum, splat(load(k.binding(scales->source.getArgNumber()), b.getF32Type(), at)));
    }
    finishedValue = convert(sum, b.getF32Type(), element(product));
    DenseMap<Value, Indices> forward;
    forward[product] = at0;
    for (Operation &op : k.dispatch.getBody().front().without_terminator()) {
      if (&op == matmul)
        continue;
      for (Value v : op.getOperands()) {
        if (!forward.count(v))
          continue;
        Indices idx = forward[v];
        Value r = op.getResult(0);
        if (auto t = dyn_cast<graph::TransposeOp>(op)) {
          auto p = t.getPermutation();
          auto inverse = llvm::to_vector(p);
          for (auto [i, from] : llvm::enumerate(p))
            inverse[from] = i;
          split(idx, dims(v), [&](int64_t i) { return inverse[i + 1] == inverse[i] + 1; });
          Indices out(idx.size());
          for (auto [i, from] : llvm::enumerate(p))
            out[i] = idx[from];
          idx = out;
        } else if (isView(&op)) {
          idx = reshaped(r, v, idx);
        }
        forward[r] = idx;
        break;
      }
    }
    for (unsigned r = 0; r < k.dispatch.getNumResults(); ++r) {
      const Indices &idx = forward[yielded(r)];
      storeResult(r, idx, at(yielded(r), idx));
    }
    return Values();
  });
  return failure(failedAt != nullptr);
}

LogicalResult Emitter::batchOffset(Block *body, graph::MatmulOp matmul, ArrayRef<DimExpr> batch) {
  llvm::ScopedHashTableScope<ExprKey, Value> scope(exprs);
  Indices leading(batch.size(), Index{{}, {}, {}, true});
  if (!batch.empty()) {
    leading.back() = scalar(body->getArgument(1));
    split(leading, batch);
  }
  auto offsetOf = [&](Value v) {
    const Dims &d = dims(v);
    Indices idx(d.size(), scalar(num(0)));
    for (size_t i = 0; i + 2 < d.size(); ++i)
      if (!batch.empty() && !isOne(d[i]))
        idx[i] = leading[batch.size() + 2 - d.size() + i];
    while (Operation *op = v.getDefiningOp()) {
      Access from = accesses(op, idx)->front();
      v = from.from, idx = from.idx;
    }
    return linear(idx, dims(v)).base;
  };
  Value left = offsetOf(matmul.getLhs()), right = offsetOf(matmul.getRhs());
  Value isRight = compare(arith::CmpIPredicate::ne, body->getArgument(0), num(0));
  body->getTerminator()->setOperands(select(isRight, right, left));
  return failure(failedAt != nullptr);
}

} // namespace quaver::codegen
