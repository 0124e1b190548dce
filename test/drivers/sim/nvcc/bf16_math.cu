// bfloat16: products, sums, fused, conversion from and to float.
#include <cuda_bf16.h>
extern "C" __global__ void bf16_math(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *out,
                                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  __nv_bfloat16 x = a[i], y = b[i], *to = out + i * 4;
  to[0] = __hadd(x, y), to[1] = __hmul(x, y), to[2] = __hfma(x, y, y);
  to[3] = __float2bfloat16_rn(__bfloat162float(x) * 2.7f);
}
