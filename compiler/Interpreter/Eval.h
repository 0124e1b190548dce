// What the evaluation functions share: the op at hand, dispatch over element types, walks over strided rows.
#pragma once
#include "compiler/Interpreter/Interpreter.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include "llvm/ADT/STLExtras.h"

namespace quaver::interpreter {

/// One op being evaluated: operands in, results out.
struct Eval {
  mlir::Operation *op;
  llvm::ArrayRef<Tensor> in;
  Interpreter &interpreter;
  llvm::SmallVector<Tensor> out;

  mlir::InFlightDiagnostic error() { return op->emitOpError(); }
  ElementType resultType(unsigned i = 0) {
    return elementTypeOf(mlir::getElementTypeOrSelf(op->getResult(i).getType()));
  }
  mlir::LogicalResult give(Tensor t) { return out.push_back(std::move(t)), mlir::success(); }
  /// "[2x3xf32, 4xi64]", for messages.
  std::string operandTypes() const;
};
using EvalFn = mlir::LogicalResult (*)(Eval &);
using EvalTable = llvm::StringMap<EvalFn>;

void addElementwise(EvalTable &);
void addBinary(EvalTable &);
void addCasts(EvalTable &);
void addMovement(EvalTable &);
void addIndexing(EvalTable &);
void addReductions(EvalTable &);
void addSelections(EvalTable &);
void addWindows(EvalTable &);
void addResize(EvalTable &);
void addContractions(EvalTable &);
void addControl(EvalTable &);
void addQuantization(EvalTable &);

template <class Op> void add(EvalTable &table, EvalFn fn) { table[Op::getOperationName()] = fn; }

/// Calls f with a zero of the C++ type of `t`: doubles, floats, integers; f16 and bf16 come widened as float.
/// False for others.
template <class F> bool onNumber(ElementType t, F f) {
  switch (t) {
  case ElementType::F64:
    return f(double{}), true;
  case ElementType::F32:
    return f(float{}), true;
  case ElementType::I64:
    return f(int64_t{}), true;
  case ElementType::I32:
    return f(int32_t{}), true;
  case ElementType::I16:
    return f(int16_t{}), true;
  case ElementType::I8:
    return f(int8_t{}), true;
  case ElementType::U64:
    return f(uint64_t{}), true;
  case ElementType::U32:
    return f(uint32_t{}), true;
  case ElementType::U16:
    return f(uint16_t{}), true;
  case ElementType::U8:
    return f(uint8_t{}), true;
  default:
    return false;
  }
}
/// Calls f with an unsigned zero of the width, for code that only moves elements.
template <class F> void onWidth(int64_t bytes, F f) {
  switch (bytes) {
  case 1:
    return f(uint8_t{});
  case 2:
    return f(uint16_t{});
  case 4:
    return f(uint32_t{});
  default:
    return f(uint64_t{});
  }
}

using Strides = llvm::SmallVector<int64_t, 6>;
/// Row-major strides in elements.
Strides stridesOf(llvm::ArrayRef<int64_t> shape);
/// numpy's broadcast of all shapes; nullopt if they contradict each other.
std::optional<Shape> broadcastShapes(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);
/// Strides of `shape` read as `result`: 0 along stretched and missing dimensions.
Strides broadcastStrides(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> result);
/// Merges neighbouring dimensions that all operands walk as one.
void collapse(Shape &shape, llvm::MutableArrayRef<Strides> strides);

/// Calls row(first offsets, strides along the row, length) for every run along the last dimension of `shape`;
/// offsets[i] belongs to operand i of `strides`. Rank 0 is one row of one element.
template <unsigned N, class Row> void walkRows(Shape shape, std::array<Strides, N> strides, Row row) {
  if (countOf(shape) == 0)
    return;
  collapse(shape, strides);
  int64_t rank = shape.size();
  std::array<int64_t, N> offset{}, step{};
  if (rank == 0)
    return row(offset, step, int64_t(1));
  for (unsigned i = 0; i < N; ++i)
    step[i] = strides[i][rank - 1];
  Strides index(rank, 0);
  while (true) {
    row(offset, step, shape[rank - 1]);
    int64_t d = rank - 2;
    for (; d >= 0; --d) {
      for (unsigned i = 0; i < N; ++i)
        offset[i] += strides[i][d];
      if (++index[d] < shape[d])
        break;
      for (unsigned i = 0; i < N; ++i)
        offset[i] -= strides[i][d] * shape[d];
      index[d] = 0;
    }
    if (d < 0)
      return;
  }
}

/// out[i] = in[start + sum(i * strides)]: transposes, slices, broadcasts.
Tensor stridedCopy(const Tensor &in, int64_t start, llvm::ArrayRef<int64_t> strides,
                   llvm::ArrayRef<int64_t> shape);

/// graph.conv on operands of the element type that the sums have; gives the result of the op at hand.
mlir::LogicalResult convolve(Eval &e, Tensor x, Tensor w, llvm::ArrayRef<int64_t> strides,
                             llvm::ArrayRef<int64_t> pads, llvm::ArrayRef<int64_t> dilations, int64_t groups);

/// Splits at `axis`: elements before, along, after.
struct AxisView {
  AxisView(llvm::ArrayRef<int64_t> shape, int64_t axis)
      : outer(countOf(shape.take_front(axis))), size(shape[axis]),
        inner(countOf(shape.drop_front(axis + 1))) {}
  int64_t outer, size, inner;
};

} // namespace quaver::interpreter
