// Memory that a kernel allocates is the kernels' alone: the host can neither copy nor fill nor free it.
#include "../corpus.h"

__device__ int *made;

__global__ void allocate()
{
    made = (int *)malloc(64 * sizeof(int));
    for (int i = 0; i < 64; i++)
        made[i] = i;
}

__global__ void make_one(int **place)
{
    *place = new int[64];
}

__global__ void release(int **place)
{
    free(made);
    delete[] * place;
}

int main()
{
    int *pointer = NULL, *other = NULL, host[64], **place = device_zeros<int *>(1), *copy = device_zeros<int>(64);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    allocate<<<1, 1>>>();
    make_one<<<1, 1>>>(place);
    CHECK(cudaMemcpyFromSymbol(&pointer, made, sizeof pointer));
    CHECK(cudaMemcpy(&other, place, sizeof other, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy(host, pointer, sizeof host, cudaMemcpyDeviceToHost));              // expect: bad-call
    SHOW(cudaMemcpy(copy, pointer + 1, sizeof(int), cudaMemcpyDeviceToDevice));        // expect: bad-call
    SHOW(cudaMemset(other, 0, sizeof host));                                           // expect: bad-call
    SHOW(cudaMemcpyAsync(pointer, host, sizeof host, cudaMemcpyHostToDevice, stream)); // expect: bad-call
    SHOW(cudaMemsetAsync(other, 0, 4, stream));                                        // expect: bad-call
    release<<<1, 1>>>(place);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(place));
    CHECK(cudaFree(copy));
    return 0;
}
