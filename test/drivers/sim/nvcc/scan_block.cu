// Inclusive scan of one block in dynamic shared memory (Hillis and Steele, 1986).
extern "C" __global__ void scan_block(const int *x, int *out) {
  extern __shared__ int s[];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    int left = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += left;
    __syncthreads();
  }
  out[t] = s[t];
}
