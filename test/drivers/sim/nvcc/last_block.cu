// Each block sums its part; the last one to finish, by a ticket, sums the parts.
__device__ unsigned tickets;
extern "C" __global__ void last_block(const int *x, int *parts, int *sum, int n) {
  __shared__ int warps[8];
  __shared__ bool is_last;
  int mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine += x[i];
  for (int d = 16; d > 0; d /= 2)
    mine += __shfl_xor_sync(0xffffffffu, mine, d);
  if (threadIdx.x % 32 == 0)
    warps[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    int part = 0;
    for (int w = 0; w < blockDim.x / 32; ++w)
      part += warps[w];
    parts[blockIdx.x] = part;
    __threadfence();
    is_last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    int all = 0;
    for (int b = 0; b < gridDim.x; ++b)
      all += parts[b];
    *sum = all;
  }
}
