// Five-point stencil: a 16x16 tile with a halo of one in shared memory, clamped at the borders.
extern "C" __global__ void stencil_halo(const float *in, float *out, int rows, int columns) {
  __shared__ float tile[18][18];
  int x0 = blockIdx.x * 16 - 1, y0 = blockIdx.y * 16 - 1;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {
    int y = min(max(y0 + i / 18, 0), rows - 1), x = min(max(x0 + i % 18, 0), columns - 1);
    tile[i / 18][i % 18] = in[y * columns + x];
  }
  __syncthreads();
  int x = threadIdx.x + 1, y = threadIdx.y + 1;
  if (y0 + y < rows && x0 + x < columns)
    out[(y0 + y) * columns + x0 + x] =
        tile[y][x] * 4 - tile[y - 1][x] - tile[y + 1][x] - tile[y][x - 1] - tile[y][x + 1];
}
