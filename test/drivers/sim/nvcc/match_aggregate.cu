// Counts keys with one atomic for the lanes of a warp that have the same key; __match_all and __any, __all
// too.
extern "C" __global__ void match_aggregate(const int *keys, int *counts, int *flags) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, key = keys[i], same = 0;
  unsigned peers = __match_any_sync(0xffffffffu, key);
  if (threadIdx.x % 32 == __ffs(peers) - 1)
    atomicAdd(&counts[key], __popc(peers));
  unsigned all = __match_all_sync(0xffffffffu, key / 64, &same);
  flags[i] = (all == 0xffffffffu) + 2 * same + 4 * __any_sync(0xffffffffu, key == 3) +
             8 * __all_sync(0xffffffffu, key > 0);
}
