// A function that one stream runs reads what another stream copies, and nothing orders the two.
#include "../corpus.h"

static int sum;

static void CUDART_CB add(void *value)
{
    sum += *(int *)value; // expect: missing-wait a
}

int main()
{
    int *device = device_zeros<int>(1), *pinned;
    cudaStream_t reader, copier;
    CHECK(cudaStreamCreate(&reader));
    CHECK(cudaStreamCreate(&copier));
    CHECK(cudaMallocHost(&pinned, sizeof *pinned));
    *pinned = 0;
    SHOW(cudaLaunchHostFunc(reader, add, pinned));
    SHOW(cudaMemcpyAsync(pinned, device, sizeof *pinned, cudaMemcpyDeviceToHost, copier)); // expect: missing-wait a
    SHOW(cudaStreamSynchronize(reader));
    SHOW(cudaStreamSynchronize(copier));
    CHECK(cudaStreamDestroy(reader));
    CHECK(cudaStreamDestroy(copier));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(device));
    return sum;
}
