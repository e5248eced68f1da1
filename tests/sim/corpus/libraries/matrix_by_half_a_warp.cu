// Matrix instructions that some lanes of the warp do not execute: half of it passes the branch, the other half returns.
#include "../corpus.h"
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

enum { SIDE = 16, COUNT = SIDE * SIDE, LANES = 32 };

__global__ void product(const __half *a, float *c, int lanes)
{
    wmma::fragment<wmma::matrix_a, SIDE, SIDE, SIDE, __half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, SIDE, SIDE, SIDE, __half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, SIDE, SIDE, SIDE, float> sum;
    wmma::fill_fragment(sum, 0.f);
    wmma::load_matrix_sync(left, a, SIDE);
    wmma::load_matrix_sync(right, a, SIDE);
    if (threadIdx.x < lanes)
        wmma::mma_sync(sum, left, right, sum); // expect: warp-mask
    wmma::store_matrix_sync(c, sum, SIDE, wmma::mem_row_major);
}

__global__ void load(const __half *a, unsigned *c)
{
    __shared__ __half tile[8 * 8];
    for (int i = threadIdx.x; i < 8 * 8; i += blockDim.x)
        tile[i] = a[i];
    __syncthreads();
    const unsigned row = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x % 8 * 8);
    unsigned part;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(part) : "r"(row)); // expect: warp-mask
    c[threadIdx.x] = part;
}

int main()
{
    __half *a = device_zeros<__half>(COUNT);
    float *c = device_zeros<float>(COUNT), result[COUNT];
    unsigned *parts = device_zeros<unsigned>(LANES);
    product<<<1, LANES>>>(a, c, LANES);
    product<<<1, LANES>>>(a, c, LANES / 2);
    load<<<1, LANES>>>(a, parts);
    load<<<1, LANES / 2>>>(a, parts);
    fetch(result, c);
    CHECK(cudaFree(a));
    CHECK(cudaFree(c));
    CHECK(cudaFree(parts));
    return 0;
}
