// The threads of a branch take places of an output with one atomic.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void coalesced_groups(const int *x, int *out, int *count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 500) {
    auto active = cg::coalesced_threads();
    int base = 0;
    if (active.thread_rank() == 0)
      base = atomicAdd(count, active.size());
    out[active.shfl(base, 0) + active.thread_rank()] = x[i];
  }
}
