// C = A * B, tiles of 16x16 in two stages filled by cp.async.
#include <cuda_pipeline.h>
extern "C" __global__ void cp_async_gemm(const float *a, const float *b, float *c, int n, int k) {
  __shared__ float tile_a[2][16][16], tile_b[2][16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x,
      tiles = k / 16;
  auto load = [&](int t) {
    __pipeline_memcpy_async(&tile_a[t % 2][y][x], &a[row * k + t * 16 + x], 4);
    __pipeline_memcpy_async(&tile_b[t % 2][y][x], &b[(t * 16 + y) * n + column], 4);
    __pipeline_commit();
  };
  load(0);
  float sum = 0;
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles) {
      load(t + 1);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    for (int q = 0; q < 16; ++q)
      sum += tile_a[t % 2][y][q] * tile_b[t % 2][q][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
