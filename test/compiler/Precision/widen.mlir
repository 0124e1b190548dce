// RUN: quaver-opt %s --pass-pipeline='builtin.module(func.func(quaver-widen-floats))' | FileCheck %s

graph.weight @w : tensor<8x4xbf16> {source_name = "w"}

// Roundings between ops vanish; arguments, results and weights keep their types.
// CHECK-LABEL: func.func @chain
// CHECK: %[[X:.*]] = graph.cast %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK: %[[A:.*]] = graph.add %[[X]], %{{.*}} -> tensor<4x8xf32>
// CHECK: %[[T:.*]] = graph.tanh %[[A]]
// CHECK: %[[W:.*]] = graph.cast %{{.*}} : (tensor<8x4xbf16>) -> tensor<8x4xf32>
// CHECK: %[[M:.*]] = graph.matmul %[[T]], %[[W]] : {{.*}} -> tensor<4x4xf32>
// CHECK: %[[R:.*]] = graph.cast %[[M]] : (tensor<4x4xf32>) -> tensor<4x4xf16>
// CHECK: return %[[R]]
func.func @chain(%x: tensor<4x8xf16>) -> tensor<4x4xf16> {
  %0 = graph.add %x, %x : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  %1 = graph.tanh %0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %2 = graph.get_weight @w : tensor<8x4xbf16>
  %3 = graph.cast %2 : (tensor<8x4xbf16>) -> tensor<8x4xf16>
  %4 = graph.matmul %1, %3 : (tensor<4x8xf16>, tensor<8x4xf16>) -> tensor<4x4xf16>
  return %4 : tensor<4x4xf16>
}

// A look-up moves the weight as narrow as it is.
// CHECK-LABEL: func.func @table
// CHECK: graph.gather {{.*}} -> tensor<?x4xbf16>
// CHECK: graph.cast {{.*}} -> tensor<?x4xf32>
func.func @table(%i: tensor<?xi64>) -> tensor<?x4xbf16> {
  %0 = graph.get_weight @w : tensor<8x4xbf16>
  %1 = graph.gather %0, %i {axis = 0 : i64} : (tensor<8x4xbf16>, tensor<?xi64>) -> tensor<?x4xbf16>
  %2 = graph.exp %1 : (tensor<?x4xbf16>) -> tensor<?x4xbf16>
  return %2 : tensor<?x4xbf16>
}
