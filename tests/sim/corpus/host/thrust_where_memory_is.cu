// Thrust algorithms where their memory is: host memory on the host, memory of the GPU on the GPU, managed and pinned
// memory on both, and copies between the two.
#include "../corpus.h"
#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

const int N = 64;

__device__ int numbers[N];

__constant__ int factor = 2;
__device__ int total;

struct scaled {
    __device__ int operator()(int x) const
    {
        return factor * x;
    }
};

struct add_to_total {
    __device__ void operator()(int x) const
    {
        atomicAdd(&total, x);
    }
};

__global__ void fill(int *data)
{
    data[threadIdx.x] = N - (int)threadIdx.x;
    numbers[threadIdx.x] = (int)threadIdx.x;
}

// By the last digit, so that others keep their order.
__global__ void sort_in_kernel(int *keys, int *values)
{
    thrust::stable_sort_by_key(thrust::seq, keys, keys + N, values, [](int a, int b) { return a % 10 < b % 10; });
    thrust::sort(thrust::seq, values, values + N / 2, thrust::greater<int>());
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
    thrust::transform(thrust::device, data, data + N, shared, scaled());
    thrust::for_each(of_pointers.begin(), of_pointers.end(), add_to_total());
    int sum;
    CHECK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    REQUIRE(sum == N * (N + 1) / 2 && thrust::reduce(thrust::host, shared, shared + N) == 2 * sum);
    for (int i = 0; i < N; i++) {
        shared[i] = (i * 37) % 64;
        pinned[i] = i;
    }
    sort_in_kernel<<<1, 1>>>(shared, pinned);
    CHECK(cudaDeviceSynchronize());
    for (int i = 1; i < N; i++) {
        bool same = shared[i - 1] % 10 == shared[i] % 10;
        REQUIRE(shared[i - 1] % 10 <= shared[i] % 10);
        REQUIRE(i < N / 2 ? pinned[i - 1] > pinned[i] : i == N / 2 || !same || pinned[i - 1] < pinned[i]);
    }
    free(host);
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(shared));
    CHECK(cudaFree(data));
    return 0;
}
