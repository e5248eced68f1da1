// Thrust algorithms where their memory is: host memory on the host, memory of the GPU on the GPU, managed and pinned
// memory on both, and copies between the two.
#include "../corpus.h"
#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

const int N = 64;

__device__ int numbers[N];

__global__ void fill(int *data)
{
    data[threadIdx.x] = N - (int)threadIdx.x;
    numbers[threadIdx.x] = (int)threadIdx.x;
}

int main()
{
    int *data = device_ramp<int>(N, N, -1), *shared = NULL, *pinned = NULL, *host = (int *)calloc(N, sizeof(int));
    CHECK(cudaMallocManaged(&shared, N * sizeof(int)));
    CHECK(cudaMallocHost(&pinned, N * sizeof(int)));
    fill<<<1, N>>>(shared);
    thrust::sort(thrust::device, shared, shared + N);
    CHECK(cudaDeviceSynchronize());
    REQUIRE(thrust::reduce(thrust::host, shared, shared + N) == N * (N + 1) / 2);
    thrust::copy(shared, shared + N, pinned);
    thrust::sort(pinned, pinned + N, [](int a, int b) { return a > b; });
    REQUIRE(pinned[0] == N);
    REQUIRE(thrust::reduce(thrust::device, pinned, pinned + N) == N * (N + 1) / 2);
    thrust::sort(thrust::device, data, data + N);
    thrust::copy(thrust::device_ptr<int>(data), thrust::device_ptr<int>(data) + N, host);
    REQUIRE(host[0] == 1);
    thrust::device_vector<int> of_pointers(host, host + N);
    thrust::host_vector<int> back(N);
    thrust::copy(of_pointers.begin(), of_pointers.end(), back.begin());
    thrust::sort(back.begin(), back.end());
    REQUIRE(back[N - 1] == N);
    int *variable = NULL;
    CHECK(cudaGetSymbolAddress((void **)&variable, numbers));
    REQUIRE(thrust::reduce(thrust::device, variable, variable + N) == N * (N - 1) / 2);
    free(host);
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(shared));
    CHECK(cudaFree(data));
    return 0;
}
