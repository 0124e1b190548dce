// RUN: quaver-opt %s --pass-pipeline='builtin.module(func.func(quaver-fold-shapes))' | FileCheck %s

graph.dim @batch {min = 1 : i64}
graph.dim @sequence {min = 1 : i64}

// A shape chain of a real export: what it comes to is written down, what fed it is gone.
// CHECK-LABEL: func.func @chain
// CHECK-NOT: graph.shape
// CHECK: %[[SIZES:.*]] = graph.sizes ["batch * sequence", "64"] : tensor<2xi64>
// CHECK: graph.reshape %arg0, %[[SIZES]]
func.func @chain(%x: tensor<?x?x64xf32> {graph.name = "x", graph.dims = ["batch", "sequence", "64"]}) -> tensor<?x64xf32> {
  %s = graph.shape %x {start = 0 : i64, end = 2 : i64} : (tensor<?x?x64xf32>) -> tensor<2xi64>
  %p = graph.reduce %s {kind = #graph.reduce_kind<prod>, axes = array<i64: 0>, keep_dims = true} : (tensor<2xi64>) -> tensor<1xi64>
  %c = graph.constant dense<64> : tensor<1xi64> : tensor<1xi64>
  %sizes = graph.concat %p, %c {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %0 = graph.reshape %x, %sizes : (tensor<?x?x64xf32>, tensor<2xi64>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// Values that depend on data stay.
// CHECK-LABEL: func.func @data
// CHECK: graph.add
func.func @data(%n: tensor<1xi64> {graph.name = "n", graph.dims = ["1"]}) -> tensor<1xi64> {
  %0 = graph.add %n, %n : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  return %0 : tensor<1xi64>
}
