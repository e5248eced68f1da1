// Memory that one kernel allocates and others use and free; what the host wants of it is copied by a kernel first.
#include "../corpus.h"

__device__ int *made;

__global__ void allocate()
{
    made = (int *)malloc(64 * sizeof(int));
    for (int i = 0; i < 64; i++)
        made[i] = i;
}

__global__ void take(int *output)
{
    output[threadIdx.x] = made[threadIdx.x];
}

__global__ void release()
{
    free(made);
}

int main()
{
    int host[64], *output = device_zeros<int>(64), *pointer = NULL;
    allocate<<<1, 1>>>();
    take<<<1, 64>>>(output);
    fetch(host, output);
    REQUIRE(host[63] == 63);
    CHECK(cudaMemcpyFromSymbol(&pointer, made, sizeof pointer));
    REQUIRE(pointer != NULL);
    release<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(output));
    return 0;
}
