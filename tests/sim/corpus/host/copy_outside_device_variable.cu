// Copies and fills by the address of a __device__ variable, behind its end and before its start.
#include "../corpus.h"

__device__ int first[8];
__device__ int table[8];

int main()
{
    int *address = NULL, host[8] = {};
    CHECK(cudaGetSymbolAddress((void **)&address, table));
    CHECK(cudaMemcpy(address, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(host, address + 7, sizeof(int), cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy(host, address + 4, sizeof host, cudaMemcpyDeviceToHost)); // expect: out-of-bounds
    SHOW(cudaMemcpy(host, address + 8, sizeof(int), cudaMemcpyDeviceToHost)); // expect: out-of-bounds
    SHOW(cudaMemset(address - 1, 0, sizeof(int)));                            // expect: out-of-bounds
    CHECK(cudaMemcpyToSymbol(first, host, sizeof host));
    return 0;
}
