// printf in a kernel.
#include "../corpus.h"

__global__ void greet(const char *name)
{
    if (threadIdx.x == 3)
        printf("block %d thread %d says %s %5.2f %c %lld\n", blockIdx.x, threadIdx.x, "hello", 1.5, 'x', 1LL << 40);
}

int main()
{
    greet<<<2, 32>>>(NULL);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
