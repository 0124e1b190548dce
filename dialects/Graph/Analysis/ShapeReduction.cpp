#include "dialects/Graph/Analysis/ShapeRules.h"

using namespace mlir;

namespace quaver::graph {

LogicalResult ShapeRules::reduce(ReduceOp op) {
  SymbolicTensor in = a.get(op.getInput());
  Dims out;
  for (int64_t axis : op.getAxes())
    if (axis < 0 || axis >= int64_t(in.dims.size()))
      return op.emitOpError() << "reduces axis " << axis << " of a tensor of rank " << in.dims.size();
  for (size_t d = 0; d < in.dims.size(); ++d) {
    if (!llvm::is_contained(op.getAxes(), int64_t(d)))
      out.push_back(in.dims[d]);
    else if (op.getKeepDims())
      out.push_back(DimExpr(1));
  }
  Elements elements;
  if (in.elements && !in.elements->empty() && smallCount(out) == 1) {
    DimExpr r = (*in.elements)[0];
    bool known = op.getKind() != ReduceKind::mean;
    for (const DimExpr &e : llvm::drop_begin(*in.elements))
      r = op.getKind() == ReduceKind::sum    ? r + e
          : op.getKind() == ReduceKind::prod ? r * e
          : op.getKind() == ReduceKind::max  ? DimExpr::max(r, e)
                                             : DimExpr::min(r, e);
    if (known)
      elements.emplace(1, r);
  }
  return set(op.getResult(), out, elements);
}

static std::optional<SmallVector<double>> floats(Value v) {
  auto c = v.getDefiningOp<ConstantOp>();
  auto dense = c ? dyn_cast<DenseFPElementsAttr>(c.getValue()) : DenseFPElementsAttr();
  if (!dense)
    return std::nullopt;
  SmallVector<double> out;
  for (APFloat f : dense.getValues<APFloat>()) {
    bool lost;
    f.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    out.push_back(f.convertToDouble());
  }
  return out;
}

LogicalResult ShapeRules::resize(ResizeOp op) {
  Dims in = dims(op.getInput()), out;
  if (smallCount(dims(op.getSizes())) == int64_t(in.size()) && !in.empty())
    return set(op.getResult(), Dims(a.elementsOrFresh(op.getSizes())));
  auto scales = floats(op.getScales());
  if (!scales || scales->size() != in.size())
    return op.emitOpError()
           << "has scales that are not constant; their values give the result's sizes: use sizes instead";
  for (auto [d, s] : llvm::zip(in, *scales)) {
    if (auto c = d.getConstant())
      out.push_back(DimExpr(int64_t(std::floor(double(*c) * s))));
    else if (s == std::floor(s))
      out.push_back(d * DimExpr(int64_t(s)));
    else if (1 / s == std::floor(1 / s))
      out.push_back(DimExpr::floorDiv(d, DimExpr(int64_t(1 / s))));
    else
      return op.emitOpError() << "scales the dynamic size " << d.str() << " by " << s
                              << "; only whole factors and their inverses are supported there";
  }
  return set(op.getResult(), out);
}

LogicalResult ShapeRules::reductions(Operation *op) {
  if (auto r = dyn_cast<ReduceOp>(op))
    return reduce(r);
  if (auto r = dyn_cast<ResizeOp>(op))
    return resize(r);
  Dims in = dims(op->getOperand(0));
  int64_t rank = in.size();
  if (auto r = dyn_cast<ArgReduceOp>(op)) {
    int64_t axis = r.getAxis();
    if (axis < 0 || axis >= rank)
      return op->emitOpError() << "reduces axis " << axis << " of a tensor of rank " << rank;
    if (r.getKeepDims())
      in[axis] = DimExpr(1);
    else
      in.erase(in.begin() + axis);
    return set(op->getResult(0), in);
  }
  if (auto t = dyn_cast<TopKOp>(op)) {
    int64_t axis = t.getAxis();
    if (axis < 0 || axis >= rank)
      return op->emitOpError() << "selects along axis " << axis << " of a tensor of rank " << rank;
    DimExpr k = a.elementsOrFresh(t.getK())[0], n = in[axis];
    if (auto c = k.getConstant(), m = n.getConstant(); c && m && (*c < 0 || *c > *m))
      return op->emitOpError() << "selects " << *c << " of " << *m << " elements";
    in[axis] = StringRef(k.str()).contains("value_") ? DimExpr::min(DimExpr::max(k, DimExpr(0)), n) : k;
    if (failed(set(t.getValues(), in)))
      return failure();
    return set(t.getIndices(), in);
  }
  if (isa<NonZeroOp>(op))
    return set(op->getResult(0),
               {DimExpr(rank), a.freshCount(op->getResult(0), a.numElements(op->getOperand(0)))});
  if (auto u = dyn_cast<UniqueOp>(op)) {
    DimExpr n = u.getAxis() ? in[*u.getAxis()] : a.numElements(op->getOperand(0));
    DimExpr count = a.freshCount(u.getValues(), n);
    Dims values = u.getAxis() ? in : Dims{count};
    if (u.getAxis())
      values[*u.getAxis()] = count;
    if (failed(set(u.getValues(), values)) || failed(set(u.getIndices(), {count})) ||
        failed(set(u.getInverse(), {n})))
      return failure();
    return set(u.getCounts(), {count});
  }
  return set(op->getResult(0), in); // cumulative
}

LogicalResult ShapeRules::matmul(MatmulOp op) {
  Dims x = dims(op.getLhs()), y = dims(op.getRhs());
  if (x.size() < 2 || y.size() < 2)
    return op.emitOpError() << "needs operands of rank 2 or more, got " << x.size() << " and " << y.size();
  if (failed(equal(op, x.back(), y[y.size() - 2], "the contracted sizes")))
    return failure();
  Dims out;
  size_t rank = std::max(x.size(), y.size());
  for (size_t i = 0; i + 2 < rank; ++i) {
    auto b = a.broadcast(i + x.size() < rank ? DimExpr(1) : x[i + x.size() - rank],
                         i + y.size() < rank ? DimExpr(1) : y[i + y.size() - rank]);
    if (!b)
      return op.emitOpError() << "cannot broadcast the leading sizes of its operands";
    out.push_back(*b);
  }
  out.push_back(x[x.size() - 2]);
  out.push_back(y.back());
  return set(op.getResult(), out);
}

LogicalResult ShapeRules::windows(Operation *op) {
  Dims in = dims(op->getOperand(0)), out(in.begin(), in.begin() + std::min<size_t>(2, in.size()));
  if (in.size() < 3)
    return op->emitOpError() << "needs [n, c, spatial...], got rank " << in.size();
  size_t spatial = in.size() - 2;
  SmallVector<DimExpr> kernel;
  auto pool = dyn_cast<PoolOp>(op);
  if (pool) {
    for (int64_t k : pool.getKernel())
      kernel.push_back(DimExpr(k));
  } else {
    Dims filter = dims(op->getOperand(1));
    if (filter.size() != in.size())
      return op->emitOpError() << "has an input of rank " << in.size() << " and a filter of rank "
                               << filter.size();
    kernel.assign(filter.begin() + 2, filter.end());
    DimExpr groups(op->getAttrOfType<IntegerAttr>("groups").getInt());
    if (isa<ConvOp>(op)) {
      out[1] = filter[0];
      if (failed(equal(op, in[1], filter[1] * groups, "the input's channels and the filter's")))
        return failure();
    } else {
      out[1] = filter[1] * groups;
      if (failed(equal(op, in[1], filter[0], "the input's channels and the filter's")))
        return failure();
    }
  }
  auto list = [&](StringRef name) { return op->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef(); };
  ArrayRef<int64_t> strides = list("strides"), pads = list("pads"), dilations = list("dilations");
  if (kernel.size() != spatial || strides.size() != spatial || pads.size() != 2 * spatial ||
      dilations.size() != spatial)
    return op->emitOpError() << "has " << spatial << " spatial dimensions, but " << kernel.size()
                             << " kernel sizes, " << strides.size() << " strides, " << pads.size()
                             << " pads, " << dilations.size() << " dilations";
  for (size_t i = 0; i < spatial; ++i) {
    if (strides[i] < 1 || dilations[i] < 1)
      return op->emitOpError() << "needs strides and dilations of at least 1";
    DimExpr d = in[i + 2], reach = DimExpr(dilations[i]) * (kernel[i] - DimExpr(1)) + DimExpr(1),
            s(strides[i]);
    if (auto t = dyn_cast<ConvTransposeOp>(op)) {
      out.push_back((d - DimExpr(1)) * s + reach - DimExpr(pads[i] + pads[i + spatial]) +
                    DimExpr(t.getOutputPadding()[i]));
      continue;
    }
    DimExpr room = d + DimExpr(pads[i] + pads[i + spatial]) - reach;
    if (pool && pool.getCeilMode()) {
      DimExpr n = DimExpr::ceilDiv(room, s) + DimExpr(1);
      // A window that would start in the padding after the input is dropped.
      out.push_back(
          DimExpr::select(DimExpr::lt((n - DimExpr(1)) * s, d + DimExpr(pads[i])), n, n - DimExpr(1)));
    } else {
      out.push_back(DimExpr::floorDiv(room, s) + DimExpr(1));
    }
    if (auto c = out.back().getConstant(); c && *c < 0)
      return op->emitOpError() << "has a window larger than the padded input along spatial dimension " << i;
  }
  return set(op->getResult(0), out);
}

// Blocks along each dimension; a block of 0 is the whole dimension.
static SmallVector<DimExpr, 4> blockCounts(ArrayRef<DimExpr> dims, ArrayRef<int64_t> blocks) {
  SmallVector<DimExpr, 4> counts;
  for (auto [d, block] : llvm::zip(dims, blocks))
    counts.push_back(block == 0 ? DimExpr(1) : DimExpr::ceilDiv(d, DimExpr(block)));
  return counts;
}

LogicalResult ShapeRules::composites(Operation *op) {
  Dims in = dims(op->getOperand(0));
  if (auto x = dyn_cast<AttentionOp>(op)) {
    Dims k = dims(x.getKey()), v = dims(x.getValue());
    if (in.size() != 4 || k.size() != 4 || v.size() != 4)
      return op->emitOpError() << "needs query, key and value of rank 4";
    if (failed(equal(op, in[3], k[3], "the head sizes of query and key")) ||
        failed(equal(op, k[2], v[2], "the lengths of key and value")))
      return failure();
    return set(op->getResult(0), {in[0], in[1], in[2], v[3]});
  }
  if (auto x = dyn_cast<LatentAttentionOp>(op)) {
    if (in.size() != 4)
      return op->emitOpError() << "needs queries of rank 4";
    return set(op->getResult(0), {in[0], in[1], in[2], dims(x.getWUv()).back()});
  }
  if (auto x = dyn_cast<RouteOp>(op)) {
    if (in.size() != 2)
      return op->emitOpError() << "needs logits [tokens, experts]";
    Dims out = {in[0], DimExpr(int64_t(x.getK()))};
    if (failed(set(x.getWeights(), out)))
      return failure();
    return set(x.getExperts(), out);
  }
  if (auto x = dyn_cast<DispatchTokensOp>(op)) {
    Dims e = dims(x.getExperts());
    if (in.size() != 2 || e.size() != 2)
      return op->emitOpError() << "needs x [tokens, hidden] and experts [tokens, k]";
    DimExpr rows = e[0] * e[1];
    if (failed(set(x.getRows(), {rows, in[1]})) ||
        failed(set(x.getOffsets(), {DimExpr(int64_t(x.getNumExperts()) + 1)})))
      return failure();
    return set(x.getSource(), {rows});
  }
  if (auto x = dyn_cast<GroupedMatmulOp>(op)) {
    Dims w = dims(x.getWeights());
    if (in.size() != 2 || w.size() != 3)
      return op->emitOpError() << "needs rows [r, k] and weights [experts, k, n]";
    if (failed(equal(op, in[1], w[1], "the contracted sizes")))
      return failure();
    return set(op->getResult(0), {in[0], w[2]});
  }
  if (auto x = dyn_cast<CombineTokensOp>(op))
    return set(op->getResult(0), {dims(x.getWeights())[0], in[1]});
  if (auto x = dyn_cast<DynamicQuantizeOp>(op)) {
    if (x.getBlocks().size() != in.size())
      return op->emitOpError() << "needs one block size for each of the " << in.size() << " dimensions";
    if (failed(set(x.getCodes(), in)))
      return failure();
    return set(x.getScales(), blockCounts(in, x.getBlocks()));
  }
  ArrayRef<int64_t> blocks;
  if (auto x = dyn_cast<QuantizeOp>(op))
    blocks = x.getBlocks();
  if (auto x = dyn_cast<DequantizeOp>(op))
    blocks = x.getBlocks();
  if (!blocks.empty()) {
    Dims scale = dims(op->getOperand(1));
    if (blocks.size() != in.size() || scale.size() != in.size())
      return op->emitOpError()
             << "with blocks needs a block size and a dimension of the scale for each of the " << in.size()
             << " dimensions";
    for (auto [d, count] : llvm::enumerate(blockCounts(in, blocks)))
      if (failed(equal(op, scale[d], count, "the scale's size and the number of blocks")))
        return failure();
  }
  return set(op->getResult(0), in); // softmax, norms, rotary embedding, quantize, dequantize
}

LogicalResult ShapeRules::block(Block &b) {
  for (Operation &o : b)
    if (failed(visit(&o)))
      return failure();
  return success();
}

LogicalResult ShapeRules::control(Operation *op) {
  if (auto i = dyn_cast<IfOp>(op)) {
    if (failed(block(i.getThenRegion().front())) || failed(block(i.getElseRegion().front())))
      return failure();
    auto then = i.getThenRegion().front().getTerminator()->getOperands(),
         otherwise = i.getElseRegion().front().getTerminator()->getOperands();
    for (auto [r, x, y] : llvm::zip(op->getResults(), then, otherwise)) {
      Dims dx = dims(x), dy = dims(y);
      if (dx.size() != dy.size())
        return op->emitOpError() << "has branches that yield ranks " << dx.size() << " and " << dy.size();
      Dims out;
      for (auto [p, q] : llvm::zip(dx, dy))
        out.push_back(p == q ? p : DimExpr::select(a.elementsOrFresh(i.getCondition())[0], p, q));
      if (failed(set(r, out)))
        return failure();
    }
    return success();
  }
  auto w = cast<WhileOp>(op);
  auto bind = [&](Region &region, ValueRange from) {
    for (auto [arg, v] : llvm::zip(region.getArguments(), from)) {
      SymbolicTensor t = a.get(v);
      t.elements.reset(); // other ones in the next iteration
      arg.setType(v.getType());
      a.known[arg] = t;
    }
    return block(region.front());
  };
  if (failed(bind(w.getBefore(), w.getInits())))
    return failure();
  auto yielded = w.getBefore().front().getTerminator()->getOperands().drop_front();
  for (auto [r, v] : llvm::zip(op->getResults(), yielded))
    if (failed(set(r, dims(v))))
      return failure();
  if (failed(bind(w.getBody(), yielded)))
    return failure();
  for (auto [v, init] : llvm::zip(w.getBody().front().getTerminator()->getOperands(), w.getInits())) {
    if (ArrayRef<DimExpr>(dims(v)) == ArrayRef<DimExpr>(dims(init)))
      continue;
    return op->emitOpError()
           << "carries a tensor whose shape changes from one iteration to the next; carry a tensor of the "
              "largest size instead";
  }
  return success();
}

LogicalResult ShapeRules::dispatch(Operation *op) {
  Block &body = op->getRegion(0).front();
  for (auto [arg, v] : llvm::zip(body.getArguments(), op->getOperands())) {
    arg.setType(v.getType());
    a.known[arg] = SymbolicTensor(a.get(v));
  }
  if (failed(block(body)))
    return failure();
  for (auto [r, v] : llvm::zip(op->getResults(), body.getTerminator()->getOperands())) {
    r.setType(v.getType());
    a.known[r] = SymbolicTensor(a.get(v));
  }
  return success();
}

LogicalResult ShapeRules::visit(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() || op->getNumResults() == 0)
    return success();
  if (op->getName().getStringRef() == "plan.dispatch")
    return dispatch(op);
  if (isa<IfOp, WhileOp>(op))
    return control(op);
  if (auto other = dyn_cast<InferShapesInterface>(op))
    return other.inferShapes(a);
  if (isa<GetWeightOp>(op)) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !type.hasStaticShape())
      return op->emitOpError() << "needs a static tensor type";
    a.known.erase(op->getResult(0));
    a.get(op->getResult(0));
    return success();
  }
  if (auto r = dyn_cast<ReadStateOp>(op)) {
    auto state = SymbolTable::lookupNearestSymbolFrom<StateOp>(op, r.getStateAttr());
    auto type = cast<RankedTensorType>(state.getType());
    Dims d;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      std::optional<DimExpr> e;
      if (!type.isDynamicDim(i))
        e = DimExpr(type.getDimSize(i));
      else if (state.getDims())
        e = DimExpr::parse(cast<StringAttr>((*state.getDims())[i]).getValue());
      if (!e)
        return op->emitOpError() << "reads a state whose size " << i << " is dynamic and has no name";
      d.push_back(*e);
    }
    return set(op->getResult(0), d);
  }
  if (auto z = dyn_cast<SizesOp>(op)) {
    Dims d;
    for (int64_t n : cast<RankedTensorType>(op->getResult(0).getType()).getShape())
      d.push_back(DimExpr(n));
    Elements e;
    e.emplace();
    for (Attribute t : z.getElements())
      e->push_back(DimExpr::parse(cast<StringAttr>(t).getValue()).value_or(DimExpr(0)));
    return set(op->getResult(0), d, e);
  }
  if (isa<ConstantOp, ReshapeOp, ExpandDimsOp, SqueezeOp, ExpandOp, TransposeOp, SliceOp, ConcatOp, PadOp,
          GatherOp, GatherElementsOp, GatherNdOp, ScatterElementsOp, ScatterNdOp, ShapeOp, RangeOp>(op))
    return movement(op);
  if (isa<ReduceOp, ArgReduceOp, CumulativeOp, TopKOp, NonZeroOp, UniqueOp, ResizeOp>(op))
    return reductions(op);
  if (auto m = dyn_cast<MatmulOp>(op))
    return matmul(m);
  if (isa<PoolOp, ConvOp, ConvTransposeOp>(op))
    return windows(op);
  if (isa<DecomposeInterface>(op))
    return composites(op);
  if (op->getDialect() && op->getDialect()->getNamespace() == "graph")
    return elementwise(op);
  return op->emitOpError() << "has no shape rule";
}

} // namespace quaver::graph
