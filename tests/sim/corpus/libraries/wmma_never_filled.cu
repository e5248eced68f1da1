// A sum, and an operand, that nothing was put into before they are used.
#include "../corpus.h"
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void sum_not_set(const half *a, const half *b, float *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2];
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 16);
    wmma::fill_fragment(sum[0], 0.0f);
    for (int i = 0; i < 2; i++)
        wmma::mma_sync(sum[i], left, right, sum[i]); // expect: uninitialised
    wmma::store_matrix_sync(c, sum[0], 16, wmma::mem_row_major);
}

__global__ void operand_not_loaded(const half *a, float *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left, other;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a, 16);
    wmma::mma_sync(sum, left, right, sum); // expect: uninitialised
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

using accumulator = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

__global__ void stored_as_it_was(float *c)
{
    accumulator sum;
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major); // expect: uninitialised
}

int main()
{
    half *a = device_zeros<half>(256), *b = device_zeros<half>(256);
    float *c = device_zeros<float>(256), result[256];
    sum_not_set<<<1, 32>>>(a, b, c);
    operand_not_loaded<<<1, 32>>>(a, c);
    stored_as_it_was<<<1, 32>>>(c);
    fetch(result, c);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    return 0;
}
