// Matmul, convolution: what precision is about.
#ifndef QUAVER_GRAPH_CONTRACTION_TD
#define QUAVER_GRAPH_CONTRACTION_TD
include "GraphBase.td"

class Graph_ContractionOp<string mnemonic, string text> : Graph_PureOp<mnemonic> {
  let summary = text;
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
}
def Graph_MatmulOp : Graph_ContractionOp<"matmul", "[..., m, k] x [..., k, n] -> [..., m, n]; leading dimensions broadcast"> {
  let description = [{
    Both operands have rank >= 2. f16, bf16, f32 accumulate in f32, f64 in f64, integers in the result's type, wrapping. The result
    may be wider than the operands.
  }];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs);
}
def Graph_ConvOp : Graph_ContractionOp<"conv", "[n, c, spatial...] * [m, c / groups, kernel...] -> [n, m, spatial...], cross-correlation"> {
  let description = "pads: befores, then afters.";
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$filter, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, I64Attr:$groups);
}
def Graph_ConvTransposeOp : Graph_ContractionOp<"conv_transpose",
    "the gradient of conv by its input: [n, c, spatial...], [c, m / groups, kernel...] -> [n, m, spatial...]"> {
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$filter, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$output_padding, I64Attr:$groups);
}
#endif
