// RUN: quaver-opt %s --quaver-form-dispatches | FileCheck %s
// RUN: quaver-opt %s --quaver-form-dispatches=explain=true -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

graph.dim @b
graph.dim @s

// Scale, mask, softmax: one launch.
// CHECK-LABEL: func.func @softmax
// CHECK: plan.dispatch %arg0, %arg1
// CHECK: graph.mul
// CHECK: graph.add
// CHECK: graph.reduce
// CHECK: graph.exp
// CHECK: graph.reduce
// CHECK: graph.div
// CHECK-NEXT: plan.yield
// CHECK-NOT: plan.dispatch
func.func @softmax(%x: tensor<?x?x?xf32> {graph.dims = ["b", "s", "s"]}, %m: tensor<?x1x?xf32> {graph.dims = ["b", "1", "s"]}) -> tensor<?x?x?xf32> {
  %c = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %0 = graph.mul %x, %c : (tensor<?x?x?xf32>, tensor<f32>) -> tensor<?x?x?xf32>
  %1 = graph.add %0, %m : (tensor<?x?x?xf32>, tensor<?x1x?xf32>) -> tensor<?x?x?xf32>
  %2 = graph.reduce %1 {axes = array<i64: 2>, keep_dims = true, kind = #graph.reduce_kind<max>} : (tensor<?x?x?xf32>) -> tensor<?x?x1xf32>
  %3 = graph.sub %1, %2 : (tensor<?x?x?xf32>, tensor<?x?x1xf32>) -> tensor<?x?x?xf32>
  %4 = graph.exp %3 : (tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %5 = graph.reduce %4 {axes = array<i64: 2>, keep_dims = true, kind = #graph.reduce_kind<sum>} : (tensor<?x?x?xf32>) -> tensor<?x?x1xf32>
  %6 = graph.div %4, %5 : (tensor<?x?x?xf32>, tensor<?x?x1xf32>) -> tensor<?x?x?xf32>
  return %6 : tensor<?x?x?xf32>
}

// A row's sum that meets the values across the rows waits for all of them.
// WHY: does not join graph.reduce: it reads across the rows
// CHECK-LABEL: func.func @across
// CHECK: plan.dispatch %arg0
// CHECK: graph.reduce
// CHECK-NEXT: plan.yield
// CHECK: plan.dispatch
// CHECK: graph.sub
func.func @across(%x: tensor<?x?xf32> {graph.dims = ["s", "s"]}) -> tensor<?x?xf32> {
  %0 = graph.reduce %x {axes = array<i64: 1>, keep_dims = false, kind = #graph.reduce_kind<sum>} : (tensor<?x?xf32>) -> tensor<?xf32>
  %1 = graph.sub %x, %0 : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// Reductions over two different dimensions are two launches.
// WHY: does not join graph.reduce: it reduces other dimensions than that row
// CHECK-LABEL: func.func @two_dimensions
// CHECK: plan.dispatch
// CHECK: graph.exp
// CHECK: axes = array<i64: 1>
// CHECK: plan.yield
// CHECK: plan.dispatch
// CHECK: axes = array<i64: 0>
func.func @two_dimensions(%x: tensor<?x?xf32> {graph.dims = ["b", "s"]}) -> (tensor<?x1xf32>, tensor<1x?xf32>) {
  %0 = graph.exp %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = graph.reduce %0 {axes = array<i64: 1>, keep_dims = true, kind = #graph.reduce_kind<sum>} : (tensor<?x?xf32>) -> tensor<?x1xf32>
  %2 = graph.reduce %0 {axes = array<i64: 0>, keep_dims = true, kind = #graph.reduce_kind<sum>} : (tensor<?x?xf32>) -> tensor<1x?xf32>
  return %1, %2 : tensor<?x1xf32>, tensor<1x?xf32>
}

// An embedding with its sum and normalization is one launch.
// CHECK-LABEL: func.func @embedding
// CHECK: plan.dispatch
// CHECK: graph.gather
// CHECK: graph.add
// CHECK: graph.reduce
// CHECK: graph.sub
// CHECK-NEXT: plan.yield
// CHECK-NOT: plan.dispatch
func.func @embedding(%table: tensor<100x32xf32>, %ids: tensor<?x?xi64> {graph.dims = ["b", "s"]}, %p: tensor<?x32xf32> {graph.dims = ["s", "32"]}) -> tensor<?x?x32xf32> {
  %0 = graph.gather %table, %ids {axis = 0 : i64} : (tensor<100x32xf32>, tensor<?x?xi64>) -> tensor<?x?x32xf32>
  %1 = graph.add %0, %p : (tensor<?x?x32xf32>, tensor<?x32xf32>) -> tensor<?x?x32xf32>
  %2 = graph.reduce %1 {axes = array<i64: 2>, keep_dims = true, kind = #graph.reduce_kind<mean>} : (tensor<?x?x32xf32>) -> tensor<?x?x1xf32>
  %3 = graph.sub %1, %2 : (tensor<?x?x32xf32>, tensor<?x?x1xf32>) -> tensor<?x?x32xf32>
  return %3 : tensor<?x?x32xf32>
}
