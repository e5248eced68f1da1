// Thrust algorithms on the host that are given pointers into memory of the GPU, one on the GPU with memory of the host,
// and one on the host that does not wait for a kernel.
#include "../corpus.h"
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

const int N = 64;

__global__ void fill(int *data)
{
    data[threadIdx.x] = N - (int)threadIdx.x;
}

int main()
{
    int *data = device_ramp<int>(N, N, -1), *shared = NULL, *host = (int *)calloc(N, sizeof(int));
    CHECK(cudaMallocManaged(&shared, N * sizeof(int)));
    thrust::sort(thrust::host, data, data + N);              // expect: device-pointer
    thrust::sort(data, data + N);                            // expect: device-pointer
    int sum = thrust::reduce(thrust::seq, data, data + N);   // expect: device-pointer
    sum += thrust::reduce(thrust::device, host, host + N);   // expect: host-pointer
    fill<<<1, N>>>(shared);                                  // expect: missing-wait a
    sum += thrust::reduce(thrust::host, shared, shared + N); // expect: missing-wait a
    CHECK(cudaDeviceSynchronize());
    printf("%d\n", sum);
    free(host);
    CHECK(cudaFree(shared));
    CHECK(cudaFree(data));
    return 0;
}
