// RUN: quaver-opt %s --quaver-form-dispatches | FileCheck %s

graph.dim @s

// No cycle: the sum cannot join exp's launch, because the product between them must run first.
// CHECK-LABEL: func.func @no_cycle
// CHECK: plan.dispatch %arg0
// CHECK: graph.exp
// CHECK-NEXT: plan.yield
// CHECK: plan.dispatch
// CHECK: graph.matmul
// CHECK: graph.add
func.func @no_cycle(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = graph.exp %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = graph.matmul %0, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = graph.add %0, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// A causal mask made of ranges is computed by each of its readers.
// CHECK-LABEL: func.func @mask
// CHECK-NOT: label = "range
// CHECK: plan.dispatch %arg0
// CHECK: graph.compare
// CHECK: graph.select
// CHECK: plan.dispatch %arg1
// CHECK: graph.compare
// CHECK: graph.select
// CHECK-NOT: plan.dispatch
func.func @mask(%x: tensor<?x?xf32> {graph.dims = ["s", "s"]}, %y: tensor<?x?xf32> {graph.dims = ["s", "s"]}) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %zero = graph.constant dense<0> : tensor<i64> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64> : tensor<i64>
  %n = graph.sizes ["s"] : tensor<i64>
  %low = graph.constant dense<-1.0e9> : tensor<f32> : tensor<f32>
  %r = graph.range %zero, %n, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %q = graph.expand_dims %r {axes = array<i64: 1>} : (tensor<?xi64>) -> tensor<?x1xi64>
  %m = graph.compare %r, %q {kind = #graph.compare_kind<le>} : (tensor<?xi64>, tensor<?x1xi64>) -> tensor<?x?xi1>
  %0 = graph.select %m, %x, %low : (tensor<?x?xi1>, tensor<?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
  %1 = graph.select %m, %y, %low : (tensor<?x?xi1>, tensor<?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xf32>
}

// Halves of a rotary embedding: slices, negation and concat are one launch with the arithmetic after them.
// CHECK-LABEL: func.func @rotate
// CHECK: plan.dispatch %arg0, %arg1
// CHECK: graph.concat
// CHECK: graph.mul
// CHECK-NOT: plan.dispatch
func.func @rotate(%x: tensor<?x8xf32> {graph.dims = ["s", "8"]}, %sin: tensor<?x8xf32> {graph.dims = ["s", "8"]}) -> tensor<?x8xf32> {
  %zero = graph.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %four = graph.constant dense<4> : tensor<1xi64> : tensor<1xi64>
  %eight = graph.constant dense<8> : tensor<1xi64> : tensor<1xi64>
  %one = graph.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %a = graph.slice %x, %zero, %four, %one {axes = array<i64: 1>} : (tensor<?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x4xf32>
  %b = graph.slice %x, %four, %eight, %one {axes = array<i64: 1>} : (tensor<?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x4xf32>
  %n = graph.neg %b : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %c = graph.concat %n, %a {axis = 1 : i64} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  %m = graph.mul %c, %sin : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %m : tensor<?x8xf32>
}

// A transcendental function is not computed again for every element of a broadcast: two launches.
// CHECK-LABEL: func.func @broadcast
// CHECK: plan.dispatch %arg0
// CHECK: graph.exp
// CHECK-NEXT: plan.yield
// CHECK: plan.dispatch
// CHECK: graph.add
func.func @broadcast(%x: tensor<?x1xf32> {graph.dims = ["s", "1"]}, %y: tensor<?x64xf32> {graph.dims = ["s", "64"]}) -> tensor<?x64xf32> {
  %0 = graph.exp %x : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %1 = graph.add %0, %y : (tensor<?x1xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}

// Sizes that are wanted as a tensor are computed; the same sizes as a reshape's shape are not.
// CHECK-LABEL: func.func @sizes
// CHECK: %[[D:.*]] = plan.dispatch
// CHECK-NEXT: graph.sizes
// CHECK: %[[S:.*]] = graph.sizes
// CHECK: %[[R:.*]] = graph.reshape %arg0, %[[S]]
// CHECK: return %[[R]], %[[D]]
func.func @sizes(%x: tensor<?xf32> {graph.dims = ["s"]}) -> (tensor<?x1xf32>, tensor<2xi64>) {
  %s = graph.sizes ["s", "1"] : tensor<2xi64>
  %0 = graph.reshape %x, %s : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x1xf32>
  return %0, %s : tensor<?x1xf32>, tensor<2xi64>
}
