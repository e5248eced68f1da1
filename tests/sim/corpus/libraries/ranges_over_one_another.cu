// Algorithms of CUB and Thrust whose results lie over what they read: a radix sort in place, values sorted into the
// keys, sums and copies shifted by one element, a selection in place, runs counted into the keys.
#include "../corpus.h"
#include <cub/cub.cuh>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform.h>

enum { COUNT = 5000 };

struct Odd {
    __host__ __device__ bool operator()(unsigned x) const
    {
        return x & 1;
    }
};

int main()
{
    unsigned *keys = device_ramp<unsigned>(COUNT, 1, 3), *other = device_ramp<unsigned>(COUNT, 1, 1);
    unsigned *values = device_ramp<unsigned>(COUNT, 0, 1), *count = device_zeros<unsigned>(1);
    size_t bytes = 0;
    void *room = NULL;
    CHECK(cub::DeviceRadixSort::SortPairs(room, bytes, keys, other, values, values, COUNT));
    CHECK(cudaMalloc(&room, bytes));
    CHECK(cub::DeviceRadixSort::SortKeys(room, bytes, keys, keys, COUNT));                    // expect: bad-call
    CHECK(cub::DeviceRadixSort::SortPairs(room, bytes, keys, other, values, other, COUNT));   // expect: bad-call
    CHECK(cub::DeviceScan::InclusiveSum(room, bytes, keys, keys + 1, COUNT - 1));             // expect: bad-call
    CHECK(cub::DeviceScan::ExclusiveSum(room, bytes, keys + 1, keys, COUNT - 1));             // expect: bad-call
    CHECK(cub::DeviceSelect::If(room, bytes, values, values + 10, count, COUNT - 10, Odd())); // expect: bad-call
    CHECK(cudaDeviceSynchronize());

    thrust::device_vector<int> a(100, 1), b(100);
    thrust::copy(a.begin(), a.begin() + 99, a.begin() + 1);                                // expect: bad-call
    thrust::copy(a.begin() + 1, a.end(), a.begin());                                       // expect: bad-call
    thrust::copy(thrust::device, keys, keys + 99, keys + 1);                               // expect: bad-call
    thrust::transform(a.begin() + 1, a.end(), a.begin(), a.begin(), thrust::plus<int>());  // expect: bad-call
    thrust::inclusive_scan(a.begin(), a.begin() + 99, a.begin() + 1);                      // expect: bad-call
    thrust::copy_if(b.begin(), b.begin() + 99, b.begin() + 1, thrust::logical_not<int>()); // expect: bad-call
    const auto later = thrust::cuda::par_nosync;
    thrust::transform(later, keys, keys + 9, keys + 1, thrust::negate<unsigned>()); // expect: bad-call
    thrust::reduce_by_key(a.begin(), a.end(), b.begin(), a.begin(), b.begin());     // expect: bad-call
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(room));
    CHECK(cudaFree(keys));
    CHECK(cudaFree(other));
    CHECK(cudaFree(values));
    CHECK(cudaFree(count));
    return 0;
}
