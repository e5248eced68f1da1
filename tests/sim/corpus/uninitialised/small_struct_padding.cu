// Structs whose padding lies within one word, copied as a whole through global and shared memory.
#include "../corpus.h"

struct cell {
    char kind; // a byte of padding behind it
    short count;
};
struct tail {
    short count;
    char kind; // and here
};

__global__ void make(cell *cells, tail *tails)
{
    cells[threadIdx.x].kind = 1;
    cells[threadIdx.x].count = (short)threadIdx.x;
    tails[threadIdx.x].count = (short)(100 - threadIdx.x);
    tails[threadIdx.x].kind = 2;
}

__global__ void swap(const cell *cells, cell *swapped, tail *tails)
{
    __shared__ tail middle[32];
    swapped[threadIdx.x] = cells[threadIdx.x ^ 1];
    middle[threadIdx.x] = tails[threadIdx.x];
    __syncthreads();
    tails[threadIdx.x] = middle[31 - threadIdx.x];
}

__global__ void counts(const cell *swapped, const tail *tails, int *output)
{
    output[threadIdx.x] = swapped[threadIdx.x].count * 1000 + tails[threadIdx.x].count;
}

int main()
{
    cell *cells = NULL, *swapped = NULL;
    tail *tails = NULL;
    int *output = device_zeros<int>(32), result[32];
    CHECK(cudaMalloc(&cells, 32 * sizeof *cells));
    CHECK(cudaMalloc(&swapped, 32 * sizeof *swapped));
    CHECK(cudaMalloc(&tails, 32 * sizeof *tails));
    make<<<1, 32>>>(cells, tails);
    swap<<<1, 32>>>(cells, swapped, tails);
    counts<<<1, 32>>>(swapped, tails, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i] == (i ^ 1) * 1000 + 100 - (31 - i));
    CHECK(cudaFree(cells));
    CHECK(cudaFree(swapped));
    CHECK(cudaFree(tails));
    CHECK(cudaFree(output));
    return 0;
}
