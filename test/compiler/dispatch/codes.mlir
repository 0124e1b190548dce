// RUN: quaver-opt %s --quaver-form-dispatches | FileCheck %s

graph.dim @b
graph.weight @w : tensor<200x256xf8E4M3FN> {source_name = "w"}
graph.weight @ws : tensor<2x2xf32> {source_name = "ws"}

// What codes stand for is never in memory: the product reads codes and scales of both sides.
// CHECK-LABEL: func.func @product
// CHECK-DAG: %[[W:.*]] = graph.get_weight @w :
// CHECK-DAG: %[[S:.*]] = graph.get_weight @ws
// CHECK: plan.dispatch %arg0, %arg1, %[[W]], %[[S]]
// CHECK: graph.dequantize
// CHECK: graph.dequantize
// CHECK-NEXT: graph.transpose
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: plan.yield
// CHECK-NOT: plan.dispatch
func.func @product(%x: tensor<?x256xf8E4M3FN> {graph.dims = ["b", "256"]}, %s: tensor<?x2xf32> {graph.dims = ["b", "2"]}) -> tensor<?x200xf32> {
  %w = graph.get_weight @w : tensor<200x256xf8E4M3FN>
  %ws = graph.get_weight @ws : tensor<2x2xf32>
  %0 = graph.dequantize %x, %s {axis = 0 : i64, blocks = array<i64: 1, 128>} : (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>) -> tensor<?x256xf32>
  %1 = graph.dequantize %w, %ws {axis = 0 : i64, blocks = array<i64: 128, 128>} : (tensor<200x256xf8E4M3FN>, tensor<2x2xf32>) -> tensor<200x256xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<200x256xf32>) -> tensor<256x200xf32>
  %3 = graph.matmul %0, %2 : (tensor<?x256xf32>, tensor<256x200xf32>) -> tensor<?x200xf32>
  return %3 : tensor<?x200xf32>
}

// One quantization for two products, each of which dequantizes for itself.
// CHECK-LABEL: func.func @twice
// CHECK: %[[Q:.*]]:2 = plan.dispatch %arg0
// CHECK: graph.dynamic_quantize
// CHECK-NEXT: plan.yield
// CHECK: plan.dispatch %[[Q]]#0, %[[Q]]#1,
// CHECK: graph.matmul
// CHECK-NEXT: plan.yield
// CHECK: plan.dispatch %[[Q]]#0, %[[Q]]#1,
// CHECK: graph.matmul
// CHECK-NEXT: plan.yield
func.func @twice(%x: tensor<?x200xf32> {graph.dims = ["b", "200"]}) -> (tensor<?x256xf32>, tensor<?x256xf32>) {
  %w = graph.get_weight @w : tensor<200x256xf8E4M3FN>
  %ws = graph.get_weight @ws : tensor<2x2xf32>
  %c, %s = graph.dynamic_quantize %x {blocks = array<i64: 1, 128>} : (tensor<?x200xf32>) -> (tensor<?x200xf8E4M3FN>, tensor<?x2xf32>)
  %0 = graph.dequantize %c, %s {axis = 0 : i64, blocks = array<i64: 1, 128>} : (tensor<?x200xf8E4M3FN>, tensor<?x2xf32>) -> tensor<?x200xf32>
  %y = graph.dequantize %w, %ws {axis = 0 : i64, blocks = array<i64: 128, 128>} : (tensor<200x256xf8E4M3FN>, tensor<2x2xf32>) -> tensor<200x256xf32>
  %1 = graph.matmul %0, %y : (tensor<?x200xf32>, tensor<200x256xf32>) -> tensor<?x256xf32>
  %2 = graph.matmul %0, %y : (tensor<?x200xf32>, tensor<200x256xf32>) -> tensor<?x256xf32>
  return %1, %2 : tensor<?x256xf32>, tensor<?x256xf32>
}

// Of a product of activations the codes become floats first.
// CHECK-LABEL: func.func @activations
// CHECK: %[[F:.*]] = plan.dispatch %arg0
// CHECK: graph.dequantize
// CHECK-NEXT: plan.yield
// CHECK: plan.dispatch %[[F]], %arg1
// CHECK-NEXT: bb0
// CHECK-NEXT: graph.matmul
func.func @activations(%x: tensor<?x200xf8E4M3FN> {graph.dims = ["b", "200"]}, %y: tensor<200x64xf32>) -> tensor<?x64xf32> {
  %one = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %0 = graph.dequantize %x, %one {axis = 0 : i64} : (tensor<?x200xf8E4M3FN>, tensor<f32>) -> tensor<?x200xf32>
  %1 = graph.matmul %0, %y : (tensor<?x200xf32>, tensor<200x64xf32>) -> tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}
