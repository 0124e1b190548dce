// RUN: not quaver-opt %s --quaver-form-dispatches --split-input-file 2>/dev/null | FileCheck %s
// RUN: not quaver-opt %s --quaver-form-dispatches --split-input-file 2>&1 | FileCheck %s --check-prefix=ERROR

graph.dim @s

// A data-dependent count is the dispatch's last result. Elementwise producers do not join; constants are buffers.
// CHECK-LABEL: func.func @counted
// CHECK: %[[C:.*]] = graph.constant
// CHECK: %[[P:.*]] = plan.dispatch %arg0
// CHECK: graph.compare
// CHECK: %[[N:.*]]:2 = plan.dispatch %[[P]]
// CHECK: %[[I:.*]] = graph.non_zero
// CHECK: %[[COUNT:.*]] = graph.shape %[[I]] {end = 2 : i64, start = 1 : i64}
// CHECK: plan.yield %[[I]], %[[COUNT]]
// CHECK: plan.dispatch %arg1, %[[C]], %arg2
// CHECK: graph.scatter_elements
func.func @counted(%x: tensor<?xf32> {graph.dims = ["s"]}, %d: tensor<4xf32>, %u: tensor<2xf32>) -> (tensor<1x?xi64>, tensor<4xf32>) {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %i = graph.constant dense<[1, 3]> : tensor<2xi64> : tensor<2xi64>
  %0 = graph.compare %x, %zero {kind = #graph.compare_kind<gt>} : (tensor<?xf32>, tensor<f32>) -> tensor<?xi1>
  %1 = graph.non_zero %0 : (tensor<?xi1>) -> tensor<1x?xi64>
  %2 = graph.scatter_elements %d, %i, %u {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<1x?xi64>, tensor<4xf32>
}

// Regions of control flow are formed too; what they read from outside is materialized there.
// CHECK-LABEL: func.func @control
// CHECK: %[[E:.*]] = plan.dispatch %arg1
// CHECK: graph.if %arg0
// CHECK: plan.dispatch %[[E]]
// CHECK: graph.neg
// CHECK: graph.yield
// CHECK: graph.yield %[[E]]
func.func @control(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %e = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
    %n = graph.neg %e : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %n : tensor<4xf32>
  } else {
    graph.yield %e : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// ERROR: dispatches are formed after composites are decomposed
func.func @composite(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
