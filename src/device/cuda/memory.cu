// Memory of the card: a pool, so that what was freed is used again without a word to the driver or a wait for the
// device. As on every device, the caller has waited for the work that uses memory before it frees it.

#include <stdint.h>
#include <string.h>

#include "device/cuda/cuda.h"

heddle_status heddle_cuda_pool_create(heddle_cuda_device *device)
{
    int pools = 0;
    HEDDLE_CUDA_TRY(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, device->index));
    if (!pools)
        return HEDDLE_OK;
    cudaMemPoolProps properties;
    memset(&properties, 0, sizeof properties);
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device->index;
    HEDDLE_CUDA_TRY(cudaMemPoolCreate(&device->pool, &properties));
    uint64_t keep = UINT64_MAX; // until the device is closed, or another pool runs short
    heddle_status status =
        HEDDLE_CUDA_CHECK(cudaMemPoolSetAttribute(device->pool, cudaMemPoolAttrReleaseThreshold, &keep));
    if (status == HEDDLE_OK)
        status = HEDDLE_CUDA_CHECK(cudaStreamCreateWithFlags(&device->memory, cudaStreamNonBlocking));
    if (status != HEDDLE_OK)
        heddle_cuda_pool_destroy(device);
    return status;
}

// Freeing has nobody to tell. It fails after a failure of the device, which has been told, and the message stays.
static void quietly(cudaError_t error)
{
    if (error != cudaSuccess)
        cudaGetLastError();
}

void heddle_cuda_pool_destroy(heddle_cuda_device *device)
{
    quietly(cudaSetDevice(device->index));
    if (device->memory) {
        quietly(cudaStreamSynchronize(device->memory));
        quietly(cudaStreamDestroy(device->memory));
    }
    if (device->pool)
        quietly(cudaMemPoolDestroy(device->pool));
    device->pool = NULL;
    device->memory = NULL;
}

uint64_t heddle_cuda_pool_idle(const heddle_cuda_device *device)
{
    uint64_t reserved = 0, used = 0;
    if (!device->pool)
        return 0;
    quietly(cudaMemPoolGetAttribute(device->pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
    quietly(cudaMemPoolGetAttribute(device->pool, cudaMemPoolAttrUsedMemCurrent, &used));
    return reserved > used ? reserved - used : 0;
}

// The pool's own stream is empty but for allocations: waiting for it is no wait for anybody's work. After it every
// stream may use what was allocated, and what was freed is gone, so that the simulator sees a late use of it.
static heddle_status allocate_from_pool(const heddle_cuda_device *device, size_t bytes, void **memory)
{
    HEDDLE_CUDA_TRY(cudaMallocFromPoolAsync(memory, bytes, device->pool, device->memory));
    return HEDDLE_CUDA_CHECK(cudaStreamSynchronize(device->memory));
}

static void free_to_pool(const heddle_cuda_device *device, void *memory)
{
    quietly(cudaFreeAsync(memory, device->memory));
    quietly(cudaStreamSynchronize(device->memory));
}

// A capture of this thread is of other streams, and is none of the pool's business.
static cudaStreamCaptureMode leave_capture(void)
{
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    quietly(cudaThreadExchangeStreamCaptureMode(&mode));
    return mode;
}

static void return_to_capture(cudaStreamCaptureMode mode)
{
    quietly(cudaThreadExchangeStreamCaptureMode(&mode));
}

heddle_status heddle_cuda_alloc(heddle_device *device_, size_t bytes, void **memory)
{
    const heddle_cuda_device *device = (const heddle_cuda_device *)device_;
    HEDDLE_TRY(heddle_cuda_select(device_));
    if (!device->pool)
        return HEDDLE_CUDA_CHECK(cudaMalloc(memory, bytes));
    cudaStreamCaptureMode mode = leave_capture();
    heddle_status status = allocate_from_pool(device, bytes, memory);
    return_to_capture(mode);
    return status;
}

void heddle_cuda_free(heddle_device *device_, void *memory, size_t bytes)
{
    (void)bytes;
    const heddle_cuda_device *device = (const heddle_cuda_device *)device_;
    quietly(cudaSetDevice(device->index));
    if (!device->pool) {
        quietly(cudaFree(memory));
        return;
    }
    cudaStreamCaptureMode mode = leave_capture();
    free_to_pool(device, memory);
    return_to_capture(mode);
}

heddle_status heddle_cuda_alloc_pinned(heddle_device *device, size_t bytes, void **memory)
{
    HEDDLE_TRY(heddle_cuda_select(device));
    return HEDDLE_CUDA_CHECK(cudaMallocHost(memory, bytes));
}

void heddle_cuda_free_pinned(heddle_device *device, void *memory, size_t bytes)
{
    (void)bytes;
    quietly(cudaSetDevice(heddle_cuda_index(device)));
    quietly(cudaFreeHost(memory));
}
