// Atomics made of compare-and-swap: the product of floats, the largest double; and every native kind.
extern "C" __global__ void cas_loop(const double *x, double *largest, unsigned *product, int *kinds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  auto *bits = reinterpret_cast<unsigned long long *>(largest);
  unsigned long long seen = *(volatile unsigned long long *)bits;
  while (__longlong_as_double(seen) < x[i]) {
    unsigned long long before = atomicCAS(bits, seen, __double_as_longlong(x[i]));
    if (before == seen)
      break;
    seen = before;
  }
  unsigned old = atomicAdd(product, 0u), assumed;
  do {
    assumed = old;
    old = atomicCAS(product, assumed, assumed * 3u);
  } while (old != assumed);
  atomicMin(&kinds[0], i - 20), atomicMax(&kinds[1], i), atomicXor(&kinds[2], 1 << i % 32);
  atomicOr(&kinds[3], 1 << i % 31), atomicAnd(&kinds[4], ~(1 << i % 30)), atomicSub(&kinds[5], i);
  atomicInc((unsigned *)&kinds[6], 36u), atomicDec((unsigned *)&kinds[7], 50u);
}
