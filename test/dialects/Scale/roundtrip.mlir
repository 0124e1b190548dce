// RUN: quaver-opt %s | quaver-opt | FileCheck %s
// RUN: quaver-opt %s --emit-bytecode | quaver-opt | FileCheck %s

// CHECK-LABEL: func.func @product
// CHECK-SAME: !scale.tensor<384x1536xf8E4M3FN, scales = 128x128xf32>
func.func @product(%x: tensor<?x?x384xf32>, %w: !scale.tensor<384x1536xf8E4M3FN, scales = 128x128xf32>) -> tensor<?x?x1536xbf16> {
  // CHECK: scale.quantize %arg0 : (tensor<?x?x384xf32>) -> !scale.tensor<?x?x384xf8E4M3FN, scales = 1x1x128xf32>
  %q = scale.quantize %x : (tensor<?x?x384xf32>) -> !scale.tensor<?x?x384xf8E4M3FN, scales = 1x1x128xf32>
  // CHECK: scale.matmul {{.*}} {precision = #scale.precision<lhs = f8E4M3FN, rhs = f8E4M3FN, accumulate = f32, out = bf16, recipe = "128x128">, reason = "why"}
  %y = scale.matmul %q, %w {precision = #scale.precision<lhs = f8E4M3FN, rhs = f8E4M3FN, accumulate = f32, out = bf16, recipe = "128x128">, reason = "why"}
      : (!scale.tensor<?x?x384xf8E4M3FN, scales = 1x1x128xf32>, !scale.tensor<384x1536xf8E4M3FN, scales = 128x128xf32>) -> tensor<?x?x1536xbf16>
  return %y : tensor<?x?x1536xbf16>
}

// CHECK-LABEL: func.func @formats
func.func @formats(%x: tensor<64x96xbf16>) -> tensor<64x96xf32> {
  // CHECK: scale.quantize %arg0 {rounding = #graph.scale_rounding<floor>} : (tensor<64x96xbf16>) -> !scale.tensor<64x96xf8E5M2, scales = 1x32xf8E8M0FNU>
  %m = scale.quantize %x {rounding = #graph.scale_rounding<floor>} : (tensor<64x96xbf16>) -> !scale.tensor<64x96xf8E5M2, scales = 1x32xf8E8M0FNU>
  // CHECK: scale.quantize %arg0 : (tensor<64x96xbf16>) -> !scale.tensor<64x96xf8E4M3FN, scales = ?x?xf32>
  %t = scale.quantize %x : (tensor<64x96xbf16>) -> !scale.tensor<64x96xf8E4M3FN, scales = ?x?xf32>
  // CHECK: scale.unpack {{.*}} -> (tensor<64x96xf8E5M2>, tensor<64x3xf8E8M0FNU>)
  %c, %s = scale.unpack %m : (!scale.tensor<64x96xf8E5M2, scales = 1x32xf8E8M0FNU>) -> (tensor<64x96xf8E5M2>, tensor<64x3xf8E8M0FNU>)
  // CHECK: scale.pack
  %p = scale.pack %c, %s : (tensor<64x96xf8E5M2>, tensor<64x3xf8E8M0FNU>) -> !scale.tensor<64x96xf8E5M2, scales = 1x32xf8E8M0FNU>
  // CHECK: scale.dequantize
  %d = scale.dequantize %p : (!scale.tensor<64x96xf8E5M2, scales = 1x32xf8E8M0FNU>) -> tensor<64x96xf32>
  return %d : tensor<64x96xf32>
}

// CHECK-LABEL: func.func @movement
func.func @movement(%w: !scale.tensor<300x512xf8E4M3FN, scales = 128x128xf32>, %x: !scale.tensor<?x?x384xf8E4M3FN, scales = 1x1x128xf32>, %s: tensor<2xi64>) {
  // CHECK: scale.transpose {{.*}} -> !scale.tensor<512x300xf8E4M3FN, scales = 128x128xf32>
  %0 = scale.transpose %w {permutation = array<i64: 1, 0>} : (!scale.tensor<300x512xf8E4M3FN, scales = 128x128xf32>) -> !scale.tensor<512x300xf8E4M3FN, scales = 128x128xf32>
  // CHECK: scale.slice
  %1 = scale.slice %w {offsets = array<i64: 256, 128>, sizes = array<i64: -1, 200>} : (!scale.tensor<300x512xf8E4M3FN, scales = 128x128xf32>) -> !scale.tensor<44x200xf8E4M3FN, scales = 128x128xf32>
  // CHECK: scale.reshape
  %2 = scale.reshape %x, %s : (!scale.tensor<?x?x384xf8E4M3FN, scales = 1x1x128xf32>, tensor<2xi64>) -> !scale.tensor<?x384xf8E4M3FN, scales = 1x128xf32>
  return
}

// CHECK-LABEL: func.func @convolution
func.func @convolution(%x: tensor<?x160x8x8xbf16>, %w: !scale.tensor<64x160x3x3xf8E4M3FN, scales = 128x128x1x1xf32>) -> tensor<?x64x8x8xf32> {
  // CHECK: scale.conv
  %0 = scale.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64,
      precision = #scale.precision<lhs = bf16, rhs = f8E4M3FN, accumulate = f32, out = f32, recipe = "128x128">}
      : (tensor<?x160x8x8xbf16>, !scale.tensor<64x160x3x3xf8E4M3FN, scales = 128x128x1x1xf32>) -> tensor<?x64x8x8xf32>
  return %0 : tensor<?x64x8x8xf32>
}
