// Memory is freed in another stream than the one that uses it, behind an event, a wait of the host, or in the legacy
// default stream, which waits for both.
#include "../corpus.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    cudaStream_t first, second;
    cudaEvent_t used;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    CHECK(cudaEventCreate(&used));
    for (int way = 0; way < 3; way++) {
        int *data = NULL;
        CHECK(cudaMallocAsync(&data, 32 * sizeof(int), first));
        fill<<<1, 32, 0, first>>>(data);
        CHECK(cudaEventRecord(used, first));
        if (way == 0)
            CHECK(cudaStreamWaitEvent(second, used, 0));
        if (way == 1)
            CHECK(cudaEventSynchronize(used));
        CHECK(cudaFreeAsync(data, way == 2 ? (cudaStream_t)0 : second));
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventDestroy(used));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    return 0;
}
