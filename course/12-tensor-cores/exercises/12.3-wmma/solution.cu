// C = A B with tensor cores: one warp per 16 x 16 tile of C. a: (m, k), b: (k, n), c: (m, n), all row-major.
//
// load_matrix_sync takes the address of the tile's first element and the length of a row of the whole matrix: k for A,
// n for B. The tile of A moves right along a row of tiles, the tile of B moves down a column of tiles. mma_sync(d, a,
// b, c) computes d = a b + c, so with sum as both c and d it accumulates.

#include <mma.h>

using namespace nvcuda;

__global__ void matmul(const __half *a, const __half *b, float *c, int n, int k)
{
    int row = blockIdx.y * 16, column = blockIdx.x * 16; // the upper left element of this warp's tile of C
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a_tile;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b_tile;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;

    wmma::fill_fragment(sum, 0.0f);

    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(a_tile, a + row * k + i, k);
        wmma::load_matrix_sync(b_tile, b + i * n + column, n);
        wmma::mma_sync(sum, a_tile, b_tile, sum);
    }

    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
