// RUN: quaver-opt %s --quaver-form-dispatches | FileCheck %s
// RUN: quaver-opt %s --quaver-form-dispatches=fuse=false | FileCheck %s --check-prefix=ALONE
// RUN: quaver-opt %s --quaver-form-dispatches | quaver-opt --quaver-form-dispatches > %t.twice && quaver-opt %s --quaver-form-dispatches | diff - %t.twice

graph.dim @b
graph.weight @w : tensor<64x96xf32> {source_name = "w"}
graph.weight @wt : tensor<96x64xf32> {source_name = "wt"}
graph.weight @bias : tensor<96xf32> {source_name = "bias"}

// The product, its bias and a GELU whose input is read twice are one launch; so is a residual.
// CHECK-LABEL: func.func @epilogue
// CHECK: %[[W:.*]] = graph.get_weight @w
// CHECK: plan.dispatch %arg0, %[[W]], %{{.*}}, %arg1
// CHECK: graph.matmul
// CHECK-NEXT: graph.add
// CHECK: graph.erf
// CHECK: graph.mul
// CHECK: graph.add
// CHECK-NEXT: plan.yield
// CHECK-NOT: plan.dispatch
// ALONE-LABEL: func.func @epilogue
// ALONE-COUNT-6: plan.dispatch
func.func @epilogue(%x: tensor<?x64xf32> {graph.dims = ["b", "64"]}, %r: tensor<?x96xf32> {graph.dims = ["b", "96"]}) -> tensor<?x96xf32> {
  %w = graph.get_weight @w : tensor<64x96xf32>
  %bias = graph.get_weight @bias : tensor<96xf32>
  %half = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %0 = graph.matmul %x, %w : (tensor<?x64xf32>, tensor<64x96xf32>) -> tensor<?x96xf32>
  %1 = graph.add %0, %bias : (tensor<?x96xf32>, tensor<96xf32>) -> tensor<?x96xf32>
  %2 = graph.mul %1, %half : (tensor<?x96xf32>, tensor<f32>) -> tensor<?x96xf32>
  %3 = graph.erf %1 : (tensor<?x96xf32>) -> tensor<?x96xf32>
  %4 = graph.mul %2, %3 : (tensor<?x96xf32>, tensor<?x96xf32>) -> tensor<?x96xf32>
  %5 = graph.add %4, %r : (tensor<?x96xf32>, tensor<?x96xf32>) -> tensor<?x96xf32>
  return %5 : tensor<?x96xf32>
}

// A transpose of the weight is part of the product; a transpose of the result ends it, and nothing joins behind that.
// CHECK-LABEL: func.func @transposes
// CHECK: plan.dispatch %arg0
// CHECK: graph.transpose
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.transpose
// CHECK-NEXT: plan.yield
// CHECK: plan.dispatch
// CHECK: graph.add
func.func @transposes(%x: tensor<?x64xf32> {graph.dims = ["b", "64"]}, %r: tensor<96x?xf32> {graph.dims = ["96", "b"]}) -> tensor<96x?xf32> {
  %w = graph.get_weight @wt : tensor<96x64xf32>
  %t = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<96x64xf32>) -> tensor<64x96xf32>
  %0 = graph.matmul %x, %t : (tensor<?x64xf32>, tensor<64x96xf32>) -> tensor<?x96xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<?x96xf32>) -> tensor<96x?xf32>
  %2 = graph.add %1, %r : (tensor<96x?xf32>, tensor<96x?xf32>) -> tensor<96x?xf32>
  return %2 : tensor<96x?xf32>
}

