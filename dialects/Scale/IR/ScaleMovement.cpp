// Verifiers of what moves codes and scales together: only on the borders of blocks. The labels are those of
// Spec.md.
#include "dialects/Scale/IR/ScaleDialect.h"

using namespace mlir;

namespace quaver::scale {

// M1: one format and one kind of scales throughout.
static LogicalResult keepsFormats(Operation *op, ScaledTensorType from, ScaledTensorType to) {
  return require(op, "M1",
                 from.getElementType() == to.getElementType() && from.getScaleType() == to.getScaleType(),
                 "input and result must have one element type and one type of scales");
}

LogicalResult TransposeOp::verify() {
  ScaledTensorType from = getInput().getType(), to = getResult().getType();
  ArrayRef<int64_t> p = getPermutation();
  SmallVector<bool> seen(from.getRank(), false);
  bool isPermutation = int64_t(p.size()) == from.getRank() && to.getRank() == from.getRank();
  for (int64_t i : p) {
    if (!isPermutation || i < 0 || i >= from.getRank() || seen[i]) {
      isPermutation = false;
      break;
    }
    seen[i] = true;
  }
  if (failed(keepsFormats(*this, from, to)) ||
      failed(require(*this, "M2", isPermutation, "permutation names every dimension once")))
    return failure();
  for (auto [i, d] : llvm::enumerate(p))
    if (failed(
            require(*this, "M2",
                    !differ(from.getShape()[d], to.getShape()[i]) && from.getBlocks()[d] == to.getBlocks()[i],
                    "sizes and blocks move together: the result's dimension " + Twine(i) +
                        " is the input's " + Twine(d))))
      return failure();
  return success();
}

LogicalResult ReshapeOp::verify() {
  ScaledTensorType from = getInput().getType(), to = getResult().getType();
  auto shape = dyn_cast<RankedTensorType>(getShape().getType());
  if (failed(keepsFormats(*this, from, to)) ||
      failed(require(*this, "M3",
                     shape && shape.getElementType().isInteger(64) && shape.getRank() == 1 &&
                         shape.getDimSize(0) == to.getRank(),
                     "shape is i64 [rank of the result]")))
    return failure();
  // Trailing dimensions from the first blocked one on are the same on both sides; before them blocks are 1.
  auto firstBlocked = [](ScaledTensorType t) {
    int64_t d = 0;
    while (d < t.getRank() && t.getBlocks()[d] == 1)
      ++d;
    return d;
  };
  int64_t a = firstBlocked(from), b = firstBlocked(to);
  bool same = from.getBlocks().drop_front(a) == to.getBlocks().drop_front(b);
  for (int64_t i = 0; same && a + i < from.getRank(); ++i)
    same = from.getShape()[a + i] == to.getShape()[b + i] && !ShapedType::isDynamic(from.getShape()[a + i]);
  return require(
      *this, "M3", same,
      "only leading dimensions of block 1 are reshaped, and blocked ones keep a static size: scales = " +
          from.getLayout() + " to " + to.getLayout());
}

LogicalResult SliceOp::verify() {
  ScaledTensorType from = getInput().getType(), to = getResult().getType();
  int64_t rank = from.getRank();
  if (failed(keepsFormats(*this, from, to)) ||
      failed(require(*this, "M4",
                     to.getRank() == rank && int64_t(getOffsets().size()) == rank &&
                         int64_t(getSizes().size()) == rank && from.getBlocks() == to.getBlocks(),
                     "the result has the input's rank and blocks, offsets and sizes are one a dimension")))
    return failure();
  for (int64_t d = 0; d < rank; ++d) {
    int64_t offset = getOffsets()[d], size = getSizes()[d], whole = from.getShape()[d],
            block = from.getBlocks()[d];
    if (failed(require(*this, "M5", block == ScaledTensorType::kWhole || offset % block == 0,
                       "offset " + Twine(offset) + " is not on a border of the blocks of " + Twine(block) +
                           " along dimension " + Twine(d))))
      return failure();
    bool known = !ShapedType::isDynamic(whole);
    int64_t expected = size >= 0 ? size : known ? whole - offset : ShapedType::kDynamic;
    if (failed(require(*this, "M4",
                       offset >= 0 && size >= -1 &&
                           (!known || (offset <= whole && (size < 0 || offset + size <= whole))) &&
                           !differ(expected, to.getShape()[d]),
                       "offset " + Twine(offset) + " and size " + Twine(size) + " do not lie in dimension " +
                           Twine(d))))
      return failure();
  }
  return success();
}

} // namespace quaver::scale
