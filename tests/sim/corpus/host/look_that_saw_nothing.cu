// Two kernels tell by flags that they are done. The host looks at the first flag once, too early, and waits for the
// second: what the first kernel leaves has not been waited for, though it happens to have run.
#include "../corpus.h"

__global__ void work(int *data, volatile int *flag)
{
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    __threadfence_system();
    if (threadIdx.x == 0)
        *flag = 1;
}

int main()
{
    int *first = NULL, *second = NULL;
    volatile int *flags = NULL;
    cudaStream_t one, other;
    CHECK(cudaMallocManaged(&first, 32 * sizeof(int)));
    CHECK(cudaMallocManaged(&second, 32 * sizeof(int)));
    CHECK(cudaMallocManaged((void **)&flags, 2 * sizeof(int)));
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreate(&other));
    flags[0] = flags[1] = 0;
    work<<<1, 32, 0, one>>>(first, flags);
    work<<<1, 32, 0, other>>>(second, flags + 1);
    if (flags[0] != 0)
        printf("early\n");
    while (flags[1] == 0)
        continue;
    printf("%d\n", second[3]);
    printf("%d\n", first[3]); // expect: missing-wait
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaStreamDestroy(one));
    SHOW(cudaStreamDestroy(other));
    SHOW(cudaFree(first));
    SHOW(cudaFree(second));
    SHOW(cudaFree((void *)flags));
    return 0;
}
