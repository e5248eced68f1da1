// Device variables that hold text, copied by symbol: none is a name in quotes, though the text of one names another.
#include "../corpus.h"
#include <string.h>

__device__ const char greeting[] = "hello";
__constant__ char farewell[4] = "bye";
__managed__ char name[6] = "world";
__constant__ char mode[5] = "fast";
__device__ int fast;

__global__ void join(char *output)
{
    output[threadIdx.x] = greeting[threadIdx.x] + name[threadIdx.x] + farewell[threadIdx.x % 4] + mode[0];
    if (threadIdx.x == 0)
        fast = 1;
}

int main()
{
    char *output = device_zeros<char>(6), text[6];
    join<<<1, 6>>>(output);
    fetch(text, output);
    CHECK(cudaMemcpyFromSymbol(text, greeting, sizeof greeting));
    REQUIRE(strcmp(text, "hello") == 0);
    CHECK(cudaMemcpyFromSymbol(text, name, sizeof name));
    REQUIRE(strcmp(text, "world") == 0);
    CHECK(cudaMemcpyFromSymbol(text, farewell, sizeof farewell));
    REQUIRE(strcmp(text, "bye") == 0);
    CHECK(cudaMemcpyFromSymbol(text, mode, sizeof mode));
    REQUIRE(strcmp(text, "fast") == 0);
    CHECK(cudaMemcpyToSymbol(mode, "slow", sizeof mode));
    CHECK(cudaFree(output));
    return 0;
}
