// Memory of every kind: what is allocated, how much is left, what a pointer is, and what cannot be freed.
#include "check.h"
#include <errno.h>

static void a_card_that_is_full_says_so()
{
    const size_t granule = 4 << 20; // more than any card rounds an allocation up by
    size_t free_before, free_then, total;
    void *memory, *more;
    WORKS(cudaMemGetInfo(&free_before, &total));
    HOLDS(free_before <= total);
    GIVES(cudaErrorMemoryAllocation, cudaMalloc(&memory, total));
    HOLDS(memory == NULL);
    HOLDS(cudaGetLastError() == cudaErrorMemoryAllocation);
    HOLDS(cudaGetLastError() == cudaSuccess);
    WORKS(cudaMalloc(&memory, free_before / 2));
    WORKS(cudaMemGetInfo(&free_then, &total));
    HOLDS(free_then < free_before && free_then >= free_before / 2 - granule);
    GIVES(cudaErrorMemoryAllocation, cudaMalloc(&more, free_before / 2 + granule));
    WORKS(cudaFree(memory));
    WORKS(cudaMemGetInfo(&free_then, &total));
    HOLDS(free_then == free_before);
}

// More than the range of addresses holds, one after the other: old addresses are taken again.
static void freed_memory_can_be_had_again()
{
    size_t free_bytes, total;
    WORKS(cudaMemGetInfo(&free_bytes, &total));
    for (int i = 0; i < 20; i++) {
        char *large, *small;
        WORKS(cudaMalloc(&small, 100));
        WORKS(cudaMalloc(&large, free_bytes / 4));
        WORKS(cudaMemset(large + free_bytes / 4 - 10, i, 10));
        char last = 0;
        WORKS(cudaMemcpy(&last, large + free_bytes / 4 - 1, 1, cudaMemcpyDeviceToHost));
        HOLDS(last == i);
        WORKS(cudaFree(large));
        WORKS(cudaFree(small));
    }
}

static void allocations_are_aligned_and_apart()
{
    enum { MANY = 200 };
    char *memory[MANY];
    for (int i = 0; i < MANY; i++) {
        WORKS(cudaMalloc(&memory[i], i + 1));
        HOLDS((size_t)memory[i] % 256 == 0);
        HOLDS(i == 0 || memory[i] > memory[i - 1] + i);
    }
    for (int i = 0; i < MANY; i++)
        WORKS(cudaFree(memory[i]));
    void *nothing = &nothing;
    WORKS(cudaMalloc(&nothing, 0));
    HOLDS(nothing == NULL);
    WORKS(cudaFree(NULL));
    WORKS(cudaFreeHost(NULL));
}

static void pitched_rows_start_at_multiples()
{
    float *plane;
    size_t pitch;
    WORKS(cudaMallocPitch(&plane, &pitch, 100 * sizeof(float), 7));
    HOLDS(pitch >= 400 && pitch % 32 == 0);
    WORKS(cudaMemset2D(plane, pitch, 0, 100 * sizeof(float), 7));
    WORKS(cudaFree(plane));
    cudaPitchedPtr volume;
    WORKS(cudaMalloc3D(&volume, make_cudaExtent(100, 5, 3)));
    HOLDS(volume.pitch >= 100 && volume.xsize == 100 && volume.ysize == 5);
    WORKS(cudaMemset3D(volume, 1, make_cudaExtent(100, 5, 3)));
    WORKS(cudaFree(volume.ptr));
}

static void a_pointer_tells_what_it_is()
{
    int *device, *pinned, *managed, *mapped, plain[4] = {0};
    unsigned flags;
    cudaPointerAttributes attributes;
    WORKS(cudaMalloc(&device, 16));
    WORKS(cudaHostAlloc(&pinned, 16, cudaHostAllocMapped));
    WORKS(cudaMallocManaged(&managed, 16));
    WORKS(cudaPointerGetAttributes(&attributes, device + 1));
    HOLDS(attributes.type == cudaMemoryTypeDevice && attributes.device == 0 && attributes.devicePointer == device + 1);
    WORKS(cudaPointerGetAttributes(&attributes, pinned));
    HOLDS(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == pinned);
    WORKS(cudaPointerGetAttributes(&attributes, managed));
    HOLDS(attributes.type == cudaMemoryTypeManaged);
    WORKS(cudaPointerGetAttributes(&attributes, plain));
    HOLDS(attributes.type == cudaMemoryTypeUnregistered);
    WORKS(cudaHostGetDevicePointer(&mapped, pinned, 0));
    pinned[0] = 5;
    add_one<<<1, 1>>>(mapped, 1);
    WORKS(cudaDeviceSynchronize());
    HOLDS(pinned[0] == 6);
    WORKS(cudaHostGetFlags(&flags, pinned));
    HOLDS(flags & cudaHostAllocMapped);
    GIVES(cudaErrorInvalidValue, cudaHostGetDevicePointer(&mapped, plain, 0));
    WORKS(cudaFree(device));
    WORKS(cudaFreeHost(pinned));
    WORKS(cudaFree(managed));
}

