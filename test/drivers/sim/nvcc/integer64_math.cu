// 64-bit integers: division, remainder, high products, bit counts.
extern "C" __global__ void integer64_math(const long long *a, const long long *b, long long *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long x = a[i], y = b[i], *to = out + i * 8;
  unsigned long long ux = x, uy = y;
  to[0] = x / y, to[1] = x % y, to[2] = __mul64hi(x, y), to[3] = __umul64hi(ux, uy);
  to[4] = ux / uy, to[5] = ux % uy, to[6] = __popcll(x) + 100 * __clzll(y) + 10000 * __ffsll(x),
  to[7] = __brevll(x);
}
