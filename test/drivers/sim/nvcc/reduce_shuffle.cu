// Largest element and its index by warp shuffles, then by the first warp.
extern "C" __global__ void reduce_shuffle(const float *x, float *value, int *index, int n) {
  __shared__ float values[32];
  __shared__ int indices[32];
  float best = -INFINITY;
  int where = -1;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    if (x[i] > best)
      best = x[i], where = i;
  auto reduce = [&] {
    for (int step = 16; step > 0; step /= 2) {
      float other = __shfl_down_sync(0xffffffffu, best, step);
      int its = __shfl_down_sync(0xffffffffu, where, step);
      if (other > best || (other == best && its < where))
        best = other, where = its;
    }
  };
  reduce();
  if (threadIdx.x % 32 == 0)
    values[threadIdx.x / 32] = best, indices[threadIdx.x / 32] = where;
  __syncthreads();
  if (threadIdx.x < 32) {
    bool there = threadIdx.x < blockDim.x / 32;
    best = there ? values[threadIdx.x] : -INFINITY;
    where = there ? indices[threadIdx.x] : -1;
    reduce();
    if (threadIdx.x == 0)
      *value = best, *index = where;
  }
}
