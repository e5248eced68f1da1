// CUDA arrays, textures and surfaces as data: pitched memory with a format. Reading them in a kernel is the business of
// the stand-in headers.
#include <stdlib.h>
#include <string.h>

#include "api/allocate.h"
#include "api/call.h"
#include "api/copy.h"
#include "api/run.h"
#include "api/stream.h"
#include "memory/memory.h"
#include "sim/texture.h"
#include "watch/watch.h"

enum { BITS_PER_BYTE = 8, ROW_ALIGNMENT = 32, CUBE_FACES = 6 };

static struct cudaArray **arrays; // all ever made: a freed one stays known
static size_t array_count;

static struct cudaArray *array_of(cudaArray_const_t handle)
{
    for (size_t i = 0; i < array_count; i++) {
        if (arrays[i] != handle)
            continue;
        if (!arrays[i]->live)
            sim_fail_as(SIM_USE_AFTER_FREE, SIM_ERROR, cudaErrorInvalidResourceHandle, 0, 0,
                        "the array has been freed");
        return arrays[i]->live ? arrays[i] : NULL;
    }
    sim_fail(cudaErrorInvalidResourceHandle, "there is no such array");
    return NULL;
}

static size_t element_of(const struct cudaChannelFormatDesc *format)
{
    return (size_t)(format->x + format->y + format->z + format->w) / BITS_PER_BYTE;
}

static size_t at_least_one(size_t count)
{
    return count > 0 ? count : 1;
}

// --- arrays ---------------------------------------------------------------------------------------------------------

