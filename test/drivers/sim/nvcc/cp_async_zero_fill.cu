// 16-byte asynchronous copies of which the last bytes are zeros.
#include <cuda_pipeline.h>
extern "C" __global__ void cp_async_zero_fill(const float4 *x, float4 *out) {
  __shared__ float4 s[32];
  __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 16, threadIdx.x % 2 ? 8 : 12);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = s[threadIdx.x];
}
