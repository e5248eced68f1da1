// Temporary storage of CUB that is too small for the call, smaller than it is said to be, freed, and shared by two
// streams.
#include "../corpus.h"
#include <cub/cub.cuh>

const int N = 20000;

int main()
{
    int *in = device_ramp<int>(N, N, -1), *out = device_zeros<int>(N), *others = device_zeros<int>(N);
    void *room = NULL, *small = NULL;
    size_t bytes = 0, of_sum = 0;
    cudaStream_t first, second;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    CHECK(cub::DeviceRadixSort::SortKeys(NULL, bytes, in, out, N));
    CHECK(cub::DeviceReduce::Sum(NULL, of_sum, in, out, N));
    CHECK(cudaMalloc(&room, bytes));
    CHECK(cudaMalloc(&small, of_sum));
    SHOW(cub::DeviceRadixSort::SortKeys(small, of_sum, in, out, N)); // expect: bad-call

    CHECK(cub::DeviceScan::InclusiveSum(room, bytes, in, out, N, first));     // expect: missing-wait a
    CHECK(cub::DeviceScan::InclusiveSum(room, bytes, in, others, N, second)); // expect: missing-wait a
    CHECK(cudaDeviceSynchronize());

    CHECK(cub::DeviceRadixSort::SortKeys(small, bytes, in, out, N)); // expect: out-of-bounds
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaDeviceReset());

    in = device_zeros<int>(N);
    out = device_zeros<int>(N);
    CHECK(cudaMalloc(&room, bytes));
    CHECK(cudaFree(room));
    CHECK(cub::DeviceRadixSort::SortKeys(room, bytes, in, out, N)); // expect: use-after-free
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaDeviceReset());
    return 0;
}
