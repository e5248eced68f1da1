// Matrices of wmma that begin at an address, or have a leading dimension, that it does not take; and such as it takes.
#include "../corpus.h"
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

enum { SIDE = 16, PADDED = SIDE + 8, COUNT = SIDE * PADDED + SIDE, LANES = 32 };

typedef wmma::fragment<wmma::matrix_a, SIDE, SIDE, SIDE, __half, wmma::row_major> rows;
typedef wmma::fragment<wmma::matrix_b, SIDE, SIDE, SIDE, __half, wmma::col_major> columns;
typedef wmma::fragment<wmma::accumulator, SIDE, SIDE, SIDE, float> sums;

__global__ void padded(const __half *a, float *c)
{
    __shared__ char flag;
    __shared__ __half tile[SIDE][PADDED];
    if (threadIdx.x == 0)
        flag = 1;
    for (int i = threadIdx.x; i < SIDE * PADDED; i += LANES)
        tile[i / PADDED][i % PADDED] = a[i];
    __syncthreads();
    rows left;
    columns right;
    sums sum;
    wmma::fill_fragment(sum, (float)(flag - 1));
    wmma::load_matrix_sync(left, tile[0], PADDED);
    wmma::load_matrix_sync(right, a + SIDE, PADDED);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, SIDE + 4, wmma::mem_row_major);
}

__global__ void wrong(const __half *a, float *c)
{
    __shared__ __half tile[SIDE * PADDED + 1];
    for (int i = threadIdx.x; i <= SIDE * PADDED; i += LANES)
        tile[i] = a[i];
    __syncthreads();
    rows left;
    columns right;
    sums sum;
    wmma::fill_fragment(sum, 0.f);
    wmma::load_matrix_sync(left, a + 2, SIDE);    // expect: misaligned
    wmma::load_matrix_sync(left, a + 8, SIDE);    // expect: misaligned(warning)
    wmma::load_matrix_sync(left, tile + 1, SIDE); // expect: misaligned
    wmma::load_matrix_sync(right, a, SIDE + 4);   // expect: bad-call
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, SIDE + 2, wmma::mem_row_major); // expect: bad-call
    __syncthreads();
    wmma::store_matrix_sync(c + 1, sum, SIDE, wmma::mem_row_major); // expect: misaligned
}

int main()
{
    __half *a = device_zeros<__half>(COUNT);
    float *c = device_zeros<float>(COUNT), result[COUNT];
    padded<<<1, LANES>>>(a, c);
    wrong<<<1, LANES>>>(a, c);
    fetch(result, c);
    CHECK(cudaFree(a));
    CHECK(cudaFree(c));
    return 0;
}
