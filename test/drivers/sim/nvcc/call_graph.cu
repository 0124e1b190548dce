// Functions that are not inlined: a structure by value, a result in a structure, calls in a divergent loop.
struct Pair {
  int low;
  long long high;
  short tag;
};
__device__ __noinline__ int steps_of_collatz(int n) {
  int steps = 0;
  for (; n != 1; ++steps)
    n = n & 1 ? 3 * n + 1 : n / 2;
  return steps;
}
__device__ __noinline__ Pair combine(Pair a, Pair b) {
  return Pair{a.low + b.low, a.high * 3 - b.high, short(a.tag ^ b.tag)};
}
__device__ __noinline__ Pair fold(int n) {
  Pair sum{0, 1, 0};
  for (int i = 1; i <= n % 7; ++i)
    sum = combine(sum, Pair{steps_of_collatz(n + i), i, short(n)});
  return sum;
}
extern "C" __global__ void call_graph(int *low, long long *high, short *tag) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Pair p = fold(i);
  low[i] = p.low, high[i] = p.high, tag[i] = p.tag;
}
