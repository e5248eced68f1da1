// CUB algorithms that are given host memory, too little memory, and elements that nobody has set.
#include "../corpus.h"
#include <cub/cub.cuh>

const int N = 20000;

static void end()
{
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaDeviceReset());
}

int main()
{
    static int host[N];
    int *in = device_zeros<int>(N), *out = device_zeros<int>(N), *fresh = NULL;
    void *room = NULL;
    size_t bytes = 0;
    CHECK(cub::DeviceScan::InclusiveSum(NULL, bytes, in, out, N));
    CHECK(cudaMalloc(&room, bytes));
    CHECK(cudaMalloc(&fresh, N * sizeof(int)));
    CHECK(cub::DeviceScan::InclusiveSum(room, bytes, fresh, out, N)); // expect: uninitialised
    CHECK(cudaDeviceSynchronize());
    int *block = (int *)malloc(N * sizeof(int));
    for (int i = 0; i < N; i++)
        block[i] = host[i];
    CHECK(cub::DeviceScan::InclusiveSum(room, bytes, block, out, N)); // expect: host-pointer
    end();
    free(block);
    in = device_zeros<int>(N);
    out = device_zeros<int>(N - 1);
    CHECK(cudaMalloc(&room, bytes));
    CHECK(cub::DeviceScan::InclusiveSum(room, bytes, in, out, N)); // expect: out-of-bounds
    end();
    return 0;
}
