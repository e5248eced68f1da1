// Virtual memory management as growing arrays use it: reserve many addresses, map memory piece by piece, use all of it
// as one array; move it to other addresses with what it holds. Memory that is never released is a leak.
#include "../corpus.h"

#include <cuda.h>

static const size_t piece = 2 << 20;
static const size_t count = piece / sizeof(int);

__global__ void fill(int *values, size_t n)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        values[i] = (int)i;
}

#define WORKS(call) REQUIRE((call) == CUDA_SUCCESS)

static void open(CUdeviceptr start, size_t bytes)
{
    CUmemAccessDesc access = {};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    WORKS(cuMemSetAccess(start, bytes, &access, 1));
}

int main()
{
    CUmemAllocationProp wanted = {}, found;
    CUmemGenericAllocationHandle memory[2], again, lost;
    CUdeviceptr small, large;
    size_t granularity = 0;
    unsigned long long flags = 0;
    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    int supported = 0;
    WORKS(cuInit(0));
    WORKS(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    REQUIRE(supported == 1);
    WORKS(cuMemGetAllocationGranularity(&granularity, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    REQUIRE(piece % granularity == 0);
    WORKS(cuMemAddressReserve(&small, piece, 0, 0, 0));
    WORKS(cuMemAddressReserve(&large, 4 * piece, 0, 0, 0));
    REQUIRE(small % granularity == 0 && large % granularity == 0);
    for (auto &one : memory)
        WORKS(cuMemCreate(&one, piece, &wanted, 0));
    WORKS(cuMemGetAllocationPropertiesFromHandle(&found, memory[0]));
    REQUIRE(found.location.type == CU_MEM_LOCATION_TYPE_DEVICE);

    WORKS(cuMemMap(small, piece, 0, memory[0], 0));
    open(small, piece);
    fill<<<4, 256>>>((int *)small, count);
    CHECK(cudaDeviceSynchronize());
    WORKS(cuMemUnmap(small, piece));

    WORKS(cuMemMap(large, piece, 0, memory[0], 0)); // what it holds comes with it
    open(large, piece);
    int last = 0;
    WORKS(cuMemcpyDtoH(&last, large + piece - sizeof last, sizeof last));
    REQUIRE(last == (int)count - 1);
    WORKS(cuMemMap(large + piece, piece, 0, memory[1], 0));
    open(large + piece, piece);
    WORKS(cuMemGetAccess(&flags, &wanted.location, large + piece));
    REQUIRE(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    fill<<<4, 256>>>((int *)large, 2 * count);
    int *host = (int *)malloc(2 * piece);
    CHECK(cudaMemcpy(host, (void *)large, 2 * piece, cudaMemcpyDeviceToHost)); // both pieces are one array
    for (size_t i = 0; i < 2 * count; i++)
        REQUIRE(host[i] == (int)i);
    free(host);

    WORKS(cuMemRetainAllocationHandle(&again, (void *)(large + piece)));
    REQUIRE(again == memory[1]);
    for (auto one : {memory[0], memory[1], again})
        WORKS(cuMemRelease(one)); // the memory stays while it is mapped
    WORKS(cuMemsetD8(large, 0, 2 * piece));
    WORKS(cuMemUnmap(large, 2 * piece));
    WORKS(cuMemAddressFree(large, 4 * piece));
    WORKS(cuMemAddressFree(small, piece));
    WORKS(cuMemCreate(&lost, piece, &wanted, 0)); // expect: leak(warning)
    return 0;
}
