// RUN: quaver-opt %s --pass-pipeline='builtin.module(quaver-assign-precision{policy=bf16})' | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: quaver-opt %s --pass-pipeline='builtin.module(quaver-assign-precision{policy=fp8})' | FileCheck %s --check-prefixes=CHECK,FP8
// RUN: quaver-opt %s --pass-pipeline='builtin.module(quaver-assign-precision{policy=fp8-weights})' | FileCheck %s --check-prefixes=CHECK,W8

graph.weight @w : tensor<64x96xf32> {source_name = "w"}
graph.weight @t : tensor<96x64xf32> {source_name = "t"}
graph.weight @rows : tensor<1000x64xf32> {source_name = "rows"}
graph.weight @filter : tensor<8x64x3x3xf32> {source_name = "filter"}

// A weight on the right, also through movement. What the sum is read by decides `out`.
// CHECK-LABEL: func.func @weights
// BF16: graph.matmul {{.*}} {scale.precision = #scale.precision<lhs = bf16, rhs = bf16, accumulate = f32, out = bf16, recipe = "">, scale.reason = "preset bf16:{{[0-9]+}}: a product"}
// FP8: graph.matmul {{.*}} {scale.precision = #scale.precision<lhs = f8E4M3FN, rhs = f8E4M3FN, accumulate = f32, out = bf16, recipe = "128x128">
// W8: graph.matmul {{.*}} {scale.precision = #scale.precision<lhs = bf16, rhs = f8E4M3FN, accumulate = f32, out = bf16, recipe = "128x128">
// BF16: graph.matmul {{.*}} out = f32
// FP8: graph.matmul {{.*}} out = f32
// W8: graph.matmul {{.*}} out = f32
func.func @weights(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %w = graph.get_weight @w : tensor<64x96xf32>
  %t = graph.get_weight @w : tensor<64x96xf32>
  %tt = graph.transpose %t {permutation = array<i64: 1, 0>} : (tensor<64x96xf32>) -> tensor<96x64xf32>
  %0 = graph.matmul %x, %w : (tensor<?x64xf32>, tensor<64x96xf32>) -> tensor<?x96xf32>
  %1 = graph.matmul %0, %tt : (tensor<?x96xf32>, tensor<96x64xf32>) -> tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}

// Attention products are never FP8.
// CHECK-LABEL: func.func @computed
// CHECK: graph.matmul {{.*}} {scale.precision = #scale.precision<lhs = bf16, rhs = bf16, accumulate = f32, out = f32, recipe = "">, scale.reason = "preset {{.*}}"}
func.func @computed(%q: tensor<2x4x8xf32>, %k: tensor<2x8x4xf32>) -> tensor<2x4x4xf32> {
  %0 = graph.matmul %q, %k : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}

// CHECK-LABEL: func.func @wide
// CHECK: graph.matmul {{.*}} {scale.precision = #scale.precision<lhs = f32, rhs = f32, {{.*}}scale.reason = "preset {{.*}}: positions times frequencies; BF16 cannot count beyond 256"}
// CHECK: graph.matmul {{.*}} {scale.reason = "the file computes it in fp64"}
// CHECK: graph.matmul {{.*}} {scale.reason = "a product of integers"}
// CHECK: graph.matmul {{.*}} {scale.reason = "the file quantizes its operands itself"}
func.func @wide(%x: tensor<4x1xf32>, %y: tensor<1x4xf32>, %d: tensor<4x4xf64>, %i: tensor<4x4xi32>, %f: tensor<4x4xf8E4M3FN>, %s: tensor<f32>) {
  %0 = graph.matmul %x, %y : (tensor<4x1xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %1 = graph.matmul %d, %d : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  %2 = graph.matmul %i, %i : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
  %3 = graph.dequantize %f, %s {axis = 0 : i64} : (tensor<4x4xf8E4M3FN>, tensor<f32>) -> tensor<4x4xf32>
  %4 = graph.matmul %0, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// The weight on the left is not what FP8 weights are about.
// CHECK-LABEL: func.func @left_weight
// CHECK: graph.matmul {{.*}} {scale.precision = #scale.precision<lhs = bf16, rhs = bf16,
func.func @left_weight(%x: tensor<96x4xf32>) -> tensor<64x4xf32> {
  %w = graph.get_weight @w : tensor<64x96xf32>
  %0 = graph.matmul %w, %x : (tensor<64x96xf32>, tensor<96x4xf32>) -> tensor<64x4xf32>
  return %0 : tensor<64x4xf32>
}

// A fallback is marked.
// CHECK-LABEL: func.func @transposed_convolution
// BF16-NOT: scale.fallback
// FP8: graph.conv_transpose {{.*}}scale.fallback, scale.precision = #scale.precision<lhs = bf16, {{.*}}scale.reason = "preset fp8:{{[0-9]+}}: the right operand is a weight; no FP8 form of conv_transpose: bf16"
func.func @transposed_convolution(%x: tensor<1x8x8x8xf32>) -> tensor<1x64x10x10xf32> {
  %f = graph.get_weight @filter : tensor<8x64x3x3xf32>
  %0 = graph.conv_transpose %x, %f {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<8x64x3x3xf32>) -> tensor<1x64x10x10xf32>
  return %0 : tensor<1x64x10x10xf32>
}

// CHECK-LABEL: func.func @table
// CHECK: graph.gather {{.*}} {axis = 0 : i64, scale.reason = "preset {{.*}}: a table that is looked up", scale.storage = bf16}
func.func @table(%i: tensor<?xi64>) -> tensor<?x64xf32> {
  %t = graph.get_weight @rows : tensor<1000x64xf32>
  %0 = graph.gather %t, %i {axis = 0 : i64} : (tensor<1000x64xf32>, tensor<?xi64>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @convolution
// FP8: graph.conv {{.*}}lhs = f8E4M3FN, rhs = f8E4M3FN, accumulate = f32, out = f32, recipe = "128x128"
func.func @convolution(%x: tensor<1x64x8x8xf32>) -> tensor<1x8x6x6xf32> {
  %f = graph.get_weight @filter : tensor<8x64x3x3xf32>
  %0 = graph.conv %x, %f {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x8x8xf32>, tensor<8x64x3x3xf32>) -> tensor<1x8x6x6xf32>
  return %0 : tensor<1x8x6x6xf32>
}
