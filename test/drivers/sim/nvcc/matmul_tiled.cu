// C = A * B by 16x16 tiles in shared memory, ragged edges filled with zeros.
extern "C" __global__ void matmul_tiled(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int p = 0; p < k; p += 16) {
    tile_a[y][x] = row < m && p + x < k ? a[row * k + p + x] : 0;
    tile_b[y][x] = p + y < k && column < n ? b[(p + y) * n + column] : 0;
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 16; ++q)
      sum += tile_a[y][q] * tile_b[q][x];
    __syncthreads();
  }
  if (row < m && column < n)
    c[row * n + column] = sum;
}
