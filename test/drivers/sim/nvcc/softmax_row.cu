// Softmax of one row a block.
__device__ float warp_max(float v) {
  for (int d = 16; d > 0; d /= 2)
    v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
}
__device__ float warp_sum(float v) {
  for (int d = 16; d > 0; d /= 2)
    v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}
extern "C" __global__ void softmax_row(const float *x, float *y, int n) {
  __shared__ float part[4];
  const float *in = x + blockIdx.x * n;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    most = fmaxf(most, in[i]);
  most = warp_max(most);
  if (lane == 0)
    part[warp] = most;
  __syncthreads();
  most = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += expf(in[i] - most);
  sum = warp_sum(sum);
  if (lane == 0)
    part[warp] = sum;
  __syncthreads();
  sum = part[0] + part[1] + part[2] + part[3];
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[blockIdx.x * n + i] = expf(in[i] - most) / sum;
}
