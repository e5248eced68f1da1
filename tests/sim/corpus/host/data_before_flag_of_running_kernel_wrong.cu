// The host sets the flag while the kernel runs, as it should; but the kernel takes the data before it looks.
#include "../corpus.h"

__global__ void take(volatile int *ready, volatile int *go, const int *data, int *out)
{
    const int taken = *data;
    *ready = 1;
    __threadfence_system();
    while (*go == 0)
        continue;
    __threadfence_system();
    *out = taken + 1;
}

static int *mapped()
{
    int *word = NULL;
    SHOW(cudaHostAlloc((void **)&word, sizeof(int), cudaHostAllocMapped));
    *word = 0;
    return word;
}

int main()
{
    volatile int *ready = mapped(), *go = mapped();
    int *data = mapped(), *out = mapped();
    take<<<1, 1>>>(ready, go, data, out); // expect: missing-wait a
    *data = 41;                           // expect: missing-wait a
    while (*ready == 0)
        continue;
    __sync_synchronize();
    *go = 1;
    SHOW(cudaDeviceSynchronize());
    for (int *word : {(int *)ready, (int *)go, data, out})
        SHOW(cudaFreeHost(word));
    return 0;
}
