// A recursion that ends.
#include "../corpus.h"

__device__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__global__ void run(int *output)
{
    output[threadIdx.x] = fibonacci(threadIdx.x);
}

int main()
{
    int *output = device_zeros<int>(12), result[12];
    run<<<1, 12>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[11] == 89);
    CHECK(cudaFree(output));
    return 0;
}
