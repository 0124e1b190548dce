// RUN: quaver-opt %s | quaver-opt | FileCheck %s

// CHECK-LABEL: func.func @tensors
func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: plan.dispatch %{{.*}} {kernel = "k", workgroups = "ceildiv(batch, 16)"}
  %0 = plan.dispatch %x {kernel = "k", workgroups = "ceildiv(batch, 16)"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %1 = graph.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    plan.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK: plan.entry @main
plan.entry @main attributes {inputs = [], outputs = [], peak = "128 * batch"} {
  // CHECK: plan.buffer "arena"[0] at "0" bytes "64 * batch" of f32 "x"
  %0 = plan.buffer "arena"[0] at "0" bytes "64 * batch" of f32 "x"
  %1 = plan.buffer "arena"[1] at "64 * batch" bytes "64 * batch" of i1 "y"
  // CHECK: plan.check "eq(batch, rows)" "give equal sizes"
  plan.check "eq(batch, rows)" "give equal sizes"
  // CHECK: plan.launch "k"(%{{.*}}, %{{.*}})
  plan.launch "k"(%0, %1) {num_written = 1 : i64, workgroups = "batch", constants = ["batch"], scratch = "0", grain = "1", label = "n", description = ""}
  // CHECK: plan.read_back "count" from %{{.*}}[0]
  plan.read_back "count" from %1[0]
  // CHECK: plan.if
  plan.if %1 {
    // CHECK: plan.copy %{{.*}} to %{{.*}} bytes "64"
    plan.copy %0 to %1 bytes "64"
  } else {
  }
  // CHECK: plan.while
  plan.while %1 {
  } do {
  }
}
