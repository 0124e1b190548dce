// Keeps the positive elements in order, one warp.
extern "C" __global__ void compact_ballot(const int *x, int *out, int *count, int n) {
  int lane = threadIdx.x, at = 0;
  for (int base = 0; base < n; base += 32) {
    int v = base + lane < n ? x[base + lane] : 0;
    unsigned kept = __ballot_sync(0xffffffffu, v > 0);
    if (v > 0)
      out[at + __popc(kept & ((1u << lane) - 1))] = v;
    at += __popc(kept);
  }
  if (lane == 0)
    *count = at;
}
