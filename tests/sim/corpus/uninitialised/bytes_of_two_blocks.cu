// Two blocks write every other byte of one array, the halves of its words at the same time: each byte counts as written.
#include "../corpus.h"

enum { BYTES = 1 << 17, LANES = 32, ROUNDS = 8 };

__global__ void write_bytes(char *bytes)
{
    for (int i = 2 * threadIdx.x + blockIdx.x; i < BYTES; i += 2 * LANES)
        bytes[i] = 1;
}

__global__ void add_bytes(const char *bytes, int *sums)
{
    int sum = 0;
    for (int i = threadIdx.x; i < BYTES; i += LANES)
        sum += bytes[i];
    sums[threadIdx.x] = sum;
}

int main()
{
    int *sums = device_zeros<int>(LANES), host[LANES];
    for (int round = 0; round < ROUNDS; round++) {
        char *bytes;
        CHECK(cudaMalloc(&bytes, BYTES));
        write_bytes<<<2, LANES>>>(bytes);
        add_bytes<<<1, LANES>>>(bytes, sums);
        fetch(host, sums);
        for (int i = 0; i < LANES; i++)
            REQUIRE(host[i] == BYTES / LANES);
        CHECK(cudaFree(bytes));
    }
    CHECK(cudaFree(sums));
    return 0;
}
