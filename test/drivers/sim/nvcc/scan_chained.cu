// Inclusive scan over several blocks: each waits for the prefix of the block before it (volatile flag,
// fences).
extern "C" __global__ void scan_chained(const int *x, int *out, volatile int *prefix, volatile int *ready) {
  __shared__ int warp_sums[8];
  __shared__ int before;
  int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * blockDim.x + t;
  int v = x[i];
  for (int d = 1; d < 32; d *= 2) {
    int left = __shfl_up_sync(0xffffffffu, v, d);
    v += lane >= d ? left : 0;
  }
  if (lane == 31)
    warp_sums[warp] = v;
  __syncthreads();
  for (int w = 0; w < warp; ++w)
    v += warp_sums[w];
  if (t == blockDim.x - 1) {
    int sum = 0;
    if (blockIdx.x > 0) {
      while (ready[blockIdx.x - 1] == 0) {
      }
      __threadfence();
      sum = prefix[blockIdx.x - 1];
    }
    before = sum;
    prefix[blockIdx.x] = sum + v;
    __threadfence();
    ready[blockIdx.x] = 1;
  }
  __syncthreads();
  out[i] = v + before;
}
