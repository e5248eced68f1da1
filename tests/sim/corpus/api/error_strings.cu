// Error names and strings, peek and get.
#include "../corpus.h"
#include <string.h>

int main()
{
    REQUIRE(strcmp(cudaGetErrorName(cudaSuccess), "cudaSuccess") == 0);
    REQUIRE(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    REQUIRE(strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
    REQUIRE(strlen(cudaGetErrorString(cudaErrorMemoryAllocation)) > 3);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    return 0;
}
