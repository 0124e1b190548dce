// RUN: quaver-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{T1: 1 block sizes for 2 dimensions}}
func.func private @blocks(!scale.tensor<4x8xf8E4M3FN, scales = 4xf32>)

// -----
// expected-error @+1 {{T2: codes are f8E4M3FN or f8E5M2, not 'bf16'}}
func.func private @codes(!scale.tensor<4x8xbf16, scales = 4x4xf32>)

// -----
// expected-error @+1 {{T3: scales are f32 or f8E8M0FNU, not 'f64'}}
func.func private @scales(!scale.tensor<4x8xf8E4M3FN, scales = 4x4xf64>)

// -----
func.func @integers(%x: tensor<4x8xi32>) {
  // expected-error @+1 {{Q1: takes f32, bf16 or f16}}
  %0 = scale.quantize %x : (tensor<4x8xi32>) -> !scale.tensor<4x8xf8E4M3FN, scales = 1x8xf32>
  return
}

// -----
func.func @shape(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{Q2: the result has the input's shape}}
  %0 = scale.quantize %x : (tensor<4x8xf32>) -> !scale.tensor<8x4xf8E4M3FN, scales = 1x8xf32>
  return
}

// -----
func.func @rounding(%x: tensor<4x32xf32>) {
  // expected-error @+1 {{Q3: f8E8M0FNU scales are rounded to powers of two}}
  %0 = scale.quantize %x : (tensor<4x32xf32>) -> !scale.tensor<4x32xf8E4M3FN, scales = 1x32xf8E8M0FNU>
  return
}

// -----
func.func @codes_of_pair(%c: tensor<256x256xf8E5M2>, %s: tensor<2x2xf32>) {
  // expected-error @+1 {{P1: codes of !scale.tensor<256x256xf8E4M3FN, scales = 128x128xf32> are tensor<256x256xf8E4M3FN>, not tensor<256x256xf8E5M2>}}
  %0 = scale.pack %c, %s : (tensor<256x256xf8E5M2>, tensor<2x2xf32>) -> !scale.tensor<256x256xf8E4M3FN, scales = 128x128xf32>
  return
}

// -----
func.func @scales_of_pair(%c: tensor<256x256xf8E4M3FN>, %s: tensor<256x2xf32>) {
  // expected-error @+1 {{P2: scales of !scale.tensor<256x256xf8E4M3FN, scales = 128x128xf32> are tensor<2x2xf32>, not tensor<256x2xf32>}}
  %0 = scale.pack %c, %s : (tensor<256x256xf8E4M3FN>, tensor<256x2xf32>) -> !scale.tensor<256x256xf8E4M3FN, scales = 128x128xf32>
  return
}

// -----
func.func @floats_only(%x: tensor<4x8xbf16>, %w: tensor<8x4xbf16>) {
  // expected-error @+1 {{C1: takes a scaled tensor on one side at least}}
  %0 = scale.matmul %x, %w {precision = #scale.precision<lhs = bf16, rhs = bf16, accumulate = f32, out = f32, recipe = "">} : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xf32>
  return
}

// -----
func.func @contracted(%x: tensor<4x9xbf16>, %w: !scale.tensor<8x4xf8E4M3FN, scales = 128x128xf32>) {
  // expected-error @+1 {{C2: shapes do not multiply}}
  %0 = scale.matmul %x, %w {precision = #scale.precision<lhs = bf16, rhs = f8E4M3FN, accumulate = f32, out = f32, recipe = "128x128">}
      : (tensor<4x9xbf16>, !scale.tensor<8x4xf8E4M3FN, scales = 128x128xf32>) -> tensor<4x4xf32>
  return
}

// -----
func.func @blocks_differ(%x: !scale.tensor<4x256xf8E4M3FN, scales = 1x64xf32>, %w: !scale.tensor<256x4xf8E4M3FN, scales = 128x128xf32>) {
  // expected-error @+1 {{C3: the blocks along the contracted dimension differ: scales = 1x64xf32 on the left, 128x128xf32 on the right}}
  %0 = scale.matmul %x, %w {precision = #scale.precision<lhs = f8E4M3FN, rhs = f8E4M3FN, accumulate = f32, out = f32, recipe = "128x128">}
      : (!scale.tensor<4x256xf8E4M3FN, scales = 1x64xf32>, !scale.tensor<256x4xf8E4M3FN, scales = 128x128xf32>) -> tensor<4x4xf32>
  return
}

// -----
func.func @said_otherwise(%x: tensor<4x8xbf16>, %w: !scale.tensor<8x4xf8E4M3FN, scales = 128x128xf32>) {
  // expected-error @+1 {{C4: the precision says lhs = f32, rhs = f8E4M3FN}}
  %0 = scale.matmul %x, %w {precision = #scale.precision<lhs = f32, rhs = f8E4M3FN, accumulate = f32, out = f32, recipe = "128x128">}
      : (tensor<4x8xbf16>, !scale.tensor<8x4xf8E4M3FN, scales = 128x128xf32>) -> tensor<4x4xf32>
  return
}

// -----
func.func @sums(%x: tensor<4x8xbf16>, %w: !scale.tensor<8x4xf8E4M3FN, scales = 128x128xf32>) {
  // expected-error @+1 {{C5: sums are f32, not bf16}}
  %0 = scale.matmul %x, %w {precision = #scale.precision<lhs = bf16, rhs = f8E4M3FN, accumulate = bf16, out = f32, recipe = "128x128">}
      : (tensor<4x8xbf16>, !scale.tensor<8x4xf8E4M3FN, scales = 128x128xf32>) -> tensor<4x4xf32>
  return
}

// -----
func.func @windows(%x: !scale.tensor<1x8x16x16xf8E4M3FN, scales = 1x8x4x4xf32>, %w: tensor<4x8x3x3xbf16>) {
  // expected-error @+1 {{C6: windows cross blocks of the input's spatial dimensions}}
  %0 = scale.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
      precision = #scale.precision<lhs = f8E4M3FN, rhs = bf16, accumulate = f32, out = f32, recipe = "128x128">}
      : (!scale.tensor<1x8x16x16xf8E4M3FN, scales = 1x8x4x4xf32>, tensor<4x8x3x3xbf16>) -> tensor<1x4x16x16xf32>
  return
}

// -----
func.func @other_scales(%w: !scale.tensor<8x4xf8E4M3FN, scales = 4x4xf32>) {
  // expected-error @+1 {{M1: input and result must have one element type and one type of scales}}
  %0 = scale.transpose %w {permutation = array<i64: 1, 0>} : (!scale.tensor<8x4xf8E4M3FN, scales = 4x4xf32>) -> !scale.tensor<4x8xf8E4M3FN, scales = 4x4xf8E8M0FNU>
  return
}

// -----
func.func @blocks_stay_behind(%w: !scale.tensor<8x4xf8E4M3FN, scales = 8x2xf32>) {
  // expected-error @+1 {{M2: sizes and blocks move together}}
  %0 = scale.transpose %w {permutation = array<i64: 1, 0>} : (!scale.tensor<8x4xf8E4M3FN, scales = 8x2xf32>) -> !scale.tensor<4x8xf8E4M3FN, scales = 8x2xf32>
  return
}

// -----
func.func @reshape_blocks(%w: !scale.tensor<4x256xf8E4M3FN, scales = 1x128xf32>, %s: tensor<2xi64>) {
  // expected-error @+1 {{M3: only leading dimensions of block 1 are reshaped}}
  %0 = scale.reshape %w, %s : (!scale.tensor<4x256xf8E4M3FN, scales = 1x128xf32>, tensor<2xi64>) -> !scale.tensor<8x128xf8E4M3FN, scales = 1x128xf32>
  return
}

// -----
func.func @outside(%w: !scale.tensor<4x256xf8E4M3FN, scales = 1x128xf32>) {
  // expected-error @+1 {{M4: offset 128 and size 200 do not lie in dimension 1}}
  %0 = scale.slice %w {offsets = array<i64: 0, 128>, sizes = array<i64: -1, 200>} : (!scale.tensor<4x256xf8E4M3FN, scales = 1x128xf32>) -> !scale.tensor<4x200xf8E4M3FN, scales = 1x128xf32>
  return
}

// -----
func.func @inside_a_block(%w: !scale.tensor<4x256xf8E4M3FN, scales = 1x128xf32>) {
  // expected-error @+1 {{M5: offset 64 is not on a border of the blocks of 128 along dimension 1}}
  %0 = scale.slice %w {offsets = array<i64: 0, 64>, sizes = array<i64: -1, 128>} : (!scale.tensor<4x256xf8E4M3FN, scales = 1x128xf32>) -> !scale.tensor<4x128xf8E4M3FN, scales = 1x128xf32>
  return
}
