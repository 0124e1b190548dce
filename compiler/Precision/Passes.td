#ifndef QUAVER_PRECISION_PASSES_TD
#define QUAVER_PRECISION_PASSES_TD
include "mlir/Pass/PassBase.td"

def WidenFloatsPass : Pass<"quaver-widen-floats", "mlir::func::FuncOp"> {
  let summary = "Compute f16 and bf16 values in f32";
  let description = [{
    Arguments, results, states and weights keep their types; roundings to a narrow type between two ops vanish. Ops that only look up
    a weight stay as narrow as it is.
    Before: %0 = graph.add %x, %y : bf16; %1 = graph.exp %0 : bf16
    After:  %0 = graph.add (cast %x), (cast %y) : f32; %1 = graph.exp %0 : f32; %2 = graph.cast %1 : bf16
  }];
}

def AssignPrecisionPass : Pass<"quaver-assign-precision", "mlir::ModuleOp"> {
  let summary = "Write the formats of every product and table look-up, and why, as attributes";
  let description = [{
    `scale.precision` and `scale.reason` on products; `scale.storage` (a type) and `scale.reason` on look-ups in weights and on norms;
    `scale.fallback` where the policy asked for formats that the op cannot have. Changes nothing else. A rule that selects nothing
    is an error unless it is optional.
    Before: %0 = graph.matmul %x, %w : f32
    After:  %0 = graph.matmul %x, %w {scale.precision = #scale.precision<lhs = bf16, ...>, scale.reason = "..."} : f32
  }];
  let options = [Option<"policyName", "policy", "std::string", "\"bf16\"", "a preset or the path of a policy file">];
  let dependentDialects = ["::quaver::scale::ScaleDialect"];
}

def MaterializePrecisionPass : Pass<"quaver-materialize-precision", "mlir::func::FuncOp"> {
  let summary = "Obey scale.precision and scale.storage: quantize and cast operands, change results";
  let description = [{
    Decides nothing. Casts then move to where less data passes: narrowing ones before data movement, widening ones after it.
    Before: %0 = graph.matmul %x, %w {scale.precision = #scale.precision<lhs = f8E4M3FN, rhs = f8E4M3FN, ...>}
    After:  %a = scale.quantize %x; %b = scale.quantize %w; %0 = scale.matmul %a, %b
  }];
  let dependentDialects = ["::quaver::scale::ScaleDialect"];
}

def ExplodeScaledTensorsPass : Pass<"quaver-explode-scaled-tensors", "mlir::func::FuncOp"> {
  let summary = "Replace scaled tensors by pairs of codes and scales";
  let description = [{
    Before: %a = scale.quantize %x; %b = scale.quantize %w; %0 = scale.matmul %a, %b
    After:  %c, %s = graph.dynamic_quantize %x; %a = graph.dequantize %c, %s; ...; %0 = graph.matmul %a, %b
  }];
  let dependentDialects = ["::quaver::graph::GraphDialect"];
}

def VerifyScaleBorderPass : Pass<"quaver-verify-scale-border", "mlir::func::FuncOp"> {
  let summary = "Fail unless every product that was decided says its formats and has them, and scaled tensors stay inside the function";
}
def VerifyGraphBorderPass : Pass<"quaver-verify-graph-border", "mlir::func::FuncOp"> {
  let summary = "Fail if FP8 values meet anything but cast, quantize, dequantize and data movement, or an op of scale is left";
}
#endif
