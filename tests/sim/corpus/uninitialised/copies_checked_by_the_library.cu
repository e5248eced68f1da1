// flags: -D_FORTIFY_SOURCE=2. Copies that the C library would check the length of, as some systems have it from the
// start: what they write counts as written all the same.
#include "../corpus.h"
#include <string.h>

__global__ void copy(char *to, const char *from, int *output)
{
    int i = threadIdx.x;
    memcpy(to + 32 * i, from + 32 * i, 24);
    memset(to + 32 * i + 24, 7, 7);
    output[i] = to[32 * i + 23] + to[32 * i + 30];
    output[i] += to[32 * i + 31]; // expect: uninitialised
}

int main()
{
    char *from = device_zeros<char>(1024), *to;
    int *output = device_zeros<int>(32);
    CHECK(cudaMalloc(&to, 1024));
    copy<<<1, 32>>>(to, from, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    CHECK(cudaFree(output));
    return 0;
}
