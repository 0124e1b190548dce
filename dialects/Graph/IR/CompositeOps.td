// Composites: normalizations, attention, MoE, quantization. Every one decomposes.
#ifndef QUAVER_GRAPH_COMPOSITE_TD
#define QUAVER_GRAPH_COMPOSITE_TD
include "GraphBase.td"

class Graph_CompositeOp<string mnemonic, list<Trait> traits = []>
    : Graph_PureOp<mnemonic, !listconcat([DeclareOpInterfaceMethods<Graph_DecomposeInterface>], traits)> {
  let hasVerifier = 1;
}

def Graph_SoftmaxOp : Graph_CompositeOp<"softmax"> {
  let summary = "e^(x - max) / sum along axis; f16 and bf16 are computed in f32";
  let arguments = (ins Graph_Tensor:$input, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
}
def Graph_LogSoftmaxOp : Graph_CompositeOp<"log_softmax"> {
  let summary = "x - max - log(sum(e^(x - max))) along axis";
  let arguments = (ins Graph_Tensor:$input, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
}
def Graph_LayerNormOp : Graph_CompositeOp<"layer_norm", [AttrSizedOperandSegments]> {
  let summary = "(x - mean) / sqrt(var + epsilon) * scale + bias over dimensions [axis, rank); computed in f32 (f64 for f64)";
  let arguments = (ins Graph_Tensor:$input, Optional<Graph_Tensor>:$scale, Optional<Graph_Tensor>:$bias, I64Attr:$axis,
                       F64Attr:$epsilon);
  let results = (outs Graph_Tensor:$result);
}
def Graph_RmsNormOp : Graph_CompositeOp<"rms_norm"> {
  let summary = "x / sqrt(mean(x^2) + epsilon) * scale over dimensions [axis, rank); computed in f32 (f64 for f64)";
  let arguments = (ins Graph_Tensor:$input, Optional<Graph_Tensor>:$scale, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Graph_Tensor:$result);
}
def Graph_RotaryEmbeddingOp : Graph_CompositeOp<"rotary_embedding"> {
  let summary = "rotates pairs of the first rotary_dim channels of [b, heads, s, d] by cos and sin [b or 1, s, rotary_dim / 2]";
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$cos, Graph_Tensor:$sin, BoolAttr:$interleaved,
                       I64Attr:$rotary_dim);
  let results = (outs Graph_Tensor:$result);
}
def Graph_AttentionOp : Graph_CompositeOp<"attention", [AttrSizedOperandSegments]> {
  let summary = "softmax(soft_cap(q k^T scale) + mask) v; q [b, hq, sq, d], k [b, hkv, skv, d], v [b, hkv, skv, dv]";
  let description = [{
    hq is a multiple of hkv (GQA, MQA). mask broadcasts to [b, hq, sq, skv]: i1 keeps where true, a float is added. causal keeps
    key j for query i iff j <= i + skv - sq (the operand `causal_offset`, i64 [b], replaces skv - sq). window > 0 keeps
    i + offset - j < window. sinks [hq] add e^sink to each row's denominator. A row that keeps nothing gives 0.
    softmax runs in f32 (f64 for f64).
  }];
  let arguments = (ins Graph_Tensor:$query, Graph_Tensor:$key, Graph_Tensor:$value, Optional<Graph_Tensor>:$mask,
                       Optional<Graph_Tensor>:$sinks, Optional<Graph_Tensor>:$causal_offset, BoolAttr:$causal,
                       F64Attr:$scale, DefaultValuedAttr<F64Attr, "0.0">:$soft_cap, DefaultValuedAttr<I64Attr, "0">:$window);
  let results = (outs Graph_Tensor:$result);
}
def Graph_LatentAttentionOp : Graph_CompositeOp<"latent_attention"> {
  let summary = "MLA: q_nope [b,h,sq,dn], q_rope [b,h,sq,dr], latent [b,skv,r], k_rope [b,skv,dr], w_uk [h,r,dn], w_uv [h,r,dv]";
  let description = [{
    Keys are latent x w_uk beside the shared k_rope, values latent x w_uv; result [b, h, sq, dv]. Decomposes by expansion to
    graph.attention (the absorbed form is a target's choice).
  }];
  let arguments = (ins Graph_Tensor:$q_nope, Graph_Tensor:$q_rope, Graph_Tensor:$latent, Graph_Tensor:$k_rope,
                       Graph_Tensor:$w_uk, Graph_Tensor:$w_uv, Optional<Graph_Tensor>:$mask, BoolAttr:$causal,
                       F64Attr:$scale);
  let results = (outs Graph_Tensor:$result);
}
def Graph_RouteOp : Graph_CompositeOp<"route"> {
  let summary = "MoE router: logits [t, e] -> weights [t, k], experts i64 [t, k]";
  let description = [{
    scoring is softmax or sigmoid. bias [e] is added for choosing only. groups > 1 keeps the top_groups groups by the sum of
    their two best. normalize divides the k weights by their sum; then all are multiplied by route_scale.
  }];
  let arguments = (ins Graph_Tensor:$logits, Optional<Graph_Tensor>:$bias, I64Attr:$k, StrAttr:$scoring, I64Attr:$groups,
                       I64Attr:$top_groups, BoolAttr:$normalize, F64Attr:$route_scale);
  let results = (outs Graph_Tensor:$weights, Graph_Tensor:$experts);
}
def Graph_DispatchTokensOp : Graph_CompositeOp<"dispatch_tokens"> {
  let summary = "x [t, h], experts [t, k] -> rows [t * k, h] ordered by expert (stable), offsets i64 [e + 1], source i64 [t * k]";
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$experts, I64Attr:$num_experts);
  let results = (outs Graph_Tensor:$rows, Graph_Tensor:$offsets, Graph_Tensor:$source);
}
def Graph_GroupedMatmulOp : Graph_CompositeOp<"grouped_matmul"> {
  let summary = "rows [r, k], offsets [e + 1], weights [e, k, n] -> [r, n]: rows offsets[i] to offsets[i + 1] by weights[i]";
  let arguments = (ins Graph_Tensor:$rows, Graph_Tensor:$offsets, Graph_Tensor:$weights);
  let results = (outs Graph_Tensor:$result);
}
def Graph_CombineTokensOp : Graph_CompositeOp<"combine_tokens"> {
  let summary = "rows [t * k, h], source [t * k], weights [t, k] -> [t, h]: weighted sum of each token's rows";
  let arguments = (ins Graph_Tensor:$rows, Graph_Tensor:$source, Graph_Tensor:$weights);
  let results = (outs Graph_Tensor:$result);
}
def Graph_QuantizeOp : Graph_CompositeOp<"quantize"> {
  let summary = "saturating cast of round(x / scale) + zero_point; FP8: of x / scale; ONNX QuantizeLinear";
  let description = [{
    scale is rank 0 or one element (per tensor), 1-D (per axis), or of the input's rank with ceil(D / block_size) along axis; or,
    with `blocks`, of the input's rank with one element per block. blocks[d] counts the elements of a block along dimension d, 0
    means all of them; axis and block_size are not read then. The division is done in `compute_type`. zero_point has scale's shape;
    for FP8 it must be absent.
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$scale, Optional<Graph_Tensor>:$zero_point, I64Attr:$axis,
                       DefaultValuedAttr<I64Attr, "0">:$block_size, DefaultValuedAttr<BoolAttr, "true">:$saturate,
                       TypeAttr:$compute_type, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$blocks);
  let results = (outs Graph_Tensor:$result);
}
def Graph_DequantizeOp : Graph_CompositeOp<"dequantize"> {
  let summary = "(x - zero_point) * scale; ONNX DequantizeLinear; the product is done in f32, then cast to the result's type";
  let description = "scale, axis, block_size, blocks: as for quantize.";
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$scale, Optional<Graph_Tensor>:$zero_point, I64Attr:$axis,
                       DefaultValuedAttr<I64Attr, "0">:$block_size, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$blocks);
  let results = (outs Graph_Tensor:$result);
}
def Graph_DynamicQuantizeOp : Graph_CompositeOp<"dynamic_quantize"> {
  let summary = "FP8 codes of x, and the scales that follow from the largest magnitude of each block";
  let description = [{
    runtime/numerics/scale_recipe.h is the rule for scales (zero blocks, Inf and NaN, tiny values) and codes; x is widened to f32
    first. scales (f32 or f8E8M0FNU) has the input's rank, ceil(D / blocks[d]) along dimension d, 1 where blocks[d] is 0 (all of it).
    graph.dequantize with the same `blocks` takes the pair.
  }];
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$blocks,
                       DefaultValuedAttr<Graph_ScaleRounding, "::quaver::graph::ScaleRounding::none">:$rounding);
  let results = (outs Graph_Tensor:$codes, Graph_Tensor:$scales);
}
#endif
