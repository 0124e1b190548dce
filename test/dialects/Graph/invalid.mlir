// RUN: quaver-opt %s --split-input-file --verify-diagnostics
// Every constraint of dialects/Graph/Spec.md.

func.func @e1(%x: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  // expected-error@+1 {{E1: FP8 values are only stored and moved}}
  %0 = graph.exp %x : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}
// -----
func.func @e1_matmul(%x: tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32> {
  // expected-error@+1 {{E1: FP8 operands need their scales}}
  %0 = graph.matmul %x, %x : (tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
// -----
func.func @e2(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error@+1 {{E2: takes floats}}
  %0 = graph.exp %x : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
// -----
func.func @e3(%x: tensor<4xf32>, %y: tensor<4xf16>) -> tensor<4xf32> {
  // expected-error@+1 {{E3: operands must have one element type}}
  %0 = graph.add %x, %y : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @e4(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{E4: gives i1}}
  %0 = graph.compare %x, %x {kind = #graph.compare_kind<lt>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @e5(%c: tensor<4xi8>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{E5: the condition is i1}}
  %0 = graph.select %c, %x, %x : (tensor<4xi8>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @e6(%x: tensor<4xf32>) -> tensor<4xf16> {
  // expected-error@+1 {{E6: both types must have the same width}}
  %0 = graph.bitcast %x : (tensor<4xf32>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}
// -----
func.func @m1(%x: tensor<4x2xf32>) -> tensor<2x4xf16> {
  // expected-error@+1 {{M1: data and result must have one element type}}
  %0 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x2xf32>) -> tensor<2x4xf16>
  return %0 : tensor<2x4xf16>
}
// -----
func.func @m2(%x: tensor<4x2xf32>, %i: tensor<3xf32>) -> tensor<3x2xf32> {
  // expected-error@+1 {{M2: sizes, positions and indices must be integers}}
  %0 = graph.gather %x, %i {axis = 0 : i64} : (tensor<4x2xf32>, tensor<3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
// -----
func.func @m3(%x: tensor<4x2xf32>) -> tensor<2xi32> {
  // expected-error@+1 {{M3: gives i64}}
  %0 = graph.shape %x {start = 0 : i64, end = 2 : i64} : (tensor<4x2xf32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
// -----
func.func @m4() -> tensor<2xf32> {
  // expected-error@+1 {{M4: the attribute and the result must have one element type}}
  %0 = graph.constant dense<1> : tensor<2xi32> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @m5() -> tensor<3xi64> {
  // expected-error@+1 {{M5: gives a static integer tensor with one expression per element}}
  %0 = graph.sizes ["batch", "4"] : tensor<3xi64>
  return %0 : tensor<3xi64>
}
// -----
func.func @m6() -> tensor<1xi64> {
  // expected-error@+1 {{M6: elements are dimension expressions}}
  %0 = graph.sizes ["batch +"] : tensor<1xi64>
  return %0 : tensor<1xi64>
}
// -----
func.func @r1(%x: tensor<4x2xf32>) -> tensor<4xi64> {
  // expected-error@+1 {{R1: kind is max or min}}
  %0 = graph.arg_reduce %x {kind = #graph.reduce_kind<sum>, axis = 1 : i64, keep_dims = false} : (tensor<4x2xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}
// -----
func.func @r2(%x: tensor<4x2xf32>) -> tensor<4xi32> {
  // expected-error@+1 {{R2: gives i64}}
  %0 = graph.arg_reduce %x {kind = #graph.reduce_kind<max>, axis = 1 : i64, keep_dims = false} : (tensor<4x2xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
// -----
func.func @r3(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{R3: kind is sum or prod}}
  %0 = graph.cumulative %x {kind = #graph.reduce_kind<mean>, axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @c1(%x: tensor<4x4xi32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{C1: operands and result must all be floats or all integers}}
  %0 = graph.matmul %x, %y : (tensor<4x4xi32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
// -----
func.func @a1(%x: tensor<4x8xf32>) -> tensor<4x2xi64> {
  // expected-error@+1 {{A1: scoring is softmax or sigmoid}}
  %w, %e = graph.route %x {k = 2 : i64, scoring = "relu", groups = 1 : i64, top_groups = 1 : i64, normalize = true, route_scale = 1.0 : f64} : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
  return %e : tensor<4x2xi64>
}
// -----
func.func @a2(%x: tensor<4x8xf32>) -> tensor<4x2xi64> {
  // expected-error@+1 {{A2: k, groups and top_groups are at least 1}}
  %w, %e = graph.route %x {k = 2 : i64, scoring = "softmax", groups = 1 : i64, top_groups = 2 : i64, normalize = true, route_scale = 1.0 : f64} : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
  return %e : tensor<4x2xi64>
}
// -----
func.func @q1(%x: tensor<4xf32>, %s: tensor<f32>, %z: tensor<f8E4M3FN>) -> tensor<4xf8E4M3FN> {
  // expected-error@+1 {{Q1: FP8 results take no zero point}}
  %0 = graph.quantize %x, %s, %z {axis = 0 : i64, compute_type = f32} : (tensor<4xf32>, tensor<f32>, tensor<f8E4M3FN>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}
// -----
func.func @q2(%x: tensor<4xf8E4M3FN>, %s: tensor<f32>) -> tensor<4xi32> {
  // expected-error@+1 {{Q2: gives floats}}
  %0 = graph.dequantize %x, %s {axis = 0 : i64} : (tensor<4xf8E4M3FN>, tensor<f32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
// -----
func.func @q3(%x: tensor<4x4xf32>) -> tensor<4x4xf8E4M3FN> {
  // expected-error@+1 {{Q3: blocks holds a size}}
  %c, %s = graph.dynamic_quantize %x {blocks = array<i64: 128>} : (tensor<4x4xf32>) -> (tensor<4x4xf8E4M3FN>, tensor<4x1xf32>)
  return %c : tensor<4x4xf8E4M3FN>
}
// -----
func.func @q4(%x: tensor<4x4xf32>) -> tensor<4x4xf8E4M3FNUZ> {
  // expected-error@+1 {{Q4: gives f8E4M3FN or f8E5M2 codes}}
  %c, %s = graph.dynamic_quantize %x {blocks = array<i64: 1, 128>} : (tensor<4x4xf32>) -> (tensor<4x4xf8E4M3FNUZ>, tensor<4x1xf32>)
  return %c : tensor<4x4xf8E4M3FNUZ>
}
// -----
func.func @q5(%x: tensor<4x4xf32>) -> tensor<4x4xf8E4M3FN> {
  // expected-error@+1 {{Q5: gives f32 or f8E8M0FNU scales}}
  %c, %s = graph.dynamic_quantize %x {blocks = array<i64: 1, 128>} : (tensor<4x4xf32>) -> (tensor<4x4xf8E4M3FN>, tensor<4x1xbf16>)
  return %c : tensor<4x4xf8E4M3FN>
}
// -----
func.func @q6(%x: tensor<4x4xf32>) -> tensor<4x4xf8E4M3FN> {
  // expected-error@+1 {{Q6: f8E8M0FNU scales are rounded to powers of two}}
  %c, %s = graph.dynamic_quantize %x {blocks = array<i64: 1, 32>} : (tensor<4x4xf32>) -> (tensor<4x4xf8E4M3FN>, tensor<4x1xf8E8M0FNU>)
  return %c : tensor<4x4xf8E4M3FN>
}
// -----
// expected-error@+1 {{D1: min is at least 0, multiple_of at least 1}}
graph.dim @batch {multiple_of = 0 : i64}
// -----
// expected-error@+1 {{D2: max is at least min}}
graph.dim @batch {min = 4 : i64, max = 2 : i64}
// -----
// expected-error@+1 {{D3: has a static tensor type}}
graph.weight @w : tensor<?x4xf32> {source_name = "w"}
// -----
// expected-error@+1 {{D4: has a ranked tensor type}}
graph.state @s : tensor<*xf32>
// -----
func.func @d5() -> tensor<4xf32> {
  // expected-error@+1 {{D5: names @w, which is not declared}}
  %0 = graph.get_weight @w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
graph.weight @w : tensor<4xf16> {source_name = "w"}
func.func @d6() -> tensor<4xf32> {
  // expected-error@+1 {{D6: must have the symbol's element type}}
  %0 = graph.get_weight @w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @f1(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{F1: both regions yield as many values as there are results}}
  %0 = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
    graph.yield %x : tensor<4xf32>
  } else {
    graph.yield
  }
  return %0 : tensor<4xf32>
}
// -----
func.func @f2(%c: tensor<i8>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{F2: the condition is i1}}
  %0 = graph.if %c : (tensor<i8>) -> tensor<4xf32> {
    graph.yield %x : tensor<4xf32>
  } else {
    graph.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
// -----
func.func @f3(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{F3: `before` yields an i1 and one value per result}}
  %0 = graph.while %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
// -----
func.func @f4(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{F4: `before` takes the inits, `body` takes what `before` yields}}
  %0 = graph.while %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    graph.yield %c, %a : tensor<i1>, tensor<4xf32>
  } do {
    graph.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
// -----
func.func @f5(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{F5: `body` yields the next carried values}}
  %0 = graph.while %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    graph.yield %c, %a : tensor<i1>, tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    graph.yield
  }
  return %0 : tensor<4xf32>
}
