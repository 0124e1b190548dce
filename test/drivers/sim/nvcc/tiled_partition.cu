// Sums in tiles of 8 threads, an exclusive scan of them, meta-group ranks.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tiled_partition(const int *x, int *sums, int *scans) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  int i = block.group_index().x * block.size() + block.thread_rank();
  int sum = cg::reduce(tile, x[i], cg::plus<int>());
  scans[i] = cg::exclusive_scan(tile, x[i]) + 1000 * tile.meta_group_rank();
  if (tile.thread_rank() == 0)
    sums[i / 8] = sum;
  block.sync();
}
