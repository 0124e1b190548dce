// The kernel's outer loops.
#include "compiler/Codegen/Common/Emitter.h"
#include "compiler/Codegen/Common/OpKinds.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace quaver::codegen {

static constexpr int64_t kGrainElements = 16384;

Emitter::Emitter(KernelFunction &k, graph::ShapeAnalysis &shapes, const Target &target)
    : k(k), shapes(shapes), target(target), b(k.b), loc(k.loc), math(b, loc), W(target.vectorBits / 32),
      step(k.lane() ? W * KernelFunction::kWarp : W) {}

void Emitter::emitRow(const Phase &p, Value from, Value to) {
  int64_t groups = p.groups.size();
  Dims d = groupDims(p);
  std::function<void(int64_t, Indices)> nest = [&](int64_t g, Indices per) {
    Indices idx = groupedIndex(p, per);
    for (unsigned r : p.results)
      demand(yielded(r), idx);
    for (unsigned r : p.rowResults) {
      if (g != p.rows)
        continue;
      const Dims &rd = dims(yielded(r));
      Indices at0(rd.size(), scalar(num(0)));
      int64_t kept = p.rows < groups ? p.groups[p.rows] : int64_t(idx.size());
      for (int64_t i = 0; i < kept; ++i)
        at0[i] = idx[i];
      storeResult(r, at0, at(yielded(r), at0));
    }
    if (g == groups) {
      for (unsigned r : p.results)
        storeResult(r, idx, at(yielded(r), idx));
      return;
    }
    if (g + 1 < groups) {
      loop(num(0), size(d[g]), num(1), {}, [&](Value i, ValueRange) {
        per[g] = scalar(i);
        nest(g + 1, per);
        return Values();
      });
      return;
    }
    ++stage;
    std::optional<int64_t> count = p.block ? std::nullopt : d.back().getConstant();
    lanes(from, to, count,
          p.cost > 60   ? 1
          : p.cost > 24 ? 2
                        : 4,
          {}, [&](Index i, ValueRange) {
            per[g] = i;
            Indices here = groupedIndex(p, per);
            for (unsigned r : p.results)
              storeResult(r, here, at(yielded(r), here));
            return Values();
          });
  };
  nest(p.rows, rowIndex.empty() ? Indices(groups) : rowIndex);
}

void Emitter::emitPhase(const Phase &p, Value first, Value last) {
  phase = &p;
  spills.clear();
  int64_t groups = p.groups.size();
  Dims d = groupDims(p);
  Value block = num(p.block);
  auto enter = [&](Indices per, Value from, Value to) {
    Indices full = groups ? groupedIndex(p, per) : Indices();
    rowIndex = per;
    rowLanes = full;
    emitRow(p, from, to);
  };
  if (p.block && p.rows == 0) {
    // An empty range of workgroups may stand behind the last element.
    Value to = arith(Arith::MinS, mul(last, block), size(d.back()));
    enter(Indices(groups), arith(Arith::MinS, mul(first, block), to), to);
    return;
  }
  loop(first, last, num(1), {}, [&](Value group, ValueRange) {
    Value row = group, from = num(0), to = groups ? size(d.back()) : num(0);
    if (p.block) {
      DimExpr blocks = DimExpr::ceilDiv(d.back(), DimExpr(p.block));
      row = quotient(scalar(group), blocks).base;
      from = mul(remainder(scalar(group), blocks).base, block);
      to = arith(Arith::MinS, add(from, block), to);
    }
    Indices per(groups);
    for (int64_t g = p.rows; g-- > 0;) {
      per[g] = g ? remainder(scalar(row), d[g]) : scalar(row);
      if (g)
        row = quotient(scalar(row), d[g]).base;
    }
    enter(per, from, to);
    return Values();
  });
}

LogicalResult Emitter::run(KernelFunction::Launch &launch) {
  llvm::ScopedHashTableScope<ExprKey, Value> scope(exprs);
  if (failed(formPhases()))
    return failure();
  DimExpr offset(0), elements(0);
  for (const Phase &p : phases) {
    Value first = k.begin(), last = k.end();
    if (phases.size() > 1) {
      auto clamp = [&](Value v) {
        return arith(Arith::MinS, arith(Arith::MaxS, sub(v, size(offset)), num(0)), size(p.workgroups));
      };
      first = clamp(first), last = clamp(last);
    }
    scoped([&] { emitPhase(p, first, last); });
    offset = offset + p.workgroups;
    Dims d = groupDims(p);
    DimExpr each = p.block ? DimExpr(p.block) : product(ArrayRef<DimExpr>(d).drop_front(p.rows));
    elements = DimExpr::max(elements, each * DimExpr(std::max<int64_t>(1, p.cost / 4)));
  }
  if (failedAt)
    return failure();
  launch.workgroups = offset;
  launch.grain = DimExpr::max(DimExpr(1),
                              DimExpr::floorDiv(DimExpr(kGrainElements), DimExpr::max(elements, DimExpr(1))));
  launch.scratchBytes = scratchBytes;
  launch.description = describe();
  return success();
}

LogicalResult emitGenericKernel(plan_ir::DispatchOp dispatch, graph::ShapeAnalysis &shapes,
                                const Target &target, ModuleOp kernels, StringRef symbol) {
  for (Operation &op : dispatch.getBody().front().without_terminator())
    if (auto why = whyNotGeneric(&op))
      return op.emitOpError() << "has no generic kernel: " << *why;
  KernelFunction k(dispatch, kernels, symbol, target.isGpu() ? Grid::WarpEach : Grid::HostRange);
  KernelFunction::Launch launch;
  Emitter emitter(k, shapes, target);
  if (failed(emitter.run(launch))) {
    k.abandon();
    return failure();
  }
  k.close(launch);
  return success();
}

} // namespace quaver::codegen
