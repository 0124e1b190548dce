// A lock that the lanes of a warp take one after another.
extern "C" __global__ void spin_lock(int *lock, volatile int *counter) {
  for (bool done = false; !done;)
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *counter = *counter + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
}
