// A block copies a tile together with cooperative_groups::memcpy_async and reverses it.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void memcpy_async_group(const int *x, int *out) {
  __shared__ alignas(16) int tile[256];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, x + blockIdx.x * 256, sizeof(int) * 256);
  cg::wait(block);
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    out[blockIdx.x * 256 + i] = tile[255 - i];
}
