// C = A * B + 1 of signed bytes, 32x8x16, C stored by columns.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void wmma_int8(const signed char *a, const signed char *b, int *c) {
  wmma::fragment<wmma::matrix_a, 32, 8, 16, signed char, wmma::row_major> tile_a;
  wmma::fragment<wmma::matrix_b, 32, 8, 16, signed char, wmma::row_major> tile_b;
  wmma::fragment<wmma::accumulator, 32, 8, 16, int> sum;
  wmma::fill_fragment(sum, 1);
  wmma::load_matrix_sync(tile_a, a, 16);
  wmma::load_matrix_sync(tile_b, b, 8);
  wmma::mma_sync(sum, tile_a, tile_b, sum);
  wmma::store_matrix_sync(c, sum, 32, wmma::mem_col_major);
}
