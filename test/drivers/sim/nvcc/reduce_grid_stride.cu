// Sum in a grid-stride loop, a tree in shared memory per block, one 64-bit atomic a block.
extern "C" __global__ void reduce_grid_stride(const int *x, unsigned long long *sum, int n) {
  __shared__ long long partial[128];
  long long mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine += x[i];
  partial[threadIdx.x] = mine;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    atomicAdd(sum, (unsigned long long)partial[0]);
}
