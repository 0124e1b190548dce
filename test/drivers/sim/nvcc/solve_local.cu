// Solves A x = b for 4x4 matrices, one a thread, by Gauss with pivots in arrays of local memory.
extern "C" __global__ void solve_local(const double *as, const double *bs, double *xs, int count) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count)
    return;
  double a[4][4], b[4];
  int order[4] = {0, 1, 2, 3};
  for (int i = 0; i < 16; ++i)
    a[i / 4][i % 4] = as[t * 16 + i];
  for (int i = 0; i < 4; ++i)
    b[i] = bs[t * 4 + i];
#pragma unroll 1
  for (int c = 0; c < 4; ++c) {
    int best = c;
    for (int r = c + 1; r < 4; ++r)
      if (fabs(a[order[r]][c]) > fabs(a[order[best]][c]))
        best = r;
    int swap = order[c];
    order[c] = order[best];
    order[best] = swap;
    for (int r = c + 1; r < 4; ++r) {
      double f = a[order[r]][c] / a[order[c]][c];
      for (int k = c; k < 4; ++k)
        a[order[r]][k] -= f * a[order[c]][k];
      b[order[r]] -= f * b[order[c]];
    }
  }
#pragma unroll 1
  for (int c = 3; c >= 0; --c) {
    double sum = b[order[c]];
    for (int k = c + 1; k < 4; ++k)
      sum -= a[order[c]][k] * xs[t * 4 + k];
    xs[t * 4 + c] = sum / a[order[c]][c];
  }
}
