// Byte permutation, funnel shifts, four-way dot products, absolute differences, averages, carries.
extern "C" __global__ void bit_intrinsics(const unsigned *a, const unsigned *b, unsigned *out) {
  int i = threadIdx.x;
  unsigned x = a[i], y = b[i], *to = out + i * 12;
  to[0] = __byte_perm(x, y, 0x5410 + i), to[1] = __funnelshift_l(x, y, i),
  to[2] = __funnelshift_rc(x, y, i + 5);
  to[3] = __dp4a(int(x), int(y), i), to[4] = __dp4a(x, y, 7u), to[5] = __sad(int(x), int(y), i);
  to[6] = __brev(x), to[7] = __clz(x), to[8] = __uhadd(x, y), to[9] = __mulhi(int(x), int(y));
  unsigned long long wide = (unsigned long long)x * y + (((unsigned long long)y << 32) | x);
  to[10] = unsigned(wide), to[11] = unsigned(wide >> 32);
}
