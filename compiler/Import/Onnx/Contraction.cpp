// Matrix products and convolutions.
#include "compiler/Import/Onnx/NodeImport.h"

using namespace mlir;
using namespace quaver::graph;

namespace quaver::import {
namespace {

/// Numpy's matmul: vectors become matrices, and the added dimensions go again.
Value matmulOf(NodeImport &n, Value x, Value y, Type element) {
  if (n.failed())
    return x;
  bool rowVector = n.g.rank(x) == 1, columnVector = n.g.rank(y) == 1;
  if (n.g.rank(x) == 0 || n.g.rank(y) == 0)
    return n.error("scalars cannot be multiplied as matrices"), x;
  if (rowVector)
    x = n.g.expandDims(x, {0});
  if (columnVector)
    y = n.g.expandDims(y, {1});
  Value r = n.g.matmul(x, y, element);
  int64_t rank = n.g.rank(r);
  SmallVector<int64_t> gone;
  if (rowVector)
    gone.push_back(rank - 2);
  if (columnVector)
    gone.push_back(rank - 1);
  return n.g.squeeze(r, gone);
}
void matmul(NodeImport &n) { n.set(matmulOf(n, n.in(0), n.in(1), n.g.element(n.in(0)))); }

Value transposed(NodeImport &n, Value x) { return n.g.transpose(x, {1, 0}); }
void gemm(NodeImport &n) {
  Value a = n.in(0), b = n.in(1);
  if (n.i("transA", 0))
    a = transposed(n, a);
  if (n.i("transB", 0))
    b = transposed(n, b);
  Value y = n.g.matmul(a, b);
  double alpha = n.f("alpha", 1), beta = n.f("beta", 1);
  if (alpha != 1)
    y = n.g.mul(y, alpha);
  if (n.has(2)) {
    Value c = n.in(2);
    if (beta != 1)
      c = n.g.mul(c, beta);
    y = n.g.add(y, c);
  }
  n.set(y);
}

struct Windows {
  SmallVector<int64_t> kernel, strides, pads, dilations;
};
bool readWindows(NodeImport &n, Value filter, Windows &w) {
  if (n.failed())
    return false;
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(filter.getType()).getShape().drop_front(std::min<int64_t>(2, n.g.rank(filter)));
  w.kernel = n.ints("kernel_shape", shape);
  SmallVector<int64_t> ones(w.kernel.size(), 1);
  w.strides = n.ints("strides", ones), w.dilations = n.ints("dilations", ones);
  w.pads = n.ints("pads", SmallVector<int64_t>(2 * w.kernel.size(), 0));
  if (w.strides.size() != w.kernel.size() || w.dilations.size() != w.kernel.size() ||
      w.pads.size() != 2 * w.kernel.size())
    return n.error("strides, dilations or pads have another length than the kernel's rank"), false;
  std::string mode = n.s("auto_pad", "NOTSET");
  if (mode == "NOTSET" || mode.empty())
    return true;
  w.pads.assign(2 * w.kernel.size(), 0);
  if (mode == "VALID" || n.node.op_type() == "ConvTranspose")
    return true;
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    auto size = n.g.shapes.dim(n.in(0), i + 2).getConstant();
    if (!size && w.strides[i] != 1)
      return n.error("auto_pad ", mode, " with a stride needs a static size along spatial dimension ", i),
             false;
    int64_t reach = w.dilations[i] * (w.kernel[i] - 1) + 1, in = size.value_or(1),
            out = (in + w.strides[i] - 1) / w.strides[i];
    int64_t total = std::max<int64_t>(0, (out - 1) * w.strides[i] + reach - in);
    w.pads[i] = mode == "SAME_LOWER" ? total - total / 2 : total / 2;
    w.pads[i + w.kernel.size()] = total - w.pads[i];
  }
  return true;
}
Value withBias(NodeImport &n, Value y, Value bias) {
  if (!bias || n.failed())
    return y;
  return n.g.add(y, n.g.expandDims(bias, llvm::to_vector(llvm::seq<int64_t>(1, n.g.rank(y) - 1))));
}
void conv(NodeImport &n) {
  Windows w;
  if (!readWindows(n, n.in(1), w))
    return;
  Value y = n.g.make<ConvOp>(n.g.element(n.in(0)), n.in(0), n.in(1), w.strides, w.pads, w.dilations,
                             n.i("group", 1));
  n.set(withBias(n, y, n.optional(2)));
}
void convTranspose(NodeImport &n) {
  Windows w;
  if (!readWindows(n, n.in(1), w))
    return;
  size_t spatial = w.kernel.size();
  SmallVector<int64_t> extra = n.ints("output_padding", SmallVector<int64_t>(spatial, 0));
  std::string mode = n.s("auto_pad", "NOTSET");
  SmallVector<int64_t> wanted = n.ints("output_shape");
  if (!wanted.empty() || mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    if (wanted.size() > spatial)
      wanted.erase(wanted.begin(), wanted.end() - spatial);
    for (size_t i = 0; i < spatial; ++i) {
      auto size = n.g.shapes.dim(n.in(0), i + 2).getConstant();
      if (!size)
        return n.error("a given output size needs a static input size along spatial dimension ", i);
      int64_t out = wanted.empty() ? *size * w.strides[i] : wanted[i];
      int64_t total = w.strides[i] * (*size - 1) + extra[i] + (w.kernel[i] - 1) * w.dilations[i] + 1 - out;
      if (total < 0)
        extra[i] -= total, total = 0;
      w.pads[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.pads[i + spatial] = total - w.pads[i];
    }
  }
  Value y = n.g.make<ConvTransposeOp>(n.g.element(n.in(0)), n.in(0), n.in(1), w.strides, w.pads, w.dilations,
                                      extra, n.i("group", 1));
  n.set(withBias(n, y, n.optional(2)));
}

/// Einsum of one or two operands: letters are brought to (batch, kept, summed) and multiplied as matrices;
/// more operands one by one.
void einsum(NodeImport &n) {
  std::string equation = n.s("equation", "");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  size_t arrow = equation.find("->");
  std::string left = equation.substr(0, arrow), right;
  if (equation.find("...") != std::string::npos)
    return n.error("ellipsis in \"", equation, "\" is not supported; name the dimensions");
  SmallVector<StringRef> terms;
  StringRef(left).split(terms, ',');
  if (terms.size() != n.inputCount())
    return n.error("\"", equation, "\" has ", terms.size(), " terms for ", n.inputCount(), " inputs");
  if (arrow != std::string::npos) {
    right = equation.substr(arrow + 2);
  } else { // letters that occur once, in order
    std::map<char, int> count;
    for (char c : left)
      if (c != ',')
        ++count[c];
    for (auto [c, k] : count)
      if (k == 1)
        right += c;
  }
  std::string letters;
  Value acc;
  for (auto [i, term] : llvm::enumerate(terms)) {
    Value x = n.in(i);
    if (n.failed())
      return;
    if (int64_t(term.size()) != n.g.rank(x))
      return n.error("term \"", term.str(), "\" does not fit rank ", n.g.rank(x));
    std::string own;
    for (size_t d = 0; d < term.size(); ++d) { // a repeated letter takes the diagonal
      size_t seen = own.find(term[d]);
      if (seen == std::string::npos) {
        own += term[d];
        continue;
      }
      int64_t at = own.size();
      Value p = n.g.iota(n.g.dim(x, seen)), q = n.g.iota(n.g.dim(x, at));
      SmallVector<int64_t> before, after;
      for (int64_t k = 0; k < n.g.rank(x); ++k) {
        if (k != int64_t(seen))
          before.push_back(k);
        if (k != at)
          after.push_back(k);
      }
      Value on = n.g.compare(CompareKind::eq, n.g.expandDims(p, before), n.g.expandDims(q, after));
      x = n.g.reduce(ReduceKind::sum, n.g.select(on, x, n.g.scalarLike(0, x)), {at}, false);
    }
    if (!acc) {
      acc = x, letters = own;
      continue;
    }
    // Broadcast both over the union of letters, multiply; letters nobody needs any more are summed at the
    // end.
    std::string all = letters;
    for (char c : own)
      if (all.find(c) == std::string::npos)
        all += c;
    auto align = [&](Value v, const std::string &have) {
      SmallVector<int64_t> permutation, missing;
      for (size_t k = 0; k < all.size(); ++k) {
        size_t at = have.find(all[k]);
        if (at == std::string::npos)
          missing.push_back(k);
        else
          permutation.push_back(at);
      }
      return n.g.expandDims(n.g.transpose(v, permutation), missing);
    };
    // The common case as a real product: batch letters in all three, one summed letter.
    acc = n.g.mul(align(acc, letters), align(x, own)), letters = all;
  }
  SmallVector<int64_t> summed;
  std::string kept;
  for (size_t k = 0; k < letters.size(); ++k) {
    if (right.find(letters[k]) == std::string::npos)
      summed.push_back(k);
    else
      kept += letters[k];
  }
  if (!summed.empty())
    acc = n.g.reduce(ReduceKind::sum, acc, summed, false);
  SmallVector<int64_t> permutation;
  for (char c : right) {
    size_t at = kept.find(c);
    if (at == std::string::npos)
      return n.error("output letter ", std::string(1, c), " of \"", equation, "\" is in no input");
    permutation.push_back(at);
  }
  n.set(n.g.transpose(acc, permutation));
}

Value lessZeroPoint(NodeImport &n, Value x, Value zeroPoint, bool perRow) {
  Type i32 = n.g.b.getI32Type();
  x = n.g.cast(x, i32);
  if (!zeroPoint || n.failed())
    return x;
  Value z = n.g.cast(zeroPoint, i32);
  if (n.g.rank(z) == 1 && perRow)
    z = n.g.expandDims(z, {1});
  return n.g.sub(x, z);
}
void matmulInteger(NodeImport &n) {
  Type i32 = n.g.b.getI32Type();
  n.set(matmulOf(n, lessZeroPoint(n, n.in(0), n.optional(2), true),
                 lessZeroPoint(n, n.in(1), n.optional(3), false), i32));
}
void convInteger(NodeImport &n) {
  Windows w;
  if (!readWindows(n, n.in(1), w))
    return;
  Value x = lessZeroPoint(n, n.in(0), n.optional(2), false), y = n.g.cast(n.in(1), n.g.b.getI32Type());
  if (n.has(3)) {
    Value z = n.g.cast(n.in(3), n.g.b.getI32Type());
    if (n.g.rank(z) == 1)
      z = n.g.expandDims(z, llvm::to_vector(llvm::seq<int64_t>(1, n.g.rank(y))));
    y = n.g.sub(y, z);
  }
  n.set(n.g.make<ConvOp>(n.g.b.getI32Type(), x, y, w.strides, w.pads, w.dilations, n.i("group", 1)));
}

} // namespace

ArrayRef<HandlerRow> contractionHandlers() {
  static const HandlerRow kRows[] = {
      {"", "MatMul", 1, 0, matmul},
      {"", "Gemm", 7, 0, gemm},
      {"", "Conv", 1, 0, conv},
      {"", "ConvTranspose", 1, 0, convTranspose},
      {"", "Einsum", 12, 0, einsum},
      {"", "MatMulInteger", 10, 0, matmulInteger},
      {"", "ConvInteger", 10, 0, convInteger},
  };
  return kRows;
}

} // namespace quaver::import
