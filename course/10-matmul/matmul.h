// The host side of this chapter's programs: multiplies two small matrices with the kernel of the program that includes
// it, compares with a plain loop, and says so. The program defines TILE_M, TILE_N (outputs per block) and THREADS.

#include <math.h>
#include <stdio.h>

#include "../05-first-kernels/cuda_check.h"

#ifndef SIDE
#define SIDE 128 // m = n = k: small, so that the simulated GPU needs a second
#endif

static float host_a[SIDE * SIDE], host_b[SIDE * SIDE], host_c[SIDE * SIDE];

static bool is_correct(void)
{
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            double sum = 0;
            for (int i = 0; i < SIDE; i++)
                sum += (double)host_a[row * SIDE + i] * host_b[i * SIDE + column];
            if (!(fabs(host_c[row * SIDE + column] - sum) < 1e-3))
                return false;
        }
    return true;
}

int main(void)
{
    float *a, *b, *c;
    for (int i = 0; i < SIDE * SIDE; i++) {
        host_a[i] = (float)(i % 7) - 3;
        host_b[i] = (float)(i % 5) - 2;
    }
    CUDA_CHECK(cudaMalloc(&a, sizeof host_a));
    CUDA_CHECK(cudaMalloc(&b, sizeof host_b));
    CUDA_CHECK(cudaMalloc(&c, sizeof host_c));
    CUDA_CHECK(cudaMemcpy(a, host_a, sizeof host_a, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(b, host_b, sizeof host_b, cudaMemcpyHostToDevice));
    matmul<<<dim3(SIDE / TILE_N, SIDE / TILE_M), THREADS>>>(a, b, c, SIDE);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(host_c, c, sizeof host_c, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(a));
    CUDA_CHECK(cudaFree(b));
    CUDA_CHECK(cudaFree(c));
    puts(is_correct() ? "correct" : "WRONG");
    return is_correct() ? 0 : 1;
}
