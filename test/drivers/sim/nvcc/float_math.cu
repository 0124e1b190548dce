// Functions of single precision as the compiler inlines them, slow argument reduction of cosf included.
extern "C" __global__ void float_math(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = x[i];
  float *to = out + i * 12;
  to[0] = expf(-v * v), to[1] = logf(1 + fabsf(v)), to[2] = powf(fabsf(v), 1.7f), to[3] = tanhf(v);
  to[4] = erff(v), to[5] = v / 3.7f, to[6] = sqrtf(fabsf(v)), to[7] = rsqrtf(fabsf(v) + 1);
  to[8] = fmodf(v, 0.7f), to[9] = roundf(v), to[10] = cosf(300000 * v),
  to[11] = __expf(v) + __fdividef(v, 2.5f);
}
