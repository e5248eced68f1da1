// CUDA's allocations take a pointer to any pointer, to constant elements too.
#include "../corpus.h"

__global__ void add(const float *left, const float *right, float *sum)
{
    sum[threadIdx.x] = left[threadIdx.x] + right[threadIdx.x];
}

int main()
{
    const int n = 32;
    const float *left, *right, *pinned;
    float *sum;
    CHECK(cudaMalloc(&left, n * sizeof *left));
    CHECK(cudaMallocManaged(&right, n * sizeof *right));
    CHECK(cudaMallocHost(&pinned, n * sizeof *pinned));
    CHECK(cudaMalloc(&sum, n * sizeof *sum));
    CHECK(cudaMemset((void *)left, 0, n * sizeof *left));
    CHECK(cudaMemset((void *)right, 0, n * sizeof *right));
    add<<<1, n>>>(left, right, sum);
    CHECK(cudaMemcpy((void *)pinned, sum, n * sizeof *sum, cudaMemcpyDeviceToHost));
    REQUIRE(pinned[n - 1] == 0);
    CHECK(cudaFree((void *)left));
    CHECK(cudaFree((void *)right));
    CHECK(cudaFreeHost((void *)pinned));
    CHECK(cudaFree(sum));
}
