// Sort, sum and scan in three lines of Thrust, and a block's sum by CUB.

#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include "../05-first-kernels/cuda_check.h"

enum { THREADS = 128 };

__global__ void block_sum(const int *in, int *out)
{
    using Reduce = cub::BlockReduce<int, THREADS>;
    __shared__ typename Reduce::TempStorage storage;
    int sum = Reduce(storage).Sum(in[threadIdx.x]);
    if (threadIdx.x == 0)
        *out = sum;
}

int main(void)
{
    thrust::host_vector<int> unsorted(THREADS); // on the host: each access to a device_vector's element is a copy
    for (int i = 0; i < THREADS; i++)
        unsorted[i] = (i * 37) % THREADS;
    thrust::device_vector<int> values = unsorted, sums(THREADS), total(1);
    thrust::sort(values.begin(), values.end());
    thrust::inclusive_scan(values.begin(), values.end(), sums.begin());
    block_sum<<<1, THREADS>>>(thrust::raw_pointer_cast(values.data()), thrust::raw_pointer_cast(total.data()));
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaDeviceSynchronize());
    printf("sorted: %d %d %d …, sum %d, last of the scan %d, by CUB %d\n", (int)values[0], (int)values[1],
           (int)values[2], thrust::reduce(values.begin(), values.end()), (int)sums[THREADS - 1], (int)total[0]);
    return 0;
}