static cudaError_t make(cudaArray_t *array, const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
                        unsigned flags)
{
    if (array == NULL || format == NULL || extent.width == 0)
        return sim_fail(cudaErrorInvalidValue, "an array needs a place, a format and a width");
    const size_t element = element_of(format);
    if (element == 0 || element > 16)
        return sim_fail(cudaErrorInvalidChannelDescriptor, "the format has %zu bytes per element", element);
    if ((flags & cudaArrayCubemap) && (extent.width != extent.height || extent.depth % CUBE_FACES != 0))
        return sim_fail(cudaErrorInvalidValue, "a cube map has square faces, six of them");
    struct cudaArray *made = calloc(1, sizeof *made);
    struct cudaArray **larger = made != NULL ? realloc(arrays, (array_count + 1) * sizeof *arrays) : NULL;
    if (larger == NULL) {
        free(made);
        return sim_no_memory();
    }
    arrays = larger;
    made->format = *format;
    made->element = element;
    made->extent = extent;
    made->flags = flags;
    made->pitch = (extent.width * element + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
    made->slice = made->pitch * at_least_one(extent.height);
    const cudaError_t error = sim_allocate(&made->data, made->slice * at_least_one(extent.depth), SIM_MEMORY_DEVICE);
    if (error != cudaSuccess) {
        free(made);
        return error;
    }
    made->live = true;
    arrays[array_count++] = made;
    *array = made;
    return cudaSuccess;
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format, size_t width, size_t height,
                            unsigned int flags)
{
    return SIM_CALL(make(array, format, (struct cudaExtent){width, height, 0}, flags));
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
                              unsigned int flags)
{
    return SIM_CALL(make(array, format, extent, flags));
}

static void drop(struct cudaArray *array)
{
    sim_watch_release((uintptr_t)array->data, sim_call_pc());
    array->live = false;
}

static cudaError_t destroy(struct cudaArray *array)
{
    const cudaError_t error = sim_device_wait();
    drop(array);
    return error;
}

SIM_API(cudaFreeArray, (cudaArray_t handle), (handle))
{
    if (handle == NULL)
        return cudaSuccess;
    struct cudaArray *array = array_of(handle);
    if (array == NULL)
        return cudaErrorInvalidResourceHandle;
    if (array->level)
        return sim_fail_as(SIM_INVALID_FREE, SIM_ERROR, cudaErrorInvalidResourceHandle, 0, 0,
                           "the array is a level of a mipmapped array, which is freed as a whole");
    return destroy(array);
}

static cudaError_t array_info(struct cudaChannelFormatDesc *format, struct cudaExtent *extent, unsigned *flags,
                              cudaArray_const_t handle)
{
    const struct cudaArray *array = array_of(handle);
    if (array == NULL)
        return cudaErrorInvalidResourceHandle;
    if (format != NULL)
        *format = array->format;
    if (extent != NULL)
        *extent = array->extent;
    if (flags != NULL)
        *flags = array->flags;
    return cudaSuccess;
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cudaExtent *extent, unsigned int *flags,
                             cudaArray_t array)
{
    return SIM_CALL(array_info(format, extent, flags, array));
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *format, cudaArray_const_t array)
{
    return SIM_CALL(array_info(format, NULL, NULL, array));
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

// --- mipmaps --------------------------------------------------------------------------------------------------------

static size_t halved(size_t size, unsigned times)
{
    const size_t smaller = size >> times;
    return size > 0 && smaller == 0 ? 1 : smaller;
}

// For levels that nothing on the device has seen yet.
static void drop_mipmap(cudaMipmappedArray_t mipmap)
{
    for (unsigned i = 0; i < mipmap->count; i++)
        drop(mipmap->levels[i]);
    free(mipmap->levels);
    free(mipmap);
}

SIM_API(cudaMallocMipmappedArray,
        (cudaMipmappedArray_t * mipmap, const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
         unsigned int levels, unsigned int flags),
        (mipmap, format, extent, levels, flags))
{
    if (mipmap == NULL || levels == 0)
        return sim_fail(cudaErrorInvalidValue, "a mipmapped array needs a place and a level");
    struct cudaMipmappedArray *made = calloc(1, sizeof *made);
    struct cudaArray **list = calloc(levels, sizeof *list);
    if (made == NULL || list == NULL) {
        free(made);
        free(list);
        return sim_no_memory();
    }
    made->levels = list;
    const bool layered = flags & (cudaArrayLayered | cudaArrayCubemap);
    for (; made->count < levels; made->count++) {
        const unsigned i = made->count;
        const struct cudaExtent smaller = {halved(extent.width, i), halved(extent.height, i),
                                           layered ? extent.depth : halved(extent.depth, i)};
        const cudaError_t error = make(&list[i], format, smaller, flags);
        if (list[i] == NULL) {
            drop_mipmap(made);
            return error;
        }
        list[i]->level = true;
    }
    *mipmap = made;
    return cudaSuccess;
}

SIM_API(cudaFreeMipmappedArray, (cudaMipmappedArray_t mipmap), (mipmap))
{
    if (mipmap == NULL)
        return cudaSuccess;
    for (unsigned i = 0; i < mipmap->count; i++)
        destroy(mipmap->levels[i]);
    free(mipmap->levels);
    free(mipmap);
    return sim_error_broken();
}

SIM_API(cudaGetMipmappedArrayLevel, (cudaArray_t * array, cudaMipmappedArray_const_t mipmap, unsigned int level),
        (array, mipmap, level))
{
    if (array == NULL || mipmap == NULL || level >= mipmap->count)
        return sim_fail(cudaErrorInvalidValue, "there is no level %u", level);
    *array = mipmap->levels[level];
    return cudaSuccess;
}

// --- copies ---------------------------------------------------------------------------------------------------------

// A window into an array, in bytes across; offsets too.
typedef struct window {
    cudaArray_const_t array;
    size_t x, y, width, height;
} window;

static cudaError_t locate(window at, uint8_t **start, size_t *pitch)
{
    const struct cudaArray *array = array_of(at.array);
    if (array == NULL)
        return cudaErrorInvalidResourceHandle;
    if (at.x + at.width > array->extent.width * array->element || at.y + at.height > at_least_one(array->extent.height))
        return sim_fail_as(SIM_OUT_OF_BOUNDS, SIM_ERROR, cudaErrorInvalidValue, 0, 0,
                           "%zu bytes by %zu rows at (%zu, %zu) do not fit an array of %zu bytes by %zu rows", at.width,
                           at.height, at.x, at.y, array->extent.width * array->element,
                           at_least_one(array->extent.height));
    *start = (uint8_t *)array->data + at.y * array->pitch + at.x;
    *pitch = array->pitch;
    return cudaSuccess;
}

static cudaError_t copy(const sim_copy_request *request, bool now, cudaStream_t stream)
{
    return now ? sim_copy_now(request) : sim_copy_in(request, stream);
}

static cudaError_t to_array(window at, const void *from, size_t pitch, enum cudaMemcpyKind kind, bool now,
                            cudaStream_t stream)
{
    sim_copy_request request = {.from = from,
                                .from_pitch = pitch,
                                .from_slice = pitch * at.height,
                                .width = at.width,
                                .height = at.height,
                                .depth = 1,
                                .kind = kind};
    uint8_t *start = NULL;
    const cudaError_t error = locate(at, &start, &request.to_pitch);
    request.to = start;
    request.to_slice = request.to_pitch * at.height;
    return error == cudaSuccess ? copy(&request, now, stream) : error;
}

static cudaError_t from_array(void *to, size_t pitch, window at, enum cudaMemcpyKind kind, bool now,
                              cudaStream_t stream)
{
    sim_copy_request request = {.to = to,
                                .to_pitch = pitch,
                                .to_slice = pitch * at.height,
                                .width = at.width,
                                .height = at.height,
                                .depth = 1,
                                .kind = kind};
    uint8_t *start = NULL;
    const cudaError_t error = locate(at, &start, &request.from_pitch);
    request.from = start;
    request.from_slice = request.from_pitch * at.height;
    return error == cudaSuccess ? copy(&request, now, stream) : error;
}

// So many bytes in rows as wide as the array: the form of the calls without 2D in their name.
static window rows(cudaArray_const_t array, size_t x, size_t y, size_t bytes)
{
    const size_t width = array != NULL ? array->extent.width * array->element : bytes;
    return bytes <= width ? (window){array, x, y, bytes, 1} : (window){array, x, y, width, bytes / width};
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind)
{
    const window at = rows(to, x, y, bytes);
    return SIM_CALL(to_array(at, from, at.width, kind, true, NULL));
}

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                enum cudaMemcpyKind kind)
{
    const window at = rows(from, x, y, bytes);
    return SIM_CALL(from_array(to, at.width, at, kind, true, NULL));
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                   enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const window at = rows(to, x, y, bytes);
    return SIM_CALL(to_array(at, from, at.width, kind, false, stream));
}

cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const window at = rows(from, x, y, bytes);
    return SIM_CALL(from_array(to, at.width, at, kind, false, stream));
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind)
{
    return SIM_CALL(to_array((window){to, x, y, width, height}, from, pitch, kind, true, NULL));
}

cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, enum cudaMemcpyKind kind)
{
    return SIM_CALL(from_array(to, pitch, (window){from, x, y, width, height}, kind, true, NULL));
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                     size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return SIM_CALL(to_array((window){to, x, y, width, height}, from, pitch, kind, false, stream));
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                       size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return SIM_CALL(from_array(to, pitch, (window){from, x, y, width, height}, kind, false, stream));
}

static cudaError_t between_arrays(window to, window from)
{
    uint8_t *start = NULL;
    size_t pitch = 0;
    const cudaError_t error = locate(from, &start, &pitch);
    return error == cudaSuccess ? to_array(to, start, pitch, cudaMemcpyDeviceToDevice, true, NULL) : error;
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                     size_t from_y, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    (void)kind;
    return SIM_CALL(
        between_arrays((window){to, to_x, to_y, width, height}, (window){from, from_x, from_y, width, height}));
}
