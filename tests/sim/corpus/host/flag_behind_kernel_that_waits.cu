// The host polls a flag of its own that a function in a stream sets, behind a kernel that waits for the host: each of
// them waits for the other.
#include "../corpus.h"

static volatile int flag;

__global__ void wait_for_host(volatile int *go)
{
    while (*go == 0) // expect: spin
        continue;
}

static void tell(void *)
{
    flag = 1;
}

int main()
{
    int *go = NULL;
    SHOW(cudaHostAlloc((void **)&go, sizeof(int), cudaHostAllocMapped));
    *go = 0;
    wait_for_host<<<1, 1>>>(go);
    SHOW(cudaLaunchHostFunc(0, tell, NULL));
    while (flag == 0)
        continue;
    *(volatile int *)go = 1;
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFreeHost(go));
    return 0;
}
