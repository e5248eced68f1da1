// Numbers of which only the first bytes were written. A structure with padding there is copied all the same.
#include "../corpus.h"

struct padded {
    short first;
    char second;
};
struct wide {
    int first;
    char second;
};

__global__ void fill(unsigned char *bytes, padded *items, wide *others)
{
    if (threadIdx.x < 3)
        bytes[threadIdx.x] = 1;
    items[threadIdx.x].first = 1;
    items[threadIdx.x].second = 2;
    others[threadIdx.x].first = 1;
    others[threadIdx.x].second = 2;
}

__global__ void use(const unsigned char *bytes, const unsigned *partly, const padded *items, padded *copies,
                    wide *others, unsigned *output)
{
    output[0] = *(const unsigned *)bytes; // expect: uninitialised
    output[1] = *partly;                  // expect: uninitialised
    copies[threadIdx.x] = items[threadIdx.x];
    others[threadIdx.x + 1] = others[threadIdx.x];
}

int main()
{
    unsigned char *bytes;
    unsigned *partly, *output = device_zeros<unsigned>(2), result[2];
    padded *items, *copies;
    wide *others;
    CHECK(cudaMalloc(&bytes, 4));
    CHECK(cudaMalloc(&partly, sizeof *partly));
    CHECK(cudaMalloc(&items, 32 * sizeof *items));
    CHECK(cudaMalloc(&copies, 32 * sizeof *copies));
    CHECK(cudaMalloc(&others, 33 * sizeof *others));
    CHECK(cudaMemset(partly, 0, 3));
    fill<<<1, 32>>>(bytes, items, others);
    use<<<1, 1>>>(bytes, partly, items, copies, others, output);
    SHOW(cudaGetLastError());
    fetch(result, output);
    CHECK(cudaFree(bytes));
    CHECK(cudaFree(partly));
    CHECK(cudaFree(items));
    CHECK(cudaFree(copies));
    CHECK(cudaFree(others));
    CHECK(cudaFree(output));
    return 0;
}
