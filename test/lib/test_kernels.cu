//===- test_kernels.cu - the kernels of test_kernels.c for GPUs -------------===//
// One block is one workgroup; its parameters are bindings, constants, scratch. test_kernels.ptx is made of this by
//   nvcc -ptx -arch=sm_89 -o test_kernels.ptx test_kernels.cu
#include <cstdint>

#define KERNEL(name, ...) extern "C" __global__ void name(__VA_ARGS__, uint8_t *scratch)

KERNEL(iota_i64, int64_t *out) { out[blockIdx.x] = blockIdx.x; }

KERNEL(add_f32, const float *lhs, const float *rhs, float *out, int64_t n) {
  int64_t first = blockIdx.x * int64_t{16}, last = first + 16 < n ? first + 16 : n;
  for (int64_t i = first; i < last; ++i)
    out[i] = lhs[i] + rhs[i];
}

KERNEL(matmul_f32, const float *lhs, const float *rhs, float *out, int64_t, int64_t n, int64_t k) {
  int64_t i = blockIdx.x;
  for (int64_t j = 0; j < n; ++j) {
    float sum = 0;
    for (int64_t p = 0; p < k; ++p)
      sum = __fadd_rn(sum, __fmul_rn(lhs[i * k + p], rhs[p * n + j]));
    out[i * n + j] = sum;
  }
}

KERNEL(scratch_i64, int64_t *out, int64_t bytes) {
  volatile uint8_t *own = scratch + blockIdx.x * bytes;
  int64_t same = 0;
  for (int64_t p = 0; p < bytes; ++p)
    own[p] = uint8_t(blockIdx.x);
  for (int64_t p = 0; p < bytes; ++p)
    same += own[p] == uint8_t(blockIdx.x);
  out[blockIdx.x] = reinterpret_cast<uintptr_t>(scratch) % 64 ? -1 : same;
}

KERNEL(spin_i64, int64_t *out, int64_t limit) {
  volatile int64_t steps = 0;
  while (steps < limit)
    steps = steps + 1;
  out[blockIdx.x] += 1;
}

KERNEL(nonzero_f32, const float *in, int64_t *indices, int64_t *count, int64_t elements) {
  int64_t n = 0;
  for (int64_t i = 0; i < elements; ++i)
    if (in[i] != 0)
      indices[n++] = i;
  count[0] = n;
}

KERNEL(double_i64, const int64_t *in, int64_t *out) { out[blockIdx.x] = 2 * in[blockIdx.x]; }

KERNEL(accumulate_i64, int64_t *sum, const int64_t *more) { *sum += *more; }

KERNEL(less_i64, const int64_t *x, const int64_t *y, uint8_t *out) { *out = *x < *y; }

extern "C" __global__ void nothing(uint8_t *) {}
