// RUN: quaver-opt %s | quaver-opt | FileCheck %s
// What is printed is what is read.

// CHECK: graph.dim @batch {max = 64 : i64, min = 1 : i64}
graph.dim @batch {min = 1 : i64, max = 64 : i64}
// CHECK: graph.weight @w : tensor<8x4xf32>
graph.weight @w : tensor<8x4xf32> {source_name = "encoder.w", bytes = 128 : i64}
// CHECK: graph.state @cache : tensor<2x8xf32>
graph.state @cache : tensor<2x8xf32>

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?x8xf32> {graph.name = "x", graph.dims = ["batch", "8"]}, %c: tensor<i1>) -> tensor<?x4xf32> {
  // CHECK: graph.get_weight @w : tensor<8x4xf32>
  %w = graph.get_weight @w : tensor<8x4xf32>
  // CHECK: graph.matmul
  %0 = graph.matmul %x, %w : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  // CHECK: graph.softmax %{{.*}} {axis = 1 : i64}
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: graph.sizes ["batch", "4"] : tensor<2xi64>
  %s = graph.sizes ["batch", "4"] : tensor<2xi64>
  %2 = graph.reshape %1, %s : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  // CHECK: graph.read_state @cache
  %r = graph.read_state @cache : tensor<2x8xf32>
  // CHECK: graph.update_state @cache
  graph.update_state @cache, %r : tensor<2x8xf32>
  // CHECK: graph.if
  %3 = graph.if %c : (tensor<i1>) -> tensor<?x4xf32> {
    graph.yield %2 : tensor<?x4xf32>
  } else {
    // CHECK: graph.compare %{{.*}} {kind = #graph.compare_kind<lt>}
    %k = graph.compare %2, %1 {kind = #graph.compare_kind<lt>} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xi1>
    %4 = graph.select %k, %1, %2 : (tensor<?x4xi1>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    graph.yield %4 : tensor<?x4xf32>
  }
  // CHECK: graph.while
  %5 = graph.while %3 : (tensor<?x4xf32>) -> tensor<?x4xf32> {
  ^bb0(%a: tensor<?x4xf32>):
    graph.yield %c, %a : tensor<i1>, tensor<?x4xf32>
  } do {
  ^bb0(%a: tensor<?x4xf32>):
    graph.yield %a : tensor<?x4xf32>
  }
  return %5 : tensor<?x4xf32>
}
