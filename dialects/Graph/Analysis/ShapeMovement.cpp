#include "dialects/Graph/Analysis/ShapeRules.h"

using namespace mlir;

namespace quaver::graph {

LogicalResult ShapeRules::reshape(ReshapeOp op) {
  Dims in = dims(op.getInput());
  SmallVector<DimExpr> want = a.elementsOrFresh(op.getShape());
  DimExpr total = a.numElements(op.getInput());
  auto mayBeSpecial = [](const DimExpr &e) { return StringRef(e.str()).contains("value_"); };
  // A size read from data may turn out to be -1 or 0: the sizes then say so by selection.
  auto copied = [&](size_t i) {
    const DimExpr &e = want[i];
    DimExpr own = i < in.size() ? in[i] : DimExpr(0);
    if (e == DimExpr(0))
      return op.getAllowZero() ? e : own;
    if (!mayBeSpecial(e) || op.getAllowZero())
      return e;
    return DimExpr::select(DimExpr::eq(e, DimExpr(0)), own, e);
  };
  auto left = [&](size_t without) {
    DimExpr product(1);
    for (size_t i = 0; i < want.size(); ++i)
      if (i != without)
        product = product * copied(i);
    if (product == DimExpr(0))
      return DimExpr(0);
    return DimExpr::floorDiv(
        total, StringRef(product.str()).contains("value_") ? DimExpr::max(product, DimExpr(1)) : product);
  };
  Dims out;
  for (size_t i = 0; i < want.size(); ++i) {
    if (want[i] == DimExpr(-1))
      out.push_back(left(i));
    else if (mayBeSpecial(want[i]))
      out.push_back(DimExpr::select(DimExpr::eq(want[i], DimExpr(-1)), left(i), copied(i)));
    else if (auto c = want[i].getConstant(); c && *c < -1)
      return op.emitOpError() << "reshapes to size " << *c << "; sizes are positive, 0 or -1";
    else if (want[i] == DimExpr(0) && !op.getAllowZero() && i >= in.size())
      return op.emitOpError() << "copies dimension " << i << ", but the input has rank " << in.size();
    else
      out.push_back(copied(i));
  }
  DimExpr product(1);
  for (const DimExpr &d : out)
    product = product * d;
  if (product.isConstant() && total.isConstant() && product != total)
    return op.emitOpError() << "reshapes " << total.str() << " elements to " << product.str();
  return set(op.getResult(), out, a.get(op.getInput()).elements);
}

LogicalResult ShapeRules::expand(ExpandOp op) {
  Dims in = dims(op.getInput()), out;
  SmallVector<DimExpr> want = a.elementsOrFresh(op.getShape());
  size_t rank = std::max(in.size(), want.size());
  for (size_t i = 0; i < rank; ++i) {
    DimExpr x = i + in.size() < rank ? DimExpr(1) : in[i + in.size() - rank];
    DimExpr y = i + want.size() < rank ? DimExpr(1) : want[i + want.size() - rank];
    if (x != DimExpr(1) && StringRef(y.str()).contains("value_")) {
      out.push_back(
          DimExpr::select(DimExpr::eq(y, DimExpr(1)), x, y)); // 1 in the shape keeps the input's size
      continue;
    }
    auto b = a.broadcast(x, y);
    if (!b)
      return op.emitOpError() << "cannot expand size " << x.str() << " to " << y.str();
    out.push_back(*b);
  }
  Elements elements;
  if (auto &e = a.get(op.getInput()).elements; e && e->size() == 1)
    if (auto n = smallCount(out))
      elements.emplace(*n, (*e)[0]);
  if (auto &e = a.get(op.getInput()).elements; e && out.size() == in.size() && out == in)
    elements = e;
  return set(op.getResult(), out, elements);
}

LogicalResult ShapeRules::slice(SliceOp op) {
  SymbolicTensor in = a.get(op.getInput());
  SmallVector<DimExpr> starts = a.elementsOrFresh(op.getStarts()), ends = a.elementsOrFresh(op.getEnds()),
                       steps = a.elementsOrFresh(op.getSteps());
  if (starts.size() != op.getAxes().size() || ends.size() != starts.size() || steps.size() != starts.size())
    return op.emitOpError() << "has " << op.getAxes().size() << " axes, but " << starts.size() << " starts, "
                            << ends.size() << " ends and " << steps.size() << " steps";
  Dims out = in.dims;
  Elements elements;
  for (auto [i, axis] : llvm::enumerate(op.getAxes())) {
    if (axis < 0 || axis >= int64_t(out.size()))
      return op.emitOpError() << "slices axis " << axis << " of a tensor of rank " << out.size();
    if (steps[i] == DimExpr(0))
      return op.emitOpError() << "has step 0 along axis " << axis;
    SliceRange r = sliceRange(in.dims[axis], starts[i], ends[i], steps[i]);
    out[axis] = r.size;
    auto first = r.first.getConstant(), size = r.size.getConstant(), step = r.step.getConstant();
    if (in.elements && in.dims.size() == 1 && first && size && step) {
      elements.emplace();
      for (int64_t k = 0; k < *size; ++k)
        elements->push_back((*in.elements)[*first + k * *step]);
    }
  }
  if (in.elements && op.getAxes().empty())
    elements = in.elements;
  return set(op.getResult(), out, elements);
}

LogicalResult ShapeRules::concat(ConcatOp op) {
  if (op.getInputs().empty())
    return op.emitOpError() << "needs at least one input";
  Dims out = dims(op.getInputs()[0]);
  int64_t axis = op.getAxis();
  if (axis < 0 || axis >= int64_t(out.size()))
    return op.emitOpError() << "joins along axis " << axis << ", but the inputs have rank " << out.size();
  bool isVector = out.size() == 1;
  Elements elements;
  if (isVector)
    elements.emplace();
  DimExpr sum;
  for (Value v : op.getInputs()) {
    SymbolicTensor t = a.get(v);
    if (t.dims.size() != out.size())
      return op.emitOpError() << "joins tensors of ranks " << out.size() << " and " << t.dims.size();
    for (size_t d = 0; d < out.size(); ++d)
      if (int64_t(d) != axis && failed(equal(op, out[d], t.dims[d], "sizes beside the axis")))
        return failure();
    sum = sum + t.dims[axis];
    // A part whose elements are unknown still joins known ones: each unknown gets a symbol of its own, if
    // anyone asks.
    if (elements && t.elements)
      elements->append(t.elements->begin(), t.elements->end());
    else if (elements && isa<IntegerType>(getElementTypeOrSelf(v.getType())) && smallCount(t.dims) &&
             op.getInputs().size() > 1 && op->getNumResults() == 1 &&
             llvm::all_of(op->getUsers(), [](Operation *u) { return isa<ReshapeOp, ExpandOp>(u); }))
      elements->append(a.elementsOrFresh(v));
    else
      elements.reset();
  }
  out[axis] = sum;
  return set(op.getResult(), out, elements);
}

LogicalResult ShapeRules::gather(GatherOp op) {
  SymbolicTensor data = a.get(op.getData()), indices = a.get(op.getIndices());
  int64_t axis = op.getAxis();
  if (axis < 0 || axis >= int64_t(data.dims.size()))
    return op.emitOpError() << "gathers along axis " << axis << " of a tensor of rank " << data.dims.size();
  Dims out(data.dims.begin(), data.dims.begin() + axis);
  out.append(indices.dims.begin(), indices.dims.end());
  out.append(data.dims.begin() + axis + 1, data.dims.end());
  Elements elements;
  if (data.elements && data.dims.size() == 1 && indices.elements) {
    elements.emplace();
    int64_t n = data.elements->size();
    for (const DimExpr &i : *indices.elements) {
      auto c = i.getConstant();
      if (!c || *c < -n || *c >= n) {
        elements.reset();
        break;
      }
      elements->push_back((*data.elements)[*c < 0 ? *c + n : *c]);
    }
  }
  return set(op.getResult(), out, elements);
}

LogicalResult ShapeRules::gatherNd(GatherNdOp op) {
  Dims data = dims(op.getData()), indices = dims(op.getIndices());
  int64_t batch = op.getBatchDims();
  if (indices.empty())
    return op.emitOpError() << "needs indices of rank 1 or more";
  auto depth = indices.back().getConstant();
  if (!depth)
    return op.emitOpError() << "needs indices whose last size is known, but it is " << indices.back().str();
  if (batch < 0 || batch >= int64_t(indices.size()) || *depth < 0 || batch + *depth > int64_t(data.size()))
    return op.emitOpError() << "takes " << *depth << " coordinates after " << batch
                            << " batch dimensions of data of rank " << data.size();
  for (int64_t d = 0; d < batch; ++d)
    if (failed(equal(op, data[d], indices[d], "batch sizes")))
      return failure();
  Dims out(indices.begin(), indices.end() - 1);
  out.append(data.begin() + batch + *depth, data.end());
  return set(op.getResult(), out);
}

static std::optional<double> scalarFloat(Value v) {
  auto c = v.getDefiningOp<ConstantOp>();
  auto dense = c ? dyn_cast<DenseFPElementsAttr>(c.getValue()) : DenseFPElementsAttr();
  if (!dense || dense.getNumElements() != 1)
    return std::nullopt;
  APFloat f = *dense.value_begin<APFloat>();
  bool lost;
  f.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return f.convertToDouble();
}

LogicalResult ShapeRules::range(RangeOp op) {
  if (isa<FloatType>(getElementTypeOrSelf(op.getStart().getType()))) {
    auto start = scalarFloat(op.getStart()), limit = scalarFloat(op.getLimit()),
         delta = scalarFloat(op.getDelta());
    if (!start || !limit || !delta || *delta == 0)
      return op.emitOpError() << "has float bounds that depend on data; only constant ones give a size "
                                 "before the run: use integers";
    return set(op.getResult(),
               {DimExpr(std::max<int64_t>(0, int64_t(std::ceil((*limit - *start) / *delta))))});
  }
  DimExpr start = a.elementsOrFresh(op.getStart())[0], limit = a.elementsOrFresh(op.getLimit())[0],
          delta = a.elementsOrFresh(op.getDelta())[0];
  DimExpr count = DimExpr::max(DimExpr::ceilDiv(limit - start, delta), DimExpr(0));
  Elements elements;
  if (auto n = smallCount({count})) {
    elements.emplace();
    for (int64_t i = 0; i < *n; ++i)
      elements->push_back(start + DimExpr(i) * delta);
  }
  return set(op.getResult(), {count}, elements);
}

LogicalResult ShapeRules::transpose(TransposeOp op) {
  Dims in = dims(op.getInput()), out;
  if (op.getPermutation().size() != in.size())
    return op.emitOpError() << "permutes " << op.getPermutation().size() << " dimensions of a tensor of rank "
                            << in.size();
  SmallVector<bool> seen(in.size());
  for (int64_t p : op.getPermutation()) {
    if (p < 0 || p >= int64_t(in.size()) || seen[p])
      return op.emitOpError() << "needs a permutation of 0.." << in.size() - 1;
    seen[p] = true;
    out.push_back(in[p]);
  }
  return set(op.getResult(), out, in.size() <= 1 ? a.get(op.getInput()).elements : Elements());
}

LogicalResult ShapeRules::movement(Operation *op) {
  if (auto r = dyn_cast<ReshapeOp>(op))
    return reshape(r);
  if (auto e = dyn_cast<ExpandOp>(op))
    return expand(e);
  if (auto s = dyn_cast<SliceOp>(op))
    return slice(s);
  if (auto c = dyn_cast<ConcatOp>(op))
    return concat(c);
  if (auto g = dyn_cast<GatherOp>(op))
    return gather(g);
  if (auto g = dyn_cast<GatherNdOp>(op))
    return gatherNd(g);
  if (auto r = dyn_cast<RangeOp>(op))
    return range(r);
  if (auto t = dyn_cast<TransposeOp>(op))
    return transpose(t);
  if (auto c = dyn_cast<ConstantOp>(op))
    return constant(c);
  SymbolicTensor in = a.get(op->getOperand(0));
  int64_t rank = in.dims.size();
  if (auto e = dyn_cast<ExpandDimsOp>(op)) {
    Dims out = in.dims;
    for (int64_t axis : e.getAxes()) {
      if (axis < 0 || axis > int64_t(out.size()))
        return op->emitOpError() << "inserts a dimension at " << axis << " of rank " << out.size();
      out.insert(out.begin() + axis, DimExpr(1));
    }
    return set(op->getResult(0), out, in.elements);
  }
  if (auto s = dyn_cast<SqueezeOp>(op)) {
    Dims out;
    for (int64_t axis : s.getAxes())
      if (axis < 0 || axis >= rank)
        return op->emitOpError() << "removes dimension " << axis << " of a tensor of rank " << rank;
    for (int64_t d = 0; d < rank; ++d) {
      if (!llvm::is_contained(s.getAxes(), d))
        out.push_back(in.dims[d]);
      else if (failed(equal(op, in.dims[d], DimExpr(1), "a squeezed size and 1")))
        return failure();
    }
    return set(op->getResult(0), out, in.elements);
  }
  if (auto p = dyn_cast<PadOp>(op)) {
    SmallVector<DimExpr> pads = a.elementsOrFresh(p.getPads());
    if (pads.size() != 2 * p.getAxes().size())
      return op->emitOpError() << "has " << p.getAxes().size() << " axes, but " << pads.size() << " pads";
    Dims out = in.dims;
    for (auto [i, axis] : llvm::enumerate(p.getAxes())) {
      if (axis < 0 || axis >= rank)
        return op->emitOpError() << "pads axis " << axis << " of a tensor of rank " << rank;
      out[axis] = DimExpr::max(in.dims[axis] + pads[i] + pads[i + p.getAxes().size()], DimExpr(0));
    }
    return set(op->getResult(0), out);
  }
  if (auto s = dyn_cast<ShapeOp>(op)) {
    if (s.getStart() < 0 || s.getEnd() < s.getStart() || int64_t(s.getEnd()) > rank)
      return op->emitOpError() << "asks for sizes [" << s.getStart() << ", " << s.getEnd()
                               << ") of a tensor of rank " << rank;
    Elements e;
    e.emplace(in.dims.begin() + s.getStart(), in.dims.begin() + s.getEnd());
    return set(op->getResult(0), {DimExpr(int64_t(s.getEnd() - s.getStart()))}, e);
  }
  if (isa<GatherElementsOp>(op))
    return set(op->getResult(0), dims(op->getOperand(1)));
  return set(op->getResult(0), in.dims); // scatter_elements, scatter_nd
}

} // namespace quaver::graph
