// 1-D convolution whose filter lies in constant memory, with zeros beyond the ends.
__constant__ float filter[9] = {0.5f, -1.0f, 2.0f, 0.25f, 3.0f, -0.125f, 1.5f, 4.0f, -2.0f};
extern "C" __global__ void convolve_constant(const float *x, float *y, int n, int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int k = 0; k < taps; ++k) {
    int at = i + k - taps / 2;
    if (at >= 0 && at < n)
      sum += filter[k] * x[at];
  }
  y[i] = sum;
}
