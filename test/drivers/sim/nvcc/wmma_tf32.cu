// C = A * B^T in TF32: operands rounded by __float_to_tf32.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void wmma_tf32(const float *a, const float *b, float *c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> tile_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> tile_b;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(tile_a, a, 8);
  wmma::load_matrix_sync(tile_b, b, 8);
  for (int i = 0; i < tile_a.num_elements; ++i)
    tile_a.x[i] = wmma::__float_to_tf32(tile_a.x[i]);
  for (int i = 0; i < tile_b.num_elements; ++i)
    tile_b.x[i] = wmma::__float_to_tf32(tile_b.x[i]);
  wmma::mma_sync(sum, tile_a, tile_b, sum);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
