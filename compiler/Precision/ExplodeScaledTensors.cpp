// Scaled tensors become pairs of plain ones: see Passes.td.
#include "compiler/Precision/Passes.h"
#include "compiler/Precision/Values.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace quaver::precision {
#define GEN_PASS_DEF_EXPLODESCALEDTENSORSPASS
#include "compiler/Precision/Passes.h.inc"

namespace {

struct Pair {
  Value codes, scales;
};

struct ExplodeScaledTensors : impl::ExplodeScaledTensorsPassBase<ExplodeScaledTensors> {
  using Base::Base;

  void runOnOperation() override {
    pairs.clear();
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<scale::ScaleDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(explode(op)))
        return signalPassFailure();
    for (Operation *op : llvm::reverse(ops))
      op->erase();
  }

  FailureOr<Pair> pairOf(Operation *user, Value v) {
    auto it = pairs.find(v);
    if (it != pairs.end())
      return it->second;
    return user->emitOpError() << "reads a scaled tensor that no op of this function makes", failure();
  }

  static Value ints(OpBuilder &b, Location loc, ArrayRef<int64_t> values) {
    auto type = RankedTensorType::get({int64_t(values.size())}, b.getI64Type());
    return graph::ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, values));
  }

  // A float operand as it is, a scaled one as the f32 product of codes and scales.
  FailureOr<Value> floats(OpBuilder &b, Operation *user, Value v) {
    auto type = dyn_cast<scale::ScaledTensorType>(v.getType());
    if (!type)
      return v;
    auto pair = pairOf(user, v);
    if (failed(pair))
      return failure();
    return dequantize(b, user->getLoc(), *pair, type, b.getF32Type());
  }
  static Value dequantize(OpBuilder &b, Location loc, Pair pair, scale::ScaledTensorType type, Type element) {
    return graph::DequantizeOp::create(b, loc, RankedTensorType::get(type.getShape(), element), pair.codes,
                                       pair.scales, Value(), 0, 0, type.getBlocks());
  }

  LogicalResult explode(Operation *op) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](scale::QuantizeOp q) {
          scale::ScaledTensorType type = q.getType();
          auto made = graph::DynamicQuantizeOp::create(b, loc, type.getCodesType(), type.getScalesType(),
                                                       q.getInput(), type.getBlocks(), q.getRounding());
          pairs[q.getResult()] = {made.getCodes(), made.getScales()};
          return success();
        })
        .Case([&](scale::PackOp p) {
          pairs[p.getResult()] = {p.getCodes(), p.getScales()};
          return success();
        })
        .Case([&](scale::UnpackOp u) {
          auto pair = pairOf(op, u.getInput());
          if (failed(pair))
            return failure();
          u.getCodes().replaceAllUsesWith(pair->codes);
          u.getScales().replaceAllUsesWith(pair->scales);
          return success();
        })
        .Case([&](scale::DequantizeOp d) {
          auto pair = pairOf(op, d.getInput());
          if (failed(pair))
            return failure();
          d.getResult().replaceAllUsesWith(
              dequantize(b, loc, *pair, d.getInput().getType(), elementOf(d.getResult())));
          return success();
        })
        .Case([&](scale::MatmulOp m) {
          auto l = floats(b, op, m.getLhs()), r = floats(b, op, m.getRhs());
          if (failed(l) || failed(r))
            return failure();
          return replaceProduct(op, graph::MatmulOp::create(b, loc, m.getType(), *l, *r), m.getPrecision(),
                                m.getReasonAttr());
        })
        .Case([&](scale::ConvOp c) {
          auto l = floats(b, op, c.getInput()), r = floats(b, op, c.getFilter());
          if (failed(l) || failed(r))
            return failure();
          return replaceProduct(op,
                                graph::ConvOp::create(b, loc, c.getType(), *l, *r, c.getStrides(),
                                                      c.getPads(), c.getDilations(), c.getGroups()),
                                c.getPrecision(), c.getReasonAttr());
        })
        .Case([&](scale::TransposeOp t) {
          auto pair = pairOf(op, t.getInput());
          if (failed(pair))
            return failure();
          scale::ScaledTensorType type = t.getType();
          pairs[t.getResult()] = {
              graph::TransposeOp::create(b, loc, type.getCodesType(), pair->codes, t.getPermutation()),
              graph::TransposeOp::create(b, loc, type.getScalesType(), pair->scales, t.getPermutation())};
          return success();
        })
        .Case([&](scale::ReshapeOp r) { return reshape(r, b); })
        .Case([&](scale::SliceOp s) { return slice(s, b); })
        .Default([](Operation *o) { return o->emitOpError() << "cannot be exploded"; });
  }

  static LogicalResult replaceProduct(Operation *op, Operation *product, scale::PrecisionAttr precision,
                                      StringAttr reason) {
    product->setAttr(kPrecision, precision);
    if (reason)
      product->setAttr(kReason, reason);
    op->getResult(0).replaceAllUsesWith(product->getResult(0));
    return success();
  }

  // Leading sizes as for the codes, then the counts of blocks.
  LogicalResult reshape(scale::ReshapeOp r, OpBuilder &b) {
    auto pair = pairOf(r, r.getInput());
    if (failed(pair))
      return failure();
    scale::ScaledTensorType type = r.getType();
    RankedTensorType scales = type.getScalesType();
    int64_t lead = 0, rank = type.getRank();
    while (lead < rank && type.getBlocks()[lead] == 1)
      ++lead;
    Location loc = r.getLoc();
    auto leading = RankedTensorType::get({lead}, b.getI64Type());
    Value first = graph::SliceOp::create(b, loc, leading, r.getShape(), ints(b, loc, {0}),
                                         ints(b, loc, {lead}), ints(b, loc, {1}), ArrayRef<int64_t>{0});
    Value shape = first;
    if (lead < rank)
      shape = graph::ConcatOp::create(b, loc, r.getShape().getType(),
                                      ValueRange{first, ints(b, loc, scales.getShape().drop_front(lead))}, 0);
    pairs[r.getResult()] = {
        graph::ReshapeOp::create(b, loc, type.getCodesType(), pair->codes, r.getShape(), false),
        graph::ReshapeOp::create(b, loc, scales, pair->scales, shape, false)};
    return success();
  }

  LogicalResult slice(scale::SliceOp s, OpBuilder &b) {
    auto pair = pairOf(s, s.getInput());
    if (failed(pair))
      return failure();
    scale::ScaledTensorType type = s.getType();
    Location loc = s.getLoc();
    SmallVector<int64_t> axes, starts, ends, scaleStarts, scaleEnds, steps(type.getRank(), 1);
    for (int64_t d = 0; d < type.getRank(); ++d) {
      int64_t offset = s.getOffsets()[d], size = s.getSizes()[d], block = type.getBlocks()[d];
      bool isWhole = block == scale::ScaledTensorType::kWhole;
      axes.push_back(d);
      starts.push_back(offset);
      ends.push_back(size < 0 ? INT64_MAX : offset + size);
      scaleStarts.push_back(isWhole ? 0 : offset / block);
      scaleEnds.push_back(isWhole || size < 0 ? INT64_MAX : int64_t(llvm::divideCeil(offset + size, block)));
    }
    auto cut = [&](Value v, RankedTensorType to, ArrayRef<int64_t> from, ArrayRef<int64_t> until) -> Value {
      return graph::SliceOp::create(b, loc, to, v, ints(b, loc, from), ints(b, loc, until),
                                    ints(b, loc, steps), axes);
    };
    pairs[s.getResult()] = {cut(pair->codes, type.getCodesType(), starts, ends),
                            cut(pair->scales, type.getScalesType(), scaleStarts, scaleEnds)};
    return success();
  }

  DenseMap<Value, Pair> pairs;
};

} // namespace
} // namespace quaver::precision
