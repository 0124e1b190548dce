// Quantization, products of scaled tensors, and what moves codes and scales together.
#ifndef QUAVER_SCALE_OPS_TD
#define QUAVER_SCALE_OPS_TD
include "ScaleBase.td"

def Scale_QuantizeOp : Scale_Op<"quantize"> {
  let summary = "codes and scales of a float tensor; scales follow from the largest magnitude of each block";
  let description = "runtime/numerics/scale_recipe.h is the rule. Belongs to a use: two consumers may scale one value differently.";
  let arguments = (ins AnyRankedTensor:$input,
                       DefaultValuedAttr<Graph_ScaleRounding, "::quaver::graph::ScaleRounding::none">:$rounding);
  let results = (outs Scale_TensorType:$result);
}
def Scale_DequantizeOp : Scale_Op<"dequantize"> {
  let summary = "code * scale in f32, rounded once to the result's type";
  let arguments = (ins Scale_TensorType:$input);
  let results = (outs AnyRankedTensor:$result);
}
def Scale_PackOp : Scale_Op<"pack"> {
  let summary = "a plain pair of codes and scales as one scaled tensor";
  let arguments = (ins AnyRankedTensor:$codes, AnyRankedTensor:$scales);
  let results = (outs Scale_TensorType:$result);
}
def Scale_UnpackOp : Scale_Op<"unpack"> {
  let summary = "the plain pair of a scaled tensor";
  let arguments = (ins Scale_TensorType:$input);
  let results = (outs AnyRankedTensor:$codes, AnyRankedTensor:$scales);
}

def Scale_MatmulOp : Scale_Op<"matmul"> {
  let summary = "graph.matmul of which an operand at least is a scaled tensor";
  let description = [{
    Sums are f32: for each run of k that one scale of each side covers, dot(codes) * lhs scale * rhs scale; a float side has no scale.
    Leading dimensions broadcast.
  }];
  let arguments = (ins Scale_AnyTensor:$lhs, Scale_AnyTensor:$rhs, Scale_PrecisionAttr:$precision, OptionalAttr<StrAttr>:$reason);
  let results = (outs AnyRankedTensor:$result);
}
def Scale_ConvOp : Scale_Op<"conv"> {
  let summary = "graph.conv of which an operand at least is a scaled tensor; scales run along channels";
  let arguments = (ins Scale_AnyTensor:$input, Scale_AnyTensor:$filter, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, I64Attr:$groups, Scale_PrecisionAttr:$precision, OptionalAttr<StrAttr>:$reason);
  let results = (outs AnyRankedTensor:$result);
}

def Scale_TransposeOp : Scale_Op<"transpose"> {
  let summary = "result dimension i is input dimension permutation[i], of codes, scales and block sizes alike";
  let arguments = (ins Scale_TensorType:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Scale_TensorType:$result);
}
def Scale_ReshapeOp : Scale_Op<"reshape"> {
  let summary = "another shape of the leading dimensions, whose blocks are 1; trailing blocked dimensions stay";
  let description = "`shape` as for graph.reshape, without 0 for a copied size.";
  let arguments = (ins Scale_TensorType:$input, AnyRankedTensor:$shape);
  let results = (outs Scale_TensorType:$result);
}
def Scale_SliceOp : Scale_Op<"slice"> {
  let summary = "elements [offsets, offsets + sizes), where every offset is the first element of a block";
  let description = "A size of -1 is what is left. A whole-dimension block keeps its scale.";
  let arguments = (ins Scale_TensorType:$input, DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$sizes);
  let results = (outs Scale_TensorType:$result);
}
#endif
