// redux.sync in every operation that C++ has, on a part of the warp.
extern "C" __global__ void warp_reduce_integers(const int *x, int *out) {
  int lane = threadIdx.x % 32, v = x[threadIdx.x];
  unsigned mask = lane < 20 ? 0x000fffffu : 0xfff00000u, u = v;
  int *to = out + threadIdx.x * 6;
  if (lane < 20) {
    to[0] = __reduce_add_sync(mask, v), to[1] = __reduce_min_sync(mask, v),
    to[2] = __reduce_max_sync(mask, v);
    to[3] = __reduce_and_sync(mask, u), to[4] = __reduce_or_sync(mask, u), to[5] = __reduce_xor_sync(mask, u);
  } else {
    to[0] = __reduce_add_sync(mask, u), to[1] = __reduce_min_sync(mask, u),
    to[2] = __reduce_max_sync(mask, u);
    to[3] = __reduce_and_sync(mask, u), to[4] = __reduce_or_sync(mask, u), to[5] = __reduce_xor_sync(mask, u);
  }
}
