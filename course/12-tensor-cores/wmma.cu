// One warp multiplies two 16 x 16 tiles of half on the tensor cores, with sums in float.

#include <cuda_fp16.h>
#include <mma.h>

#include "../05-first-kernels/cuda_check.h"

using namespace nvcuda;

enum { SIDE = 16, COUNT = SIDE * SIDE, WARP = 32 };

__global__ void multiply_tile(const half *a, const half *b, float *c)
{
    wmma::fragment<wmma::matrix_a, SIDE, SIDE, SIDE, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, SIDE, SIDE, SIDE, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, SIDE, SIDE, SIDE, float> sum;

    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a, SIDE);
    wmma::load_matrix_sync(right, b, SIDE);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, SIDE, wmma::mem_row_major);
}

int main(void)
{
    half *a, *b, host_a[COUNT], host_b[COUNT];
    float *c, host_c[COUNT];
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        host_a[i] = __float2half((float)(i % 7));
        host_b[i] = __float2half((float)(i % 5));
    }
    CUDA_CHECK(cudaMalloc(&a, sizeof host_a));
    CUDA_CHECK(cudaMalloc(&b, sizeof host_b));
    CUDA_CHECK(cudaMalloc(&c, sizeof host_c));
    CUDA_CHECK(cudaMemcpy(a, host_a, sizeof host_a, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(b, host_b, sizeof host_b, cudaMemcpyHostToDevice));
    multiply_tile<<<1, WARP>>>(a, b, c);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(host_c, c, sizeof host_c, cudaMemcpyDeviceToHost));
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            float sum = 0;
            for (int k = 0; k < SIDE; k++)
                sum += (float)((row * SIDE + k) % 7 * ((k * SIDE + column) % 5));
            wrong += sum != host_c[row * SIDE + column];
        }
    printf("%d of %d outputs are wrong\n", wrong, COUNT);
    CUDA_CHECK(cudaFree(a));
    CUDA_CHECK(cudaFree(b));
    CUDA_CHECK(cudaFree(c));
    return wrong != 0;
}
