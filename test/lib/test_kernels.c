//===- test_kernels.c - kernels for tests of the runtime --------------------===//
// Freestanding, of the host kernel ABI (runtime/hal/executable.h). Each says its bindings b, constants c and workgroup.
#include <stdint.h>

#define KERNEL(name)                                                                                         \
  __attribute__((visibility("default"))) void name(void *const *b, const int64_t *c, int64_t begin,          \
                                                   int64_t end, void *scratch)
#define UNUSED (void)b, (void)c, (void)begin, (void)end, (void)scratch

// b0[i] = i as i64. A workgroup is one element.
KERNEL(iota_i64) {
  UNUSED;
  int64_t *out = b[0];
  for (int64_t i = begin; i < end; ++i)
    out[i] = i;
}

// b2 = b0 + b1, f32, c0 elements. A workgroup is 16 elements.
KERNEL(add_f32) {
  UNUSED;
  const float *lhs = b[0], *rhs = b[1];
  float *out = b[2];
  int64_t last = end * 16 < c[0] ? end * 16 : c[0];
  for (int64_t i = begin * 16; i < last; ++i)
    out[i] = lhs[i] + rhs[i];
}

// b2 = b0 x b1, f32, row-major; c = M, N, K. A workgroup is one row.
KERNEL(matmul_f32) {
  UNUSED;
  const float *lhs = b[0], *rhs = b[1];
  float *out = b[2];
  int64_t n = c[1], k = c[2];
  for (int64_t i = begin; i < end; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += lhs[i * k + p] * rhs[p * n + j];
      out[i * n + j] = sum;
    }
}

// Fills c0 bytes of scratch with the workgroup's number, then b0[i] = how many of them still hold it, i64.
// Wrong when two calls share scratch. A workgroup is one element.
KERNEL(scratch_i64) {
  UNUSED;
  volatile uint8_t *bytes = scratch;
  int64_t *out = b[0];
  for (int64_t i = begin; i < end; ++i) {
    for (int64_t p = 0; p < c[0]; ++p)
      bytes[p] = (uint8_t)i;
    int64_t same = 0;
    for (int64_t p = 0; p < c[0]; ++p)
      same += bytes[p] == (uint8_t)i;
    out[i] = ((uintptr_t)scratch % 64) ? -1 : same;
  }
}

// Spins for c0 steps in each workgroup, then b0[i] += 1, i64.
KERNEL(spin_i64) {
  UNUSED;
  int64_t *out = b[0];
  for (int64_t i = begin; i < end; ++i) {
    volatile int64_t steps = 0;
    while (steps < c[0])
      ++steps;
    out[i] += 1;
  }
}

// b2[0] = number of nonzero elements of b0 (f32, c0 elements), b1 = their indices, i64. One workgroup.
KERNEL(nonzero_f32) {
  UNUSED;
  const float *in = b[0];
  int64_t *indices = b[1], *count = b[2];
  int64_t n = 0;
  for (int64_t i = 0; i < c[0]; ++i)
    if (in[i] != 0)
      indices[n++] = i;
  count[0] = n;
}

// b1[i] = 2 * b0[i], i64. A workgroup is one element.
KERNEL(double_i64) {
  UNUSED;
  const int64_t *in = b[0];
  int64_t *out = b[1];
  for (int64_t i = begin; i < end; ++i)
    out[i] = 2 * in[i];
}

// b0[0] += b1[0], i64. One workgroup.
KERNEL(accumulate_i64) {
  UNUSED;
  *(int64_t *)b[0] += *(const int64_t *)b[1];
}

// b2[0] = b0[0] < b1[0], i64 -> bool. One workgroup.
KERNEL(less_i64) {
  UNUSED;
  *(uint8_t *)b[2] = *(const int64_t *)b[0] < *(const int64_t *)b[1];
}

// Nothing at all: what a launch costs.
KERNEL(nothing) { UNUSED; }