// Heads: a reshape of a whole value stays outside, the transposes are strided views inside, the scale moves to the projection.
// CHECK-LABEL: func.func @heads
// CHECK: %[[Q:.*]] = plan.dispatch %arg0
// CHECK: graph.matmul
// CHECK: graph.mul
// CHECK-NEXT: plan.yield
// CHECK: %[[H:.*]] = graph.reshape %[[Q]]
// CHECK: plan.dispatch %[[H]], %arg1
// CHECK: graph.transpose
// CHECK: graph.transpose
// CHECK: graph.matmul
// CHECK-NOT: plan.dispatch
func.func @heads(%x: tensor<?x64xf32> {graph.dims = ["b", "64"]}, %k: tensor<?x4x24xf32> {graph.dims = ["b", "4", "24"]}) -> tensor<4x?x?xf32> {
  %w = graph.get_weight @w : tensor<64x96xf32>
  %s = graph.sizes ["b", "4", "24"] : tensor<3xi64>
  %scale = graph.constant dense<0.125> : tensor<f32> : tensor<f32>
  %0 = graph.matmul %x, %w : (tensor<?x64xf32>, tensor<64x96xf32>) -> tensor<?x96xf32>
  %1 = graph.reshape %0, %s : (tensor<?x96xf32>, tensor<3xi64>) -> tensor<?x4x24xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 1, 0, 2>} : (tensor<?x4x24xf32>) -> tensor<4x?x24xf32>
  %3 = graph.mul %2, %scale : (tensor<4x?x24xf32>, tensor<f32>) -> tensor<4x?x24xf32>
  %4 = graph.transpose %k {permutation = array<i64: 1, 2, 0>} : (tensor<?x4x24xf32>) -> tensor<4x24x?xf32>
  %5 = graph.matmul %3, %4 : (tensor<4x?x24xf32>, tensor<4x24x?xf32>) -> tensor<4x?x?xf32>
  return %5 : tensor<4x?x?xf32>
}

// Heads that are repeated and then counted as one dimension: the product finds them by arithmetic on the head's number.
// CHECK-LABEL: func.func @repeated
// CHECK: plan.dispatch %arg0, %arg1
// CHECK: graph.expand
// CHECK: graph.reshape
// CHECK: graph.matmul
// CHECK-NOT: plan.dispatch
func.func @repeated(%p: tensor<4x?x?xf32> {graph.dims = ["4", "b", "b"]}, %v: tensor<2x1x?x8xf32> {graph.dims = ["2", "1", "b", "8"]}) -> tensor<4x?x8xf32> {
  %s = graph.sizes ["2", "2", "b", "8"] : tensor<4xi64>
  %t = graph.sizes ["4", "b", "8"] : tensor<3xi64>
  %0 = graph.expand %v, %s : (tensor<2x1x?x8xf32>, tensor<4xi64>) -> tensor<2x2x?x8xf32>
  %1 = graph.reshape %0, %t : (tensor<2x2x?x8xf32>, tensor<3xi64>) -> tensor<4x?x8xf32>
  %2 = graph.matmul %p, %1 : (tensor<4x?x?xf32>, tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
  return %2 : tensor<4x?x8xf32>
}

// Columns that are not a fixed distance apart are copied first.
// CHECK-LABEL: func.func @no_stride
// CHECK: %[[T:.*]] = plan.dispatch %arg1 {label = "transpose"}
// CHECK: %[[R:.*]] = graph.reshape %[[T]]
// CHECK: plan.dispatch %arg0, %[[R]]
// CHECK: graph.matmul
func.func @no_stride(%p: tensor<?x12xf32> {graph.dims = ["b", "12"]}, %v: tensor<4x8x3xf32>) -> tensor<?x8xf32> {
  %s = graph.sizes ["12", "8"] : tensor<2xi64>
  %0 = graph.transpose %v {permutation = array<i64: 2, 0, 1>} : (tensor<4x8x3xf32>) -> tensor<3x4x8xf32>
  %1 = graph.reshape %0, %s : (tensor<3x4x8xf32>, tensor<2xi64>) -> tensor<12x8xf32>
  %2 = graph.matmul %p, %1 : (tensor<?x12xf32>, tensor<12x8xf32>) -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// A square that only a row reads is computed with the row, not stored by the product.
// CHECK-LABEL: func.func @square
// CHECK: graph.matmul
// CHECK-NEXT: plan.yield
// CHECK: plan.dispatch
// CHECK: graph.mul
// CHECK: graph.reduce
// CHECK: graph.sub
func.func @square(%x: tensor<?x64xf32> {graph.dims = ["b", "64"]}) -> tensor<?x96xf32> {
  %w = graph.get_weight @w : tensor<64x96xf32>
  %0 = graph.matmul %x, %w : (tensor<?x64xf32>, tensor<64x96xf32>) -> tensor<?x96xf32>
  %1 = graph.mul %0, %0 : (tensor<?x96xf32>, tensor<?x96xf32>) -> tensor<?x96xf32>
  %2 = graph.reduce %1 {axes = array<i64: 1>, keep_dims = true, kind = #graph.reduce_kind<mean>} : (tensor<?x96xf32>) -> tensor<?x1xf32>
  %3 = graph.sub %0, %2 : (tensor<?x96xf32>, tensor<?x1xf32>) -> tensor<?x96xf32>
  return %3 : tensor<?x96xf32>
}
