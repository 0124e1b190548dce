// y = a * x + y in place by 16-byte accesses, with a scalar tail.
extern "C" __global__ void saxpy(float a, const float *__restrict__ x, float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    float4 u = reinterpret_cast<const float4 *>(x)[i], v = reinterpret_cast<float4 *>(y)[i];
    v.x += a * u.x, v.y += a * u.y, v.z += a * u.z, v.w += a * u.w;
    reinterpret_cast<float4 *>(y)[i] = v;
  } else if (i < n / 4 + n % 4) {
    int at = n / 4 * 4 + i - n / 4;
    y[at] += a * x[at];
  }
}
