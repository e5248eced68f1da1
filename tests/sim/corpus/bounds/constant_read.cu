// Constant memory set by the host and on the card by copies, read by kernels by name and through pointers.
#include "../corpus.h"

struct settings {
    float scale;
    int offset;
};

__constant__ settings chosen;
static __device__ __constant__ int table[32] = {1};
__constant__ int *where;
__device__ int variable;

__global__ void read(const int *same, int *output)
{
    const int *entries = table;
    bool right = (__isConstant(table) && __isConstant(&chosen.offset) && !__isConstant(output) &&
                  !__isConstant(&variable) && __isGlobal(&variable));
    if (!right)
        __trap();
    output[threadIdx.x] = entries[threadIdx.x] + same[threadIdx.x] + chosen.offset + where[threadIdx.x];
    where[threadIdx.x] = 2; // the pointer is constant, what it points to is not
}

int main()
{
    int *output = device_zeros<int>(32), *numbers = device_ramp(32, 0, 1), host[32], *address;
    const settings wanted = {0.5f, 7};
    CHECK(cudaMemcpyToSymbol(chosen, &wanted, sizeof wanted));
    CHECK(cudaMemcpyToSymbol(where, &numbers, sizeof numbers));
    CHECK(cudaGetSymbolAddress((void **)&address, table));
    CHECK(cudaMemcpy(address + 1, numbers + 1, 31 * sizeof(int), cudaMemcpyDeviceToDevice));
    CHECK(cudaMemset(address, 0, sizeof(int)));
    read<<<1, 32>>>(address, output);
    CHECK(cudaMemcpy(host, output, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        REQUIRE(host[i] == 3 * i + 7);
    CHECK(cudaFree(numbers));
    CHECK(cudaFree(output));
    return 0;
}
