// RUN: quaver-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(quaver-materialize-precision,quaver-verify-scale-border))' | FileCheck %s

#bf16 = #scale.precision<lhs = bf16, rhs = bf16, accumulate = f32, out = bf16, recipe = "">
#fp8 = #scale.precision<lhs = f8E4M3FN, rhs = f8E4M3FN, accumulate = f32, out = f32, recipe = "128x128">
#w8 = #scale.precision<lhs = bf16, rhs = f8E4M3FN, accumulate = f32, out = f32, recipe = "128x128">

// Casts move before the transpose, and nothing is rounded twice.
// CHECK-LABEL: func.func @chain
// CHECK: %[[X:.*]] = graph.cast %arg0 : (tensor<8x4xf32>) -> tensor<8x4xbf16>
// CHECK: %[[T:.*]] = graph.transpose %[[X]] {{.*}} -> tensor<4x8xbf16>
// CHECK: %[[Y:.*]] = graph.cast %arg1
// CHECK: %[[P:.*]] = graph.matmul %[[T]], %[[Y]] {{.*}} -> tensor<4x8xbf16>
// CHECK-NOT: graph.cast
// CHECK: %[[Q:.*]] = graph.transpose %[[P]] {{.*}} -> tensor<8x4xbf16>
// CHECK: graph.matmul %[[T]], %[[Q]]
func.func @chain(%x: tensor<8x4xf32>, %y: tensor<8x8xf32>) -> tensor<4x4xf32> {
  %0 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %1 = graph.matmul %0, %y {scale.precision = #bf16} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %3 = graph.matmul %0, %2 {scale.precision = #bf16} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @codes
// CHECK: scale.quantize %arg0 : (tensor<?x?x384xf32>) -> !scale.tensor<?x?x384xf8E4M3FN, scales = 1x1x128xf32>
// CHECK: scale.quantize %arg1 : (tensor<384x64xf32>) -> !scale.tensor<384x64xf8E4M3FN, scales = 128x128xf32>
// CHECK: scale.matmul {{.*}} {precision = {{.*}}, reason = "said"}
// CHECK: graph.cast %arg0 : (tensor<?x?x384xf32>) -> tensor<?x?x384xbf16>
// CHECK: scale.matmul {{.*}} : (tensor<?x?x384xbf16>, !scale.tensor
func.func @codes(%x: tensor<?x?x384xf32>, %w: tensor<384x64xf32>) -> (tensor<?x?x64xf32>, tensor<?x?x64xf32>) {
  %0 = graph.matmul %x, %w {scale.precision = #fp8, scale.reason = "said"} : (tensor<?x?x384xf32>, tensor<384x64xf32>) -> tensor<?x?x64xf32>
  %1 = graph.matmul %x, %w {scale.precision = #w8} : (tensor<?x?x384xf32>, tensor<384x64xf32>) -> tensor<?x?x64xf32>
  return %0, %1 : tensor<?x?x64xf32>, tensor<?x?x64xf32>
}

// CHECK-LABEL: func.func @convolution
// CHECK: !scale.tensor<1x64x8x8xf8E4M3FN, scales = 1x128x1x1xf32>
// CHECK: !scale.tensor<8x64x3x3xf8E4M3FN, scales = 128x128x1x1xf32>
// CHECK: scale.conv
func.func @convolution(%x: tensor<1x64x8x8xf32>, %f: tensor<8x64x3x3xf32>) -> tensor<1x8x6x6xf32> {
  %0 = graph.conv %x, %f {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, scale.precision = #fp8} : (tensor<1x64x8x8xf32>, tensor<8x64x3x3xf32>) -> tensor<1x8x6x6xf32>
  return %0 : tensor<1x8x6x6xf32>
}

// CHECK-LABEL: func.func @table
// CHECK: graph.cast %arg0 : (tensor<100x64xf32>) -> tensor<100x64xbf16>
// CHECK: graph.gather {{.*}} -> tensor<?x64xbf16>
// CHECK: graph.cast {{.*}} -> tensor<?x64xf32>
func.func @table(%t: tensor<100x64xf32>, %i: tensor<?xi64>) -> tensor<?x64xf32> {
  %0 = graph.gather %t, %i {axis = 0 : i64, scale.storage = bf16} : (tensor<100x64xf32>, tensor<?xi64>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// A stack of matrices is quantized once, whichever side it is on; codes and scales are looked up.
graph.weight @experts : tensor<8x48x64xf32> {source_name = "experts"}
// CHECK-LABEL: func.func @experts_of_tokens
// CHECK: scale.quantize %0 : (tensor<8x48x64xf32>) -> !scale.tensor<8x48x64xf8E4M3FN, scales = 1x128x128xf32>
// CHECK: scale.unpack
// CHECK: graph.gather_nd {{.*}} -> tensor<?x48x64xf8E4M3FN>
// CHECK: graph.gather_nd {{.*}} -> tensor<?x1x1xf32>
// CHECK: scale.pack
// CHECK: scale.quantize %arg1 : (tensor<?x64x1xf32>) -> !scale.tensor<?x64x1xf8E4M3FN, scales = 1x128x1xf32>
// CHECK: scale.matmul
func.func @experts_of_tokens(%i: tensor<?x1xi64>, %x: tensor<?x64x1xf32>) -> tensor<?x48x1xf32> {
  %w = graph.get_weight @experts : tensor<8x48x64xf32>
  %0 = graph.gather_nd %w, %i : (tensor<8x48x64xf32>, tensor<?x1xi64>) -> tensor<?x48x64xf32>
  %1 = graph.matmul %0, %x {scale.precision = #fp8} : (tensor<?x48x64xf32>, tensor<?x64x1xf32>) -> tensor<?x48x1xf32>
  return %1 : tensor<?x48x1xf32>
}

// A norm is rounded once, for all its readers.
// CHECK-LABEL: func.func @norm
// CHECK: %[[N:.*]] = graph.rms_norm
// CHECK: %[[B:.*]] = graph.cast %[[N]] : (tensor<4x8xf32>) -> tensor<4x8xbf16>
// CHECK: %[[W:.*]] = graph.cast %[[B]] : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK: graph.exp %[[W]]
func.func @norm(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.rms_norm %x {axis = 1 : i64, epsilon = 1.0e-5 : f64, scale.storage = bf16} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.exp %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----
#bad = #scale.precision<lhs = f8E4M3FN, rhs = f8E4M3FN, accumulate = f32, out = f32, recipe = "3x3">
func.func @recipe(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>) {
  // expected-error @+1 {{has the unknown recipe "3x3"; there is 128x128, 1x128, per_tensor, per_channel, mx32}}
  %0 = graph.matmul %x, %w {scale.precision = #bad} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return
}
