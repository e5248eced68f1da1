// __constant__ and __device__ variables filled and read by symbol, by address and by size.
#include "../corpus.h"

__constant__ float coefficients[4];
__device__ int total;
__device__ int history[8];

__global__ void work()
{
    if (threadIdx.x == 0)
        total = (int)(coefficients[0] + coefficients[1] * 10 + coefficients[2] * 100 + coefficients[3] * 1000);
    history[threadIdx.x] = threadIdx.x;
}

int main()
{
    float host[4] = {1, 2, 3, 4};
    int result = 0, past[8];
    size_t bytes = 0;
    void *address = NULL;
    CHECK(cudaMemcpyToSymbol(coefficients, host, sizeof host));
    work<<<1, 8>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyFromSymbol(&result, total, sizeof result));
    REQUIRE(result == 4321);
    CHECK(cudaGetSymbolSize(&bytes, history));
    REQUIRE(bytes == sizeof past);
    CHECK(cudaGetSymbolAddress(&address, history));
    CHECK(cudaMemcpy(past, address, sizeof past, cudaMemcpyDeviceToHost));
    REQUIRE(past[7] == 7);
    CHECK(cudaMemcpyFromSymbol(&result, history, sizeof(int), 3 * sizeof(int)));
    REQUIRE(result == 3);
    return 0;
}
