// More memory than the card has: cudaMalloc says so, and the program goes on with less.
#include "../corpus.h"

int main()
{
    size_t free_bytes = 0, total_bytes = 0;
    char *data = NULL;
    CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    REQUIRE(free_bytes <= total_bytes);
    cudaError_t status = cudaMalloc(&data, total_bytes * 2); // allow: bad-call; allow: bad-call(warning)
    REQUIRE(status == cudaErrorMemoryAllocation);
    REQUIRE(cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK(cudaMalloc(&data, 1 << 20));
    CHECK(cudaFree(data));
    return 0;
}
