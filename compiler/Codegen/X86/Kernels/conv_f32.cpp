// A 2-D convolution (cross-correlation) in f32; image and filters f32, bf16 or f16, widened exactly. Bound:
// f32 multiply-add peak where there are many filters and rows of 32 positions or more; else the gathering of
// windows, about 40 cycles for 32 values.
#include "compiler/Codegen/X86/Kernels/conv.h"

namespace quaver::x86::QUAVER_SET_NAMESPACE {
using F32Conv = GemmKind<Fma, WordPanel, false, Scaling::None>;
}

QUAVER_KERNEL(conv_f32)(QUAVER_CONV_PARAMETERS) {
  using namespace quaver::x86::QUAVER_SET_NAMESPACE;
  convolve<F32Conv>(x, x_type, filter, filter_type, groups, channels, height, width, kernel_height,
                    kernel_width, stride_y, stride_x, pad_y, pad_x, dilation_y, dilation_x, out_height,
                    out_width, m, begin, end, scratch, bindings, constants, epilogue);
}