static void host_memory_can_be_registered()
{
    int *memory = (int *)calloc(COUNT, sizeof(int)), *mapped;
    WORKS(cudaHostRegister(memory, COUNT * sizeof(int), cudaHostRegisterMapped));
    GIVES(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(memory + 1, sizeof(int), 0));
    WORKS(cudaHostGetDevicePointer(&mapped, memory, 0));
    add_one<<<BLOCKS, BLOCK>>>(mapped, COUNT);
    WORKS(cudaDeviceSynchronize());
    HOLDS(all_are(memory, 1));
    WORKS(cudaHostUnregister(memory));
    GIVES(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(memory));
    free(memory);
}

static void what_was_not_allocated_is_not_freed()
{
    int *device, *pinned, plain;
    WORKS(cudaMalloc(&device, 16));
    WORKS(cudaMallocHost(&pinned, 16));
    GIVES(cudaErrorInvalidValue, cudaFree(&plain));
    GIVES(cudaErrorInvalidValue, cudaFree(device + 1));
    GIVES(cudaErrorInvalidValue, cudaFree(pinned));
    GIVES(cudaErrorInvalidValue, cudaFreeHost(device));
    WORKS(cudaFree(device));
    GIVES(cudaErrorInvalidValue, cudaFree(device));
    WORKS(cudaFreeHost(pinned));
    (void)cudaGetLastError();
}

static void arrays_that_cannot_be_made_are_refused()
{
    cudaArray_t array;
    cudaMipmappedArray_t mipmap;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>(), empty = {};
    GIVES(cudaErrorInvalidValue, cudaMallocArray((cudaArray_t *)NULL, &format, 4, 4));
    GIVES(cudaErrorInvalidValue, cudaMallocArray(&array, NULL, 4, 4));
    GIVES(cudaErrorInvalidValue, cudaMallocArray(&array, &format, 0, 4));
    GIVES(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &empty, 4, 4));
    GIVES(cudaErrorInvalidValue, cudaMalloc3DArray(&array, &format, make_cudaExtent(4, 5, 6), cudaArrayCubemap));
    GIVES(cudaErrorInvalidValue, cudaMalloc3DArray(&array, &format, make_cudaExtent(4, 4, 5), cudaArrayCubemap));
    GIVES(cudaErrorInvalidValue, cudaMallocMipmappedArray(NULL, &format, make_cudaExtent(8, 8, 0), 2, 0));
    GIVES(cudaErrorInvalidValue, cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(8, 8, 0), 0, 0));
    WORKS(cudaMalloc3DArray(&array, &format, make_cudaExtent(4, 4, 6), cudaArrayCubemap));
    WORKS(cudaFreeArray(array));
    (void)cudaGetLastError();
}

static void the_host_heap_keeps_the_rules_of_posix()
{
    void *memory = NULL;
    HOLDS(posix_memalign(&memory, 0, 100) == EINVAL);
    HOLDS(posix_memalign(&memory, sizeof(void *) / 2, 100) == EINVAL);
    HOLDS(posix_memalign(&memory, 3 * sizeof(void *), 100) == EINVAL);
    HOLDS(memory == NULL);
    HOLDS(posix_memalign(&memory, 4096, 100) == 0 && (size_t)memory % 4096 == 0);
    free(memory);
}

int main()
{
    a_card_that_is_full_says_so();
    freed_memory_can_be_had_again();
    allocations_are_aligned_and_apart();
    pitched_rows_start_at_multiples();
    a_pointer_tells_what_it_is();
    host_memory_can_be_registered();
    what_was_not_allocated_is_not_freed();
    arrays_that_cannot_be_made_are_refused();
    the_host_heap_keeps_the_rules_of_posix();
    return 0;
}
