// z = x + y, one thread an element, the grid ragged at its end.
extern "C" __global__ void vector_add(const float *x, const float *y, float *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    z[i] = x[i] + y[i];
}
