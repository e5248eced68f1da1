// Memory that is mapped to reserved addresses, used in wrong ways: copies where it is not open, or not mapped any more,
// an array read past the part that is mapped, memory released twice.
#include "../corpus.h"

#include <cuda.h>

static const size_t piece = 2 << 20;

__global__ void read(const int *values, size_t at, int *output)
{
    *output = values[at]; // expect: out-of-bounds
}

int main()
{
    CUmemAllocationProp wanted = {};
    CUmemAccessDesc access = {};
    CUmemGenericAllocationHandle memory;
    CUdeviceptr start;
    int *output = device_zeros<int>(1), value = 0;
    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location.type = access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    REQUIRE(cuMemCreate(&memory, piece, &wanted, 0) == CUDA_SUCCESS);
    REQUIRE(cuMemCreate(&memory, 1000, &wanted, 0) != CUDA_SUCCESS); // expect: bad-call
    REQUIRE(cuMemAddressReserve(&start, 2 * piece, 0, 0, 0) == CUDA_SUCCESS);
    REQUIRE(cuMemMap(start, piece, 0, memory, 0) == CUDA_SUCCESS);
    REQUIRE(cuMemMap(start + piece, piece, 0, memory, 0) == CUDA_ERROR_NOT_SUPPORTED); // expect: bad-call
    SHOW(cudaMemset((void *)start, 0, piece));                                         // expect: out-of-bounds
    REQUIRE(cuMemSetAccess(start, 2 * piece, &access, 1) != CUDA_SUCCESS);             // expect: bad-call
    REQUIRE(cuMemSetAccess(start, piece, &access, 1) == CUDA_SUCCESS);
    CHECK(cudaMemset((void *)start, 0, piece));
    SHOW(cudaMemset((void *)start, 0, piece + 1));               // expect: out-of-bounds
    SHOW(cudaFree((void *)start));                               // expect: invalid-free
    REQUIRE(cuMemAddressFree(start, 2 * piece) != CUDA_SUCCESS); // expect: bad-call
    REQUIRE(cuMemUnmap(start, piece) == CUDA_SUCCESS);
    SHOW(cudaMemcpy(&value, (void *)start, 4, cudaMemcpyDefault)); // expect: use-after-free
    REQUIRE(cuMemMap(start, piece, 0, memory, 0) == CUDA_SUCCESS);
    REQUIRE(cuMemSetAccess(start, piece, &access, 1) == CUDA_SUCCESS);
    CHECK(cudaMemcpy(&value, (void *)start, 4, cudaMemcpyDeviceToHost));
    REQUIRE(value == 0);
    REQUIRE(cuMemRelease(memory) == CUDA_SUCCESS);
    REQUIRE(cuMemRelease(memory) != CUDA_SUCCESS); // expect: bad-call
    read<<<1, 1>>>((const int *)start, piece / sizeof(int), output);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
