// A block sorts 256 unsigned keys bit by bit: ranks by ballots in warps and sums over warps.
extern "C" __global__ void radix_sort(const unsigned *in, unsigned *out) {
  __shared__ unsigned keys[256];
  __shared__ int zeros[8];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  keys[t] = in[t];
  for (int bit = 0; bit < 32; ++bit) {
    __syncthreads();
    unsigned key = keys[t];
    bool one = key >> bit & 1;
    unsigned mask = __ballot_sync(0xffffffffu, !one);
    if (lane == 0)
      zeros[warp] = __popc(mask);
    __syncthreads();
    int before = __popc(mask & ((1u << lane) - 1)), all = 0;
    for (int w = 0; w < 8; ++w) {
      before += w < warp ? zeros[w] : 0;
      all += zeros[w];
    }
    keys[one ? all + t - before : before] = key;
  }
  __syncthreads();
  out[t] = keys[t];
}
