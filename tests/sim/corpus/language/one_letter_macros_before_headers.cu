// Macros of one letter, defined before the headers, that CUDA's headers have no names like: sizes before mma.h, mostly.
#include "../corpus.h"

#define A 1
#define B 2
#define C 3
#define D 4
#define K 16
#define M 16
#define N 16
#define V 5
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/semaphore>
#include <mma.h>

using namespace nvcuda;

__global__ void multiply(const half *a, const half *b, float *out)
{
    wmma::fragment<wmma::matrix_a, M, N, K, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, M, N, K, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, M, N, K, float> sum;
    wmma::fill_fragment(sum, (float)V);
    wmma::load_matrix_sync(left, a, K);
    wmma::load_matrix_sync(right, b, N);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(out, sum, N, wmma::mem_row_major);
}

__global__ void add(int *out)
{
    auto tile = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
    int total = cooperative_groups::reduce(tile, A + B + C + D, cooperative_groups::plus<int>());
    cuda::atomic_ref<int, cuda::thread_scope_device> word(*out);
    if (tile.thread_rank() == 0)
        word.fetch_add(total, cuda::memory_order_relaxed);
}

int main()
{
    half *a = device_ramp<half>(M * K, 1, 0), *b = device_ramp<half>(K * N, 2, 0);
    float *product = device_zeros<float>(M * N), products[M * N];
    int *sum = device_zeros<int>(1), sums[1];
    multiply<<<1, 32>>>(a, b, product);
    fetch(products, product);
    REQUIRE(products[0] == 2 * K + V && products[M * N - 1] == 2 * K + V);
    add<<<1, 64>>>(sum);
    fetch(sums, sum);
    REQUIRE(sums[0] == 64 * (A + B + C + D));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(product));
    CHECK(cudaFree(sum));
    return 0;
}
