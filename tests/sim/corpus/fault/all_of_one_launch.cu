// Wrong accesses in several lines: the kernel goes on after each, so that one run shows them all. A misaligned write,
// which would change what others read, ends it.
#include "../corpus.h"

__global__ void faults(float *a, float *b, int n)
{
    __shared__ float tile[32];
    extern __shared__ float dynamic[];
    int i = threadIdx.x;
    if (i <= n)
        a[i] = 1; // expect: out-of-bounds
    if (i <= n)
        b[i] += 2; // expect: out-of-bounds
    float *row = tile;
    row[i + gridDim.x] = 3; // expect: out-of-bounds
    if (i == 0)
        b[0] = *(const float *)((const char *)a + 2); // expect: misaligned
    dynamic[i] = 0;                                   // expect: out-of-bounds
    __syncthreads();
    *(float *)((char *)b + 2) += 1; // expect: misaligned
    a[i + n] = 1;                   // not run
}

__global__ void later(float *a)
{
    a[threadIdx.x + 31] = 1; // not run: the device has failed
}

int main()
{
    float *a, *b;
    CHECK(cudaMalloc(&a, 31 * sizeof(float)));
    CHECK(cudaMalloc(&b, 31 * sizeof(float)));
    CHECK(cudaMemset(b, 0, 31 * sizeof(float)));
    faults<<<1, 32, 16 * sizeof(float)>>>(a, b, 31);
    if (cudaDeviceSynchronize() != cudaErrorIllegalAddress)
        return 1;
    later<<<1, 32>>>(a);
    if (cudaGetLastError() != cudaErrorIllegalAddress)
        return 2;
    return 0;
}
