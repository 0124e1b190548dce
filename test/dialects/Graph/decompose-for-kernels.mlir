// RUN: quaver-opt %s --pass-pipeline='builtin.module(func.func(quaver-decompose{for-kernels=true}))' | FileCheck %s
// RUN: quaver-opt %s --pass-pipeline='builtin.module(func.func(quaver-decompose))' | FileCheck %s --check-prefix=ALL

// ALL-NOT: graph.dequantize
// ALL-NOT: graph.dynamic_quantize

// CHECK-LABEL: func.func @product
// CHECK: graph.dynamic_quantize
// CHECK: graph.dequantize
// CHECK-NEXT: graph.transpose
func.func @product(%x: tensor<4x256xf32>, %w: tensor<64x256xf32>) -> tensor<64x4xf32> {
  %c, %s = graph.dynamic_quantize %x {blocks = array<i64: 1, 128>} : (tensor<4x256xf32>) -> (tensor<4x256xf8E4M3FN>, tensor<4x2xf32>)
  %0 = graph.dequantize %c, %s {axis = 0 : i64, blocks = array<i64: 1, 128>} : (tensor<4x256xf8E4M3FN>, tensor<4x2xf32>) -> tensor<4x256xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<4x256xf32>) -> tensor<256x4xf32>
  %2 = graph.matmul %w, %1 : (tensor<64x256xf32>, tensor<256x4xf32>) -> tensor<64x4xf32>
  return %2 : tensor<64x4xf32>
}

// Not by rows of 128, or read by more than products.
// CHECK-LABEL: func.func @others
// CHECK-NOT: graph.dynamic_quantize
// CHECK-NOT: graph.dequantize
func.func @others(%x: tensor<4x256xf32>) -> tensor<4x256xf32> {
  %c, %s = graph.dynamic_quantize %x {blocks = array<i64: 1, 32>} : (tensor<4x256xf32>) -> (tensor<4x256xf8E4M3FN>, tensor<4x8xf32>)
  %0 = graph.dequantize %c, %s {axis = 0 : i64, blocks = array<i64: 1, 32>} : (tensor<4x256xf8E4M3FN>, tensor<4x8xf32>) -> tensor<4x256xf32>
  return %0 : tensor<4x256xf32>
}
