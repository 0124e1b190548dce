// Blocks of a tensor that share a scale.
#pragma once
#include "compiler/Interpreter/Eval.h"

namespace quaver::interpreter {

/// Which scale belongs to which element: one block size a dimension, 0 for the whole of it.
struct Blocks {
  Blocks(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> blocks) : shape(shape), blocks(blocks) {
    for (auto [size, block] : llvm::zip(shape, blocks))
      counts.push_back(block == 0 ? 1 : (size + block - 1) / block);
    strides = stridesOf(counts);
  }
  /// Index of a coordinate's scale along one dimension, in elements of the scales.
  int64_t along(int64_t d, int64_t i) const { return blocks[d] == 0 ? 0 : i / blocks[d] * strides[d]; }
  /// body(first element of a row, its scale without the last dimension, length)
  template <class Body> void forEachRow(Body body) const {
    if (countOf(shape) == 0)
      return;
    int64_t rank = shape.size(), length = rank ? shape.back() : 1, rows = countOf(shape) / length;
    for (int64_t row = 0; row < rows; ++row) {
      int64_t scale = 0, rest = row;
      for (int64_t d = rank - 2; d >= 0; --d) {
        scale += along(d, rest % shape[d]);
        rest /= shape[d];
      }
      body(row * length, scale, length);
    }
  }
  template <class Body> void forEach(Body body) const { // body(element, scale)
    int64_t last = int64_t(shape.size()) - 1;
    forEachRow([&](int64_t first, int64_t scale, int64_t length) {
      for (int64_t i = 0; i < length; ++i)
        body(first + i, scale + (last < 0 ? 0 : along(last, i)));
    });
  }

  Shape shape, blocks, counts;
  Strides strides;
};

} // namespace quaver::interpreter
