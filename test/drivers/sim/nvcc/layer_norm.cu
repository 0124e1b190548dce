// y = (x - mean) / sqrt(variance + epsilon) * gain + bias; one warp a row, several warps a block.
extern "C" __global__ void layer_norm(const float *x, const float *gain, const float *bias, float *y,
                                      int rows, int n, float epsilon) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows)
    return;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < n; i += 32)
    sum += x[row * n + i];
  for (int d = 16; d > 0; d /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, d);
  float mean = sum / n;
  for (int i = threadIdx.x; i < n; i += 32)
    squares += (x[row * n + i] - mean) * (x[row * n + i] - mean);
  for (int d = 16; d > 0; d /= 2)
    squares += __shfl_xor_sync(0xffffffffu, squares, d);
  float scale = rsqrtf(squares / n + epsilon);
  for (int i = threadIdx.x; i < n; i += 32)
    y[row * n + i] = (x[row * n + i] - mean) * scale * gain[i] + bias[i];
}
