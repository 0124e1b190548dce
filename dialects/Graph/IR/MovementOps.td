// Ops that move data and compute nothing. They accept every element type, FP8 too.
#ifndef QUAVER_GRAPH_MOVEMENT_TD
#define QUAVER_GRAPH_MOVEMENT_TD
include "GraphBase.td"

class Graph_MovementOp<string mnemonic, string text> : Graph_PureOp<mnemonic> {
  let summary = text;
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
}
def Graph_ReshapeOp : Graph_MovementOp<"reshape", "the same elements in row-major order under another shape"> {
  let description = [{
    `shape` is a 1-D i64 tensor of static length (the result's rank). -1 (at most once) is what is left; 0 copies the input's
    size at that position unless `allow_zero`.
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$shape, DefaultValuedAttr<BoolAttr, "false">:$allow_zero);
}
def Graph_ExpandDimsOp : Graph_MovementOp<"expand_dims", "inserts dimensions of size 1 at `axes` of the result"> {
  let description = "axes are ascending and non-negative.";
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$axes);
}
def Graph_SqueezeOp : Graph_MovementOp<"squeeze", "removes the dimensions `axes` of the input, all of size 1"> {
  let description = "axes are ascending and non-negative.";
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$axes);
}
def Graph_ExpandOp : Graph_MovementOp<"expand", "broadcasts input with `shape` as numpy does: both may stretch"> {
  let description = "shape is a 1-D i64 tensor of static length.";
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$shape);
}
def Graph_TransposeOp : Graph_MovementOp<"transpose", "result dimension i is input dimension permutation[i]"> {
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$permutation);
}
def Graph_SliceOp : Graph_MovementOp<"slice", "strided ranges along `axes`"> {
  let description = [{
    starts, ends, steps are 1-D i64 tensors as long as axes. Numpy's rules: negative starts and ends count from the end, both are
    clamped, a negative step walks backwards. Axes are non-negative and distinct.
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$starts, Graph_Tensor:$ends, Graph_Tensor:$steps,
                       DenseI64ArrayAttr:$axes);
}
def Graph_ConcatOp : Graph_MovementOp<"concat", "one after another along axis"> {
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$axis);
}
def Graph_PadOp : Graph_MovementOp<"pad", "elements before and after along `axes`"> {
  let description = [{
    pads is i64 [2 * axes]: all befores, then all afters; negative pads crop. `value` is a rank-0 tensor, read in constant mode.
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$pads, Graph_Tensor:$value, DenseI64ArrayAttr:$axes,
                       Graph_PadMode:$mode);
}
def Graph_GatherOp : Graph_MovementOp<"gather", "data[..., indices[i...], ...] along axis; negative indices count from the end"> {
  let arguments = (ins Graph_Tensor:$data, Graph_Tensor:$indices, I64Attr:$axis);
}
def Graph_GatherElementsOp : Graph_MovementOp<"gather_elements", "data[i with i[axis] replaced by indices[i]]"> {
  let arguments = (ins Graph_Tensor:$data, Graph_Tensor:$indices, I64Attr:$axis);
}
def Graph_GatherNdOp : Graph_MovementOp<"gather_nd", "indices' last dimension holds coordinates after batch_dims leading dimensions"> {
  let arguments = (ins Graph_Tensor:$data, Graph_Tensor:$indices, DefaultValuedAttr<I64Attr, "0">:$batch_dims);
}
def Graph_ScatterElementsOp : Graph_MovementOp<"scatter_elements",
    "data with updates[i] combined into position i with i[axis] replaced by indices[i], in row-major order of i"> {
  let arguments = (ins Graph_Tensor:$data, Graph_Tensor:$indices, Graph_Tensor:$updates, I64Attr:$axis,
                       DefaultValuedAttr<Graph_ScatterKind, "::quaver::graph::ScatterKind::none">:$kind);
}
def Graph_ScatterNdOp : Graph_MovementOp<"scatter_nd",
    "data with updates combined into the slices that indices' last dimension names, in row-major order"> {
  let arguments = (ins Graph_Tensor:$data, Graph_Tensor:$indices, Graph_Tensor:$updates,
                       DefaultValuedAttr<Graph_ScatterKind, "::quaver::graph::ScatterKind::none">:$kind);
}
def Graph_ShapeOp : Graph_MovementOp<"shape", "sizes of dimensions [start, end) as a 1-D i64 tensor; 0 <= start <= end <= rank"> {
  let arguments = (ins Graph_Tensor:$input, I64Attr:$start, I64Attr:$end);
}
def Graph_RangeOp : Graph_MovementOp<"range",
    "start + i * delta for i in [0, max(ceil((limit - start) / delta), 0)); operands are rank 0"> {
  let arguments = (ins Graph_Tensor:$start, Graph_Tensor:$limit, Graph_Tensor:$delta);
}
def Graph_SizesOp : Graph_PureOp<"sizes"> {
  let summary = "an integer tensor whose elements are dimension expressions, in row-major order";
  let description = "What a shape chain comes to: graph.sizes [\"batch\", \"seq * 64\"] : tensor<2xi64>.";
  let arguments = (ins StrArrayAttr:$elements);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$elements attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Graph_ConstantOp : Graph_PureOp<"constant", [ConstantLike]> {
  let summary = "a small tensor written in the IR; larger ones are weights";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "attr-dict $value `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
#endif
