// RUN: quaver-opt %s --split-input-file --verify-diagnostics
// Every constraint of dialects/Plan/Spec.md.

func.func @c1(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{C1: the region's arguments must have the operands' types}}
  %0 = plan.dispatch %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<8xf32>):
    plan.yield %a : tensor<8xf32>
  }
  return %0 : tensor<4xf32>
}
// -----
func.func @c2(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{C2: the region must end in a plan.yield of the results' types}}
  %0 = plan.dispatch %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    plan.yield
  }
  return %0 : tensor<4xf32>
}
// -----
func.func @c3(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{C3: workgroups is not a dimension expression}}
  %0 = plan.dispatch %x {workgroups = "batch *"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    plan.yield %a : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
// -----
func.func @c6(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{C6: a packing must have an operand's number, storage, parameters and bytes}}
  %0 = plan.dispatch %x {packings = [{operand = 3 : i64}]} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    plan.yield %a : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
// -----
// expected-error@+1 {{C3: peak is not a dimension expression}}
plan.entry @main attributes {inputs = [], outputs = [], peak = "batch *"} {
}
// -----
plan.entry @main attributes {inputs = [], outputs = [], peak = "0"} {
  // expected-error@+1 {{C4: unknown memory "attic"}}
  %0 = plan.buffer "attic"[0] at "0" bytes "64" of f32 "x"
}
// -----
plan.entry @main attributes {inputs = [], outputs = [], peak = "64"} {
  %0 = plan.buffer "arena"[0] at "0" bytes "64" of f32 "x"
  // expected-error@+1 {{C5: num_written is 2, but there are 1 buffers}}
  plan.launch "k"(%0) {num_written = 2 : i64, workgroups = "1", constants = [], scratch = "0", grain = "1", label = "", description = ""}
}
