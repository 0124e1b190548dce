// Elementwise ops. Operands broadcast as numpy does (right-aligned, 1 stretches); Spec.md "Elementwise".
#ifndef QUAVER_GRAPH_ELEMENTWISE_TD
#define QUAVER_GRAPH_ELEMENTWISE_TD
include "GraphBase.td"

class Graph_UnaryOp<string mnemonic, string text> : Graph_PureOp<mnemonic> {
  let summary = text;
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
}
def Graph_NegOp : Graph_UnaryOp<"neg", "-x; integers wrap">;
def Graph_AbsOp : Graph_UnaryOp<"abs", "|x|">;
def Graph_SignOp : Graph_UnaryOp<"sign", "-1, 0 or 1; NaN stays NaN">;
def Graph_CeilOp : Graph_UnaryOp<"ceil", "smallest integer >= x">;
def Graph_FloorOp : Graph_UnaryOp<"floor", "largest integer <= x">;
def Graph_RoundOp : Graph_UnaryOp<"round", "nearest integer, ties to even">;
def Graph_TruncOp : Graph_UnaryOp<"trunc", "toward zero">;
def Graph_SqrtOp : Graph_UnaryOp<"sqrt", "square root, correctly rounded">;
def Graph_RsqrtOp : Graph_UnaryOp<"rsqrt", "1 / sqrt(x)">;
def Graph_ReciprocalOp : Graph_UnaryOp<"reciprocal", "1 / x">;
def Graph_ExpOp : Graph_UnaryOp<"exp", "e^x">;
def Graph_LogOp : Graph_UnaryOp<"log", "natural logarithm">;
def Graph_SinOp : Graph_UnaryOp<"sin", "sine">;
def Graph_CosOp : Graph_UnaryOp<"cos", "cosine">;
def Graph_TanOp : Graph_UnaryOp<"tan", "tangent">;
def Graph_AsinOp : Graph_UnaryOp<"asin", "inverse sine">;
def Graph_AcosOp : Graph_UnaryOp<"acos", "inverse cosine">;
def Graph_AtanOp : Graph_UnaryOp<"atan", "inverse tangent">;
def Graph_SinhOp : Graph_UnaryOp<"sinh", "hyperbolic sine">;
def Graph_CoshOp : Graph_UnaryOp<"cosh", "hyperbolic cosine">;
def Graph_TanhOp : Graph_UnaryOp<"tanh", "hyperbolic tangent">;
def Graph_AsinhOp : Graph_UnaryOp<"asinh", "inverse hyperbolic sine">;
def Graph_AcoshOp : Graph_UnaryOp<"acosh", "inverse hyperbolic cosine">;
def Graph_AtanhOp : Graph_UnaryOp<"atanh", "inverse hyperbolic tangent">;
def Graph_ErfOp : Graph_UnaryOp<"erf", "error function">;
def Graph_SigmoidOp : Graph_UnaryOp<"sigmoid", "1 / (1 + e^-x)">;
def Graph_NotOp : Graph_UnaryOp<"not", "logical not of i1">;
def Graph_BitwiseNotOp : Graph_UnaryOp<"bitwise_not", "complement of an integer">;
def Graph_IsNanOp : Graph_UnaryOp<"is_nan", "i1: is the float a NaN">;
def Graph_IsInfOp : Graph_UnaryOp<"is_inf", "i1: is the float infinite"> {
  let arguments = (ins Graph_Tensor:$input, DefaultValuedAttr<BoolAttr, "true">:$detect_positive,
                       DefaultValuedAttr<BoolAttr, "true">:$detect_negative);
}

class Graph_BinaryOp<string mnemonic, string text> : Graph_PureOp<mnemonic> {
  let summary = text;
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs);
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
}
def Graph_AddOp : Graph_BinaryOp<"add", "lhs + rhs; integers wrap">;
def Graph_SubOp : Graph_BinaryOp<"sub", "lhs - rhs; integers wrap">;
def Graph_MulOp : Graph_BinaryOp<"mul", "lhs * rhs; integers wrap">;
def Graph_DivOp : Graph_BinaryOp<"div", "lhs / rhs; integers truncate toward zero, x / 0 = 0">;
def Graph_RemOp : Graph_BinaryOp<"rem", "remainder: C's fmod (sign of lhs) when truncated, else Python's % (sign of rhs)"> {
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, DefaultValuedAttr<BoolAttr, "false">:$truncated);
}
def Graph_PowOp : Graph_BinaryOp<"pow", "lhs ^ rhs; rhs may have another numeric type, the result has lhs's">;
def Graph_MaxOp : Graph_BinaryOp<"max", "maximum; NaN if either is NaN">;
def Graph_MinOp : Graph_BinaryOp<"min", "minimum; NaN if either is NaN">;
def Graph_AndOp : Graph_BinaryOp<"and", "logical and of i1">;
def Graph_OrOp : Graph_BinaryOp<"or", "logical or of i1">;
def Graph_XorOp : Graph_BinaryOp<"xor", "logical xor of i1">;
def Graph_BitwiseAndOp : Graph_BinaryOp<"bitwise_and", "bitwise and of integers">;
def Graph_BitwiseOrOp : Graph_BinaryOp<"bitwise_or", "bitwise or of integers">;
def Graph_BitwiseXorOp : Graph_BinaryOp<"bitwise_xor", "bitwise xor of integers">;
def Graph_ShiftLeftOp : Graph_BinaryOp<"shift_left", "lhs << rhs; 0 when rhs >= bits">;
def Graph_ShiftRightOp : Graph_BinaryOp<"shift_right", "lhs >> rhs; unsigned logical, signed arithmetic">;
def Graph_CompareOp : Graph_BinaryOp<"compare", "i1: lhs kind rhs; with a NaN only ne holds"> {
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, Graph_CompareKind:$kind);
}

def Graph_SelectOp : Graph_PureOp<"select"> {
  let summary = "condition ? lhs : rhs, all three broadcast";
  let arguments = (ins Graph_Tensor:$condition, Graph_Tensor:$lhs, Graph_Tensor:$rhs);
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
}

def Graph_CastOp : Graph_PureOp<"cast"> {
  let summary = "another element type, by the rules of runtime/numerics";
  let description = [{
    float -> int truncates; float -> i1 is x != 0; to FP8 rounds to nearest even, then overflows to the largest finite value
    (saturate) or to NaN/Inf. `fnuz_inf_to_nan` keeps ONNX's rule of opsets 19-23 for Inf into FNUZ types. `round_mode` is
    read for f8E8M0FNU results only.
  }];
  let arguments = (ins Graph_Tensor:$input, DefaultValuedAttr<BoolAttr, "true">:$saturate,
                       DefaultValuedAttr<BoolAttr, "false">:$fnuz_inf_to_nan,
                       DefaultValuedAttr<Graph_RoundMode, "::quaver::graph::RoundMode::nearest">:$round_mode);
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_BitcastOp : Graph_PureOp<"bitcast"> {
  let summary = "the same bits as another element type of the same width";
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
}
#endif
