// Managed and pinned memory that kernels update by atomics: the host waits, uses other memory meanwhile, or looks at
// it as one does at what may change: through volatile.
#include "../corpus.h"

__global__ void count(int *counter, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(counter, 1);
}

__global__ void sum_and_tell(int *sum, int *values, int *done)
{
    atomicAdd(sum, (int)threadIdx.x);
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence_system();
        atomicExch_system(done, 1);
    }
}

int main()
{
    int *counters = NULL, *pinned = NULL;
    CHECK(cudaMallocManaged(&counters, 2 * sizeof(int)));
    CHECK(cudaMallocHost(&pinned, 66 * sizeof(int)));
    counters[0] = counters[1] = 0;
    for (int i = 0; i < 66; i++)
        pinned[i] = 0;
    count<<<2, 128>>>(counters, 200);
    counters[1] = 3;
    CHECK(cudaDeviceSynchronize());
    REQUIRE(counters[0] == 200 && counters[1] == 3);

    sum_and_tell<<<1, 64>>>(pinned, pinned + 2, pinned + 1);
    while (*(volatile int *)(pinned + 1) == 0)
        continue;
    REQUIRE(pinned[0] == 64 * 63 / 2 && pinned[2 + 63] == 63);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(counters));
    CHECK(cudaFreeHost(pinned));
    return 0;
}
