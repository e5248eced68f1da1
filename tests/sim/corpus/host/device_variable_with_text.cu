// Device variables that hold text, copied by symbol: neither is a name in quotes.
#include "../corpus.h"
#include <string.h>

__device__ const char greeting[] = "hello";
__constant__ char farewell[4] = "bye";
__managed__ char name[6] = "world";

__global__ void join(char *output)
{
    output[threadIdx.x] = greeting[threadIdx.x] + name[threadIdx.x] + farewell[threadIdx.x % 4];
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
    CHECK(cudaFree(output));
    return 0;
}
