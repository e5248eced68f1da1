// Allocations in the order of a stream, and memory pools.
#include "check.h"

static void memory_lives_from_the_stream_s_malloc_to_its_free()
{
    cudaStream_t stream;
    int *device, host[COUNT];
    size_t free_before, free_after, total;
    WORKS(cudaStreamCreate(&stream));
    WORKS(cudaMemGetInfo(&free_before, &total));
    WORKS(cudaMallocAsync(&device, sizeof host, stream));
    set_all<<<BLOCKS, BLOCK, 0, stream>>>(device, COUNT, 8);
    WORKS(cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, stream));
    WORKS(cudaFreeAsync(device, stream));
    WORKS(cudaStreamSynchronize(stream));
    HOLDS(all_are(host, 8));
    WORKS(cudaMemGetInfo(&free_after, &total));
    HOLDS(free_after <= free_before);
    GIVES(cudaErrorInvalidValue, cudaFreeAsync(device, stream));
    WORKS(cudaStreamDestroy(stream));
    (void)cudaGetLastError();
}

static void pools_can_be_made_and_asked()
{
    cudaMemPool_t standard, current, own;
    unsigned long long value = 1 << 20, back = 0;
    int *device;
    WORKS(cudaDeviceGetDefaultMemPool(&standard, 0));
    WORKS(cudaDeviceGetMemPool(&current, 0));
    HOLDS(standard == current);
    WORKS(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &value));
    WORKS(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &back));
    HOLDS(back == value);
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    WORKS(cudaMemPoolCreate(&own, &properties));
    WORKS(cudaMallocFromPoolAsync(&device, 4096, own, 0));
    WORKS(cudaMemsetAsync(device, 0, 4096, 0));
    WORKS(cudaFreeAsync(device, 0));
    WORKS(cudaDeviceSynchronize());
    WORKS(cudaMallocAsync(&device, 4096, own, 0));
    WORKS(cudaFree(device));
    WORKS(cudaMemPoolTrimTo(own, 0));
    WORKS(cudaMemPoolDestroy(own));
}

static void neither_a_pool_nor_a_stream_that_is_gone_gives_memory()
{
    cudaMemPool_t pool;
    cudaStream_t stream;
    int *device;
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    WORKS(cudaMemPoolCreate(&pool, &properties));
    WORKS(cudaMemPoolDestroy(pool));
    WORKS(cudaStreamCreate(&stream));
    WORKS(cudaStreamDestroy(stream));
    GIVES(cudaErrorInvalidValue, cudaMallocFromPoolAsync(&device, 4096, pool, 0));
    GIVES(cudaErrorInvalidResourceHandle, cudaMallocAsync(&device, 4096, stream));
    GIVES(cudaErrorInvalidResourceHandle, cudaFreeAsync(NULL, stream));
    (void)cudaGetLastError();
}

static void a_pool_gives_no_more_than_its_limit()
{
    cudaMemPool_t own;
    int *device, *more;
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.maxSize = 64 << 20;
    WORKS(cudaMemPoolCreate(&own, &properties));
    WORKS(cudaMallocFromPoolAsync(&device, 4096, own, 0));
    GIVES(cudaErrorMemoryAllocation, cudaMallocFromPoolAsync(&more, 256 << 20, own, 0));
    WORKS(cudaFreeAsync(device, 0));
    WORKS(cudaDeviceSynchronize());
    WORKS(cudaMemPoolDestroy(own));
    (void)cudaGetLastError();
}

int main()
{
    memory_lives_from_the_stream_s_malloc_to_its_free();
    pools_can_be_made_and_asked();
    a_pool_gives_no_more_than_its_limit();
    neither_a_pool_nor_a_stream_that_is_gone_gives_memory();
    return 0;
}
