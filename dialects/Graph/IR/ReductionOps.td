// Reductions, selections, scans, pooling.
#ifndef QUAVER_GRAPH_REDUCTION_TD
#define QUAVER_GRAPH_REDUCTION_TD
include "GraphBase.td"

class Graph_ReductionOp<string mnemonic, string text> : Graph_PureOp<mnemonic> {
  let summary = text;
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
}
def Graph_ReduceOp : Graph_ReductionOp<"reduce", "combines all elements along axes; keep_dims leaves them with size 1"> {
  let description = [{
    axes are ascending and non-negative. f16, bf16 accumulate in f32; f32 in f32; f64 in f64; integers in their own type, wrapping.
    Of no elements: sum 0, mean NaN, prod 1, max the lowest value (-Inf), min the highest (+Inf). max and min give NaN if any is NaN.
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_ReduceKind:$kind, DenseI64ArrayAttr:$axes, BoolAttr:$keep_dims);
}
def Graph_ArgReduceOp : Graph_ReductionOp<"arg_reduce", "i64 position of the max or min along axis; ties: first, or last with select_last"> {
  let arguments = (ins Graph_Tensor:$input, Graph_ReduceKind:$kind, I64Attr:$axis, BoolAttr:$keep_dims,
                       DefaultValuedAttr<BoolAttr, "false">:$select_last);
}
def Graph_CumulativeOp : Graph_ReductionOp<"cumulative", "running sum or prod along axis"> {
  let description = "exclusive leaves the own element out, reverse runs from the end.";
  let arguments = (ins Graph_Tensor:$input, Graph_ReduceKind:$kind, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "false">:$exclusive, DefaultValuedAttr<BoolAttr, "false">:$reverse);
}
def Graph_TopKOp : Graph_PureOp<"top_k"> {
  let summary = "the k largest (smallest) elements along axis and their i64 positions, sorted; ties: lower position first";
  let description = "k is a rank-0 or one-element 1-D i64 tensor. NaN counts as larger than everything.";
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$k, I64Attr:$axis, DefaultValuedAttr<BoolAttr, "true">:$largest);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices);
  let hasVerifier = 1;
}
def Graph_NonZeroOp : Graph_ReductionOp<"non_zero",
    "i64 [rank, count]: coordinates of the elements that are not 0, in row-major order; count depends on data"> {
  let arguments = (ins Graph_Tensor:$input);
}
def Graph_UniqueOp : Graph_PureOp<"unique"> {
  let summary = "distinct slices along axis (or elements of the flattened input): values, first positions, inverse, counts";
  let arguments = (ins Graph_Tensor:$input, OptionalAttr<I64Attr>:$axis, DefaultValuedAttr<BoolAttr, "true">:$sorted);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices, Graph_Tensor:$inverse, Graph_Tensor:$counts);
  let hasVerifier = 1;
}
def Graph_PoolOp : Graph_ReductionOp<"pool", "max or average over windows of the spatial dimensions of [n, c, spatial...]"> {
  let description = [{
    pads: befores, then afters. ceil_mode rounds the output size up; windows that start in the padding after are dropped.
    average divides by the elements inside the input, average_with_padding by those inside input and padding.
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_PoolKind:$kind, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode);
}
def Graph_ResizeOp : Graph_ReductionOp<"resize", "samples the input at other sizes; attributes mean what ONNX Resize-19 says"> {
  let description = [{
    `scales` is an f32 1-D tensor of the input's rank (empty: `sizes` rules), `sizes` an i64 one (empty: `scales` rules). `roi` is
    f32 [2 * rank], read for tf_crop_and_resize only. Axes and the aspect policy are resolved by the importer.
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$roi, Graph_Tensor:$scales, Graph_Tensor:$sizes, StrAttr:$mode,
                       StrAttr:$coordinates, StrAttr:$nearest_mode, F64Attr:$cubic_coefficient, BoolAttr:$exclude_outside,
                       BoolAttr:$antialias, F64Attr:$extrapolation);
}
#endif
