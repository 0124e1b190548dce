// C = 2 * A * B^T in half precision with float sums, one warp a 16x16 tile.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void wmma_gemm(const half *a, const half *b, float *c, int n, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> tile_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> tile_b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int p = 0; p < k; p += 16) {
    wmma::load_matrix_sync(tile_a, a + blockIdx.y * 16 * k + p, k);
    wmma::load_matrix_sync(tile_b, b + blockIdx.x * 16 * k + p, k);
    wmma::mma_sync(sum, tile_a, tile_b, sum);
  }
  for (int i = 0; i < sum.num_elements; ++i)
    sum.x[i] *= 2;
  wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, wmma::mem_row_major);
}
