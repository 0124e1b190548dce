// RUN: quaver-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(quaver-explode-scaled-tensors,quaver-verify-graph-border))' | FileCheck %s

// CHECK-LABEL: func.func @product
// CHECK: %[[AC:.*]], %[[AS:.*]] = graph.dynamic_quantize %arg0 {blocks = array<i64: 1, 128>} : (tensor<?x384xf32>) -> (tensor<?x384xf8E4M3FN>, tensor<?x3xf32>)
// CHECK: %[[BC:.*]], %[[BS:.*]] = graph.dynamic_quantize %arg1 {blocks = array<i64: 128, 128>} : (tensor<384x64xf32>) -> (tensor<384x64xf8E4M3FN>, tensor<3x1xf32>)
// CHECK: %[[A:.*]] = graph.dequantize %[[AC]], %[[AS]] {axis = 0 : i64, blocks = array<i64: 1, 128>} : (tensor<?x384xf8E4M3FN>, tensor<?x3xf32>) -> tensor<?x384xf32>
// CHECK: %[[B:.*]] = graph.dequantize %[[BC]], %[[BS]] {axis = 0 : i64, blocks = array<i64: 128, 128>}
// CHECK: graph.matmul %[[A]], %[[B]] {scale.precision = {{.*}}, scale.reason = "said"}
func.func @product(%x: tensor<?x384xf32>, %w: tensor<384x64xf32>) -> tensor<?x64xf32> {
  %a = scale.quantize %x : (tensor<?x384xf32>) -> !scale.tensor<?x384xf8E4M3FN, scales = 1x128xf32>
  %b = scale.quantize %w : (tensor<384x64xf32>) -> !scale.tensor<384x64xf8E4M3FN, scales = 128x128xf32>
  %0 = scale.matmul %a, %b {precision = #scale.precision<lhs = f8E4M3FN, rhs = f8E4M3FN, accumulate = f32, out = f32, recipe = "128x128">, reason = "said"}
      : (!scale.tensor<?x384xf8E4M3FN, scales = 1x128xf32>, !scale.tensor<384x64xf8E4M3FN, scales = 128x128xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @movement
// CHECK: graph.reshape %{{.*}}, %arg1 : (tensor<3x14x300xf8E4M3FN>, tensor<2xi64>) -> tensor<42x300xf8E4M3FN>
// CHECK: graph.reshape {{.*}} -> tensor<42x3xf32>
// CHECK: graph.transpose {{.*}} -> tensor<300x42xf8E4M3FN>
// CHECK: graph.transpose {{.*}} -> tensor<3x42xf32>
// CHECK: graph.slice {{.*}} -> tensor<44x42xf8E4M3FN>
// CHECK: graph.slice {{.*}} -> tensor<1x42xf32>
func.func @movement(%x: tensor<3x14x300xf32>, %shape: tensor<2xi64>) -> (tensor<44x42xf8E4M3FN>, tensor<1x42xf32>) {
  %q = scale.quantize %x : (tensor<3x14x300xf32>) -> !scale.tensor<3x14x300xf8E4M3FN, scales = 1x1x128xf32>
  %r = scale.reshape %q, %shape : (!scale.tensor<3x14x300xf8E4M3FN, scales = 1x1x128xf32>, tensor<2xi64>) -> !scale.tensor<42x300xf8E4M3FN, scales = 1x128xf32>
  %t = scale.transpose %r {permutation = array<i64: 1, 0>} : (!scale.tensor<42x300xf8E4M3FN, scales = 1x128xf32>) -> !scale.tensor<300x42xf8E4M3FN, scales = 128x1xf32>
  %s = scale.slice %t {offsets = array<i64: 256, 0>, sizes = array<i64: -1, -1>} : (!scale.tensor<300x42xf8E4M3FN, scales = 128x1xf32>) -> !scale.tensor<44x42xf8E4M3FN, scales = 128x1xf32>
  %c, %k = scale.unpack %s : (!scale.tensor<44x42xf8E4M3FN, scales = 128x1xf32>) -> (tensor<44x42xf8E4M3FN>, tensor<1x42xf32>)
  return %c, %k : tensor<44x42xf8E4M3FN>, tensor<1x42xf32>
}

// -----
func.func @from_outside(%q: !scale.tensor<4x8xf8E4M3FN, scales = 1x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{reads a scaled tensor that no op of this function makes}}
  %0 = scale.dequantize %q : (!scale.tensor<4x8xf8E4M3FN, scales = 1x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----
func.func @border(%q: tensor<4x8xf8E4M3FN>) {
  // expected-error @+1 {{meets FP8 values, which are only stored, moved, cast, quantized and dequantized}}
  %0 = graph.non_zero %q : (tensor<4x8xf8E4M3FN>) -> tensor<2x?xi64>
  return
}
