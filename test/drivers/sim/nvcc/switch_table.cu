// A dense switch: a jump table (brx.idx).
extern "C" __global__ void switch_table(const int *x, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = x[i], r;
  switch (v % 11) {
  case 0:
    r = v * 3;
    break;
  case 1:
    r = v - 7;
    break;
  case 2:
    r = v ^ 55;
    [[fallthrough]];
  case 3:
    r = v / 3;
    break;
  case 4:
    r = v << 3;
    break;
  case 5:
    r = v >> 2;
    break;
  case 6:
    r = -v;
    break;
  case 7:
    r = v * v;
    break;
  case 8:
    r = out[i];
    break;
  case 9:
    r = __popc(v);
    break;
  default:
    r = 1234;
  }
  out[i] = r;
}
