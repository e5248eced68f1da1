// Structs with padding copied as a whole: the padding was never written, and nobody looks at it.
#include "../corpus.h"

struct record {
    char tag;
    double value;
    short last;
};

__global__ void make(record *records)
{
    records[threadIdx.x].tag = (char)threadIdx.x;
    records[threadIdx.x].value = threadIdx.x * 0.5;
    records[threadIdx.x].last = 3;
}

__global__ void copy(const record *from, record *to)
{
    __shared__ record middle[32];
    middle[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    to[threadIdx.x] = middle[31 - threadIdx.x];
}

int main()
{
    record *from = NULL, *to = NULL, result[32];
    CHECK(cudaMalloc(&from, sizeof result));
    CHECK(cudaMalloc(&to, sizeof result));
    make<<<1, 32>>>(from);
    copy<<<1, 32>>>(from, to);
    CHECK(cudaGetLastError());
    fetch(result, to);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i].tag == 31 - i && result[i].value == (31 - i) * 0.5 && result[i].last == 3);
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    return 0;
}
