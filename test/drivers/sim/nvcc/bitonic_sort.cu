// A block sorts its keys in place (Batcher, 1968).
extern "C" __global__ void bitonic_sort(float *keys, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  s[t] = keys[t];
  __syncthreads();
  for (int size = 2; size <= n; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      int partner = t ^ step;
      if (partner > t && (s[t] > s[partner]) == ((t & size) == 0)) {
        float swap = s[t];
        s[t] = s[partner];
        s[partner] = swap;
      }
      __syncthreads();
    }
  keys[t] = s[t];
}
