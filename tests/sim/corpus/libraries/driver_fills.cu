// The driver API's fills of words and half words, on aligned memory and on memory that is not.
#include "../corpus.h"
#include <cuda.h>

__global__ void add_one(int *numbers)
{
    numbers[threadIdx.x]++;
}

int main()
{
    CUdeviceptr memory;
    int host[32];
    CUstream stream;
    REQUIRE(cuInit(0) == CUDA_SUCCESS && cuMemAlloc(&memory, sizeof host) == CUDA_SUCCESS);
    REQUIRE(cuStreamCreate(&stream, CU_STREAM_DEFAULT) == CUDA_SUCCESS);
    REQUIRE(cuMemsetD32(memory, 70000, 32) == CUDA_SUCCESS);
    REQUIRE(cuMemsetD16Async(memory + 64, 3, 32, stream) == CUDA_SUCCESS);
    add_one<<<1, 32, 0, stream>>>((int *)memory);
    REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    REQUIRE(cuMemcpyDtoH(host, memory, sizeof host) == CUDA_SUCCESS);
    REQUIRE(host[0] == 70001 && host[15] == 70001 && host[16] == 0x30003 + 1 && host[31] == 0x30003 + 1);
    REQUIRE(cuMemsetD32(memory + 2, 0, 1) != CUDA_SUCCESS); // expect: bad-call
    cudaGetLastError();
    REQUIRE(cuStreamDestroy(stream) == CUDA_SUCCESS && cuMemFree(memory) == CUDA_SUCCESS);
    return 0;
}
