// Memory that is allocated in the order of one stream and used in another one, which does not wait for the allocation:
// by a kernel, by a fill. And memory that is freed in its stream while another one still uses it.
#include "../corpus.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = 1; // expect: missing-wait a
}

__global__ void add(int *data)
{
    data[threadIdx.x] += 1; // expect: use-after-free c
}

int main()
{
    int *data = NULL, *other = NULL, *third = NULL;
    cudaStream_t first, second;
    cudaEvent_t made;
    CHECK(cudaEventCreate(&made));
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    CHECK(cudaMallocAsync(&data, 32 * sizeof(int), first)); // expect: missing-wait a
    fill<<<1, 32, 0, second>>>(data);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMallocAsync(&other, 32 * sizeof(int), first));    // expect: missing-wait b
    CHECK(cudaMemsetAsync(other, 0, 32 * sizeof(int), second)); // expect: missing-wait b
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMallocAsync(&third, 32 * sizeof(int), first));
    CHECK(cudaMemsetAsync(third, 0, 32 * sizeof(int), first));
    CHECK(cudaEventRecord(made, first));
    CHECK(cudaStreamWaitEvent(second, made, 0));
    add<<<1, 32, 0, second>>>(third);
    CHECK(cudaFreeAsync(third, first)); // expect: use-after-free c
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFreeAsync(data, second));
    CHECK(cudaFreeAsync(other, second));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventDestroy(made));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    return 0;
}
