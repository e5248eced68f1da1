// Algorithms of CUB and Thrust that may work in place, or on neighbouring parts of one array; shifted copies on the
// host and within the functions that take one range.
#include "../corpus.h"
#include <cub/cub.cuh>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/remove.h>
#include <thrust/replace.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

enum { COUNT = 5000 };

struct Odd {
    __host__ __device__ bool operator()(unsigned x) const
    {
        return x & 1;
    }
};

int main()
{
    unsigned *keys = device_ramp<unsigned>(2 * COUNT, 1, 3), *values = device_ramp<unsigned>(2 * COUNT, 0, 1);
    unsigned *count = device_zeros<unsigned>(1);
    size_t bytes = 0;
    void *room = NULL;
    CHECK(cub::DeviceRadixSort::SortPairs(room, bytes, keys, keys + COUNT, values, values + COUNT, COUNT));
    CHECK(cudaMalloc(&room, bytes));
    CHECK(cub::DeviceRadixSort::SortPairs(room, bytes, keys, keys + COUNT, values, values + COUNT, COUNT));
    CHECK(
        cub::DeviceRadixSort::SortPairs(room, bytes, keys, keys + COUNT, keys, values, COUNT)); // keys carry themselves
    cub::DoubleBuffer<unsigned> buffers(keys, keys + COUNT);
    CHECK(cub::DeviceRadixSort::SortKeys(room, bytes, buffers, COUNT));
    CHECK(cub::DeviceRadixSort::SortKeys(room, bytes, keys, keys, 0));
    CHECK(cub::DeviceScan::InclusiveSum(room, bytes, keys, keys, COUNT));
    CHECK(cub::DeviceScan::ExclusiveSum(room, bytes, values, values, COUNT));
    CHECK(cub::DeviceReduce::Sum(room, bytes, keys, keys + COUNT, COUNT));
    CHECK(cub::DeviceSelect::If(room, bytes, keys, keys + COUNT, count, COUNT, Odd()));
    CHECK(cudaDeviceSynchronize());

    thrust::device_vector<int> a(100, 1), b(200);
    thrust::copy(a.begin(), a.end(), b.begin() + 1);
    thrust::copy(b.begin(), b.begin() + 100, b.begin() + 100);
    thrust::copy(a.begin(), a.end(), a.begin());
    thrust::transform(a.begin(), a.end(), a.begin(), thrust::negate<int>());
    thrust::transform(a.begin(), a.end(), b.begin(), a.begin(), thrust::plus<int>());
    thrust::inclusive_scan(a.begin(), a.end(), a.begin());
    thrust::exclusive_scan(a.begin(), a.end(), a.begin());
    thrust::replace(a.begin(), a.end(), 1, 2);
    thrust::reverse(a.begin(), a.end());
    thrust::sort(a.begin(), a.end());
    a.erase(a.begin(), a.begin() + 3);
    a.erase(thrust::unique(a.begin(), a.end()), a.end());
    a.erase(thrust::remove(a.begin(), a.end(), 2), a.end());
    thrust::transform(thrust::device, keys, keys + 9, keys, thrust::negate<unsigned>());
    thrust::host_vector<int> on_host(100, 1);
    thrust::copy(on_host.begin() + 1, on_host.end(), on_host.begin());
    int plain[10] = {1, 2, 3};
    thrust::copy(thrust::host, plain + 1, plain + 10, plain);
    CHECK(cudaFree(room));
    CHECK(cudaFree(keys));
    CHECK(cudaFree(values));
    CHECK(cudaFree(count));
    return 0;
}
