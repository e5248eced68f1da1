// C = A B with tensor cores: one warp per 16 x 16 tile of C. a: (m, k), b: (k, n), c: (m, n), all row-major.

#include <mma.h>

using namespace nvcuda;

__global__ void matmul(const __half *a, const __half *b, float *c, int n, int k)
{
    int row = blockIdx.y * 16, column = blockIdx.x * 16; // the upper left element of this warp's tile of C
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a_tile;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b_tile;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;

    wmma::fill_fragment(sum, 0.0f);

    // TODO: for each step of 16 along k, load a tile of A (wmma::load_matrix_sync) and a tile of B, and add their
    // product to sum (wmma::mma_sync)

    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
