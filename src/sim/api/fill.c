// Fills: cudaMemset and the like, and those of the driver API whose elements are wider than a byte.
#include "api/call.h"
#include "api/copy.h"
#include "api/kernel_memory.h"
#include "api/pointer.h"
#include "api/run.h"
#include "api/stream.h"
#include "api/submit.h"

cudaError_t sim_fill_check(const sim_fill *fill, bool *host_can_see)
{
    const size_t span = (fill->depth - 1) * fill->slice + (fill->height - 1) * fill->pitch + fill->width;
    sim_where where = SIM_AT_NOTHING;
    if (fill->height > 1 && fill->width > fill->pitch)
        return sim_fail(cudaErrorInvalidPitchValue, "rows of %zu bytes are wider than the pitch of %zu", fill->width,
                        fill->pitch);
    const cudaError_t error = sim_pointer_check(fill->to, span, "memory", &where);
    if (error != cudaSuccess)
        return error;
    if (where == SIM_AT_HOST)
        return sim_fail(cudaErrorInvalidValue, "this is host memory: the device cannot fill it");
    *host_can_see = where == SIM_AT_PINNED || where == SIM_AT_MANAGED;
    return cudaSuccess;
}

static cudaError_t fill_in(struct CUstream_st *stream, const sim_fill *fill, bool *host_can_see)
{
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    *host_can_see = false;
    if (fill->width == 0 || fill->height == 0 || fill->depth == 0)
        return cudaSuccess;
    const cudaError_t error = sim_fill_check(fill, host_can_see);
    if (error != cudaSuccess)
        return error;
    sim_work work = sim_work_new(SIM_WORK_FILL);
    work.fill = *fill;
    return sim_stream_submit(stream, &work);
}

// The host does not wait for a fill of device memory, only for what it can see itself.
static cudaError_t fill_now(const sim_fill *fill)
{
    struct CUstream_st *stream = sim_stream_of(NULL);
    bool host_can_see;
    const cudaError_t error = fill_in(stream, fill, &host_can_see);
    return error == cudaSuccess && host_can_see ? sim_stream_wait(stream) : error;
}

static cudaError_t fill_later(const sim_fill *fill, cudaStream_t stream)
{
    bool host_can_see;
    return fill_in(sim_stream_of(stream), fill, &host_can_see);
}

static sim_fill flat(void *memory, int value, size_t bytes)
{
    return (sim_fill){memory, bytes, bytes, bytes, 1, 1, (unsigned char)value, 1};
}

static sim_fill plane(void *memory, size_t pitch, int value, size_t width, size_t height)
{
    return (sim_fill){memory, pitch, pitch * height, width, height, 1, (unsigned char)value, 1};
}

static sim_fill volume(struct cudaPitchedPtr memory, int value, struct cudaExtent extent)
{
    return (sim_fill){memory.ptr,    memory.pitch, memory.pitch * memory.ysize, extent.width,
                      extent.height, extent.depth, (unsigned char)value,        1};
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
    const sim_fill fill = flat(memory, value, bytes);
    return SIM_CALL(fill_now(&fill));
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
    const sim_fill fill = flat(memory, value, bytes);
    return sim_current != NULL ? sim_kernel_fill(memory, value, bytes, stream, SIM_CALLER)
                               : SIM_CALL(fill_later(&fill, stream));
}

cudaError_t cudaMemset2D(void *memory, size_t pitch, int value, size_t width, size_t height)
{
    const sim_fill fill = plane(memory, pitch, value, width, height);
    return SIM_CALL(fill_now(&fill));
}

cudaError_t cudaMemset2DAsync(void *memory, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    const sim_fill fill = plane(memory, pitch, value, width, height);
    return SIM_CALL(fill_later(&fill, stream));
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr memory, int value, struct cudaExtent extent)
{
    const sim_fill fill = volume(memory, value, extent);
    return SIM_CALL(fill_now(&fill));
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr memory, int value, struct cudaExtent extent, cudaStream_t stream)
{
    const sim_fill fill = volume(memory, value, extent);
    return SIM_CALL(fill_later(&fill, stream));
}

// --- the driver API's, of which the runtime has none ----------------------------------------------------------------

typedef unsigned long long device_pointer; // CUdeviceptr

cudaError_t cuMemsetD16(device_pointer memory, unsigned short value, size_t count);
cudaError_t cuMemsetD32(device_pointer memory, unsigned int value, size_t count);
cudaError_t cuMemsetD16Async(device_pointer memory, unsigned short value, size_t count, cudaStream_t stream);
cudaError_t cuMemsetD32Async(device_pointer memory, unsigned int value, size_t count, cudaStream_t stream);

static sim_fill elements(device_pointer memory, unsigned value, size_t count, unsigned element)
{
    const size_t bytes = count * element;
    return (sim_fill){(uint8_t *)(uintptr_t)memory, // NOLINT(performance-no-int-to-ptr)
                      bytes,
                      bytes,
                      bytes,
                      1,
                      1,
                      value,
                      element};
}

static cudaError_t check_elements(const sim_fill *fill)
{
    const unsigned past = (unsigned)((uintptr_t)fill->to % fill->element);
    return past == 0 ? cudaSuccess
                     : sim_fail(cudaErrorInvalidValue, "the address is not a multiple of %u, the size of an element",
                                fill->element);
}

static cudaError_t fill_elements_now(const sim_fill *fill)
{
    const cudaError_t error = check_elements(fill);
    return error == cudaSuccess ? fill_now(fill) : error;
}

static cudaError_t fill_elements_later(const sim_fill *fill, cudaStream_t stream)
{
    const cudaError_t error = check_elements(fill);
    return error == cudaSuccess ? fill_later(fill, stream) : error;
}

cudaError_t cuMemsetD16(device_pointer memory, unsigned short value, size_t count)
{
    const sim_fill fill = elements(memory, value, count, sizeof value);
    return SIM_CALL(fill_elements_now(&fill));
}

cudaError_t cuMemsetD32(device_pointer memory, unsigned int value, size_t count)
{
    const sim_fill fill = elements(memory, value, count, sizeof value);
    return SIM_CALL(fill_elements_now(&fill));
}

cudaError_t cuMemsetD16Async(device_pointer memory, unsigned short value, size_t count, cudaStream_t stream)
{
    const sim_fill fill = elements(memory, value, count, sizeof value);
    return SIM_CALL(fill_elements_later(&fill, stream));
}

cudaError_t cuMemsetD32Async(device_pointer memory, unsigned int value, size_t count, cudaStream_t stream)
{
    const sim_fill fill = elements(memory, value, count, sizeof value);
    return SIM_CALL(fill_elements_later(&fill, stream));
}
