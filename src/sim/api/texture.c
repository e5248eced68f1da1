// Texture and surface objects: descriptions that the fetch functions of device code read (sim/texture.h).
#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/pointer.h"
#include "api/run.h"
#include "sim/texture.h"
#include "watch/watch.h"

enum { BITS_PER_BYTE = 8 };

static struct sim_texture **objects; // all ever made: a destroyed one stays known
static size_t object_count;

static struct sim_texture *object_of(unsigned long long handle, bool surface)
{
    for (size_t i = 0; i < object_count; i++) {
        struct sim_texture *object = objects[i];
        if ((unsigned long long)(uintptr_t)object == handle && object->live && object->surface == surface)
            return object;
    }
    sim_fail(cudaErrorInvalidValue, "there is no such %s object", surface ? "surface" : "texture");
    return NULL;
}

static size_t element_of(const struct cudaChannelFormatDesc *format)
{
    return (size_t)(format->x + format->y + format->z + format->w) / BITS_PER_BYTE;
}

static cudaError_t describe_array(struct sim_texture *object, const struct cudaArray *array)
{
    if (array == NULL || !array->live)
        return sim_fail(cudaErrorInvalidValue, "the array is %s", array == NULL ? "NULL" : "freed");
    object->data = array->data;
    object->pitch = array->pitch;
    object->slice = array->slice;
    object->width = (int)array->extent.width;
    object->height = (int)array->extent.height;
    object->depth = (int)array->extent.depth;
    object->flags = array->flags;
    object->format = array->format;
    return cudaSuccess;
}

static cudaError_t describe_linear(struct sim_texture *object, const struct cudaResourceDesc *resource)
{
    sim_where where;
    object->data = resource->res.linear.devPtr;
    object->format = resource->res.linear.desc;
    object->pitch = object->slice = resource->res.linear.sizeInBytes;
    const size_t element = element_of(&object->format);
    if (element == 0)
        return sim_fail(cudaErrorInvalidChannelDescriptor, "the format has no channel");
    object->width = (int)(resource->res.linear.sizeInBytes / element);
    return sim_pointer_check(object->data, resource->res.linear.sizeInBytes, "texture's memory", &where);
}

static cudaError_t describe_pitched(struct sim_texture *object, const struct cudaResourceDesc *resource)
{
    enum { PITCH_ALIGNMENT = 32 };
    sim_where where;
    object->data = resource->res.pitch2D.devPtr;
    object->format = resource->res.pitch2D.desc;
    object->pitch = resource->res.pitch2D.pitchInBytes;
    object->width = (int)resource->res.pitch2D.width;
    object->height = (int)resource->res.pitch2D.height;
    object->slice = object->pitch * resource->res.pitch2D.height;
    if (object->pitch % PITCH_ALIGNMENT != 0)
        return sim_fail(cudaErrorInvalidValue, "the pitch of %zu bytes is not a multiple of %d", object->pitch,
                        PITCH_ALIGNMENT);
    if (element_of(&object->format) == 0)
        return sim_fail(cudaErrorInvalidChannelDescriptor, "the format has no channel");
    const size_t row = (size_t)object->width * element_of(&object->format);
    return sim_pointer_check(object->data, object->slice - object->pitch + row, "texture's memory", &where);
}

// The levels below the first are textures of their own, which live as long as it does.
static cudaError_t describe_mipmap(struct sim_texture *object, const struct cudaMipmappedArray *mipmap)
{
    if (mipmap == NULL)
        return sim_fail(cudaErrorInvalidValue, "the mipmapped array is NULL");
    cudaError_t error = describe_array(object, mipmap->levels[0]);
    for (unsigned i = 1; i < mipmap->count && error == cudaSuccess; i++) {
        struct sim_texture *level = calloc(1, sizeof *level);
        if (level == NULL)
            return sim_no_memory();
        *level = (struct sim_texture){.live = true, .description = object->description};
        error = describe_array(level, mipmap->levels[i]);
        level->element = (int)element_of(&level->format);
        object->next_level = level;
        object = level;
    }
    return error;
}

static cudaError_t describe(struct sim_texture *object, const struct cudaResourceDesc *resource)
{
    switch (resource->resType) {
    case cudaResourceTypeArray: return describe_array(object, resource->res.array.array);
    case cudaResourceTypeMipmappedArray: return describe_mipmap(object, resource->res.mipmap.mipmap);
    case cudaResourceTypeLinear: return describe_linear(object, resource);
    case cudaResourceTypePitch2D: return describe_pitched(object, resource);
    }
    return sim_fail(cudaErrorInvalidValue, "%d is not a type of resource", (int)resource->resType);
}

static cudaError_t create(unsigned long long *handle, const struct cudaResourceDesc *resource,
                          const struct cudaTextureDesc *description)
{
    if (handle == NULL || resource == NULL)
        return sim_fail(cudaErrorInvalidValue, "the %s is NULL",
                        handle == NULL ? "output argument for the object" : "resource");
    struct sim_texture *made = calloc(1, sizeof *made);
    struct sim_texture **larger = made != NULL ? realloc(objects, (object_count + 1) * sizeof *objects) : NULL;
    if (larger == NULL) {
        free(made);
        return sim_no_memory();
    }
    objects = larger;
    made->live = true;
    made->resource = *resource;
    made->surface = description == NULL;
    if (description != NULL)
        made->description = *description;
    const cudaError_t error = describe(made, resource);
    if (error != cudaSuccess) {
        free(made);
        return error;
    }
    made->element = (int)element_of(&made->format);
    sim_repeated_never();
    objects[object_count++] = made;
    *handle = (unsigned long long)(uintptr_t)made;
    return cudaSuccess;
}

SIM_API(cudaCreateTextureObject,
        (cudaTextureObject_t * texture, const struct cudaResourceDesc *resource,
         const struct cudaTextureDesc *description, const struct cudaResourceViewDesc *view),
        (texture, resource, description, view))
{
    (void)view;
    if (description == NULL)
        return sim_fail(cudaErrorInvalidValue, "the description is NULL");
    return create(texture, resource, description);
}

SIM_API(cudaCreateSurfaceObject, (cudaSurfaceObject_t * surface, const struct cudaResourceDesc *resource),
        (surface, resource))
{
    if (resource != NULL && resource->resType != cudaResourceTypeArray)
        return sim_fail(cudaErrorInvalidValue, "a surface is made of an array");
    return create(surface, resource, NULL);
}

// What was launched before the object is destroyed still uses it. The host has waited for nothing all the same.
static void run_queued(void)
{
    for (struct CUstream_st *stream = sim_streams; stream != NULL; stream = stream->next)
        while (sim_stream_step(stream))
            ;
}

static cudaError_t destroy(unsigned long long handle, bool surface)
{
    struct sim_texture *object = handle != 0 ? object_of(handle, surface) : NULL;
    if (object == NULL)
        return handle == 0 ? cudaSuccess : cudaErrorInvalidValue;
    run_queued();
    object->live = false;
    return cudaSuccess;
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture)
{
    return SIM_CALL(destroy(texture, false));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface)
{
    return SIM_CALL(destroy(surface, true));
}

static cudaError_t get_resource(struct cudaResourceDesc *resource, unsigned long long handle, bool surface)
{
    const struct sim_texture *object = object_of(handle, surface);
    if (object == NULL || resource == NULL)
        return cudaErrorInvalidValue;
    *resource = object->resource;
    return cudaSuccess;
}

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource, cudaTextureObject_t texture)
{
    return SIM_CALL(get_resource(resource, texture, false));
}

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource, cudaSurfaceObject_t surface)
{
    return SIM_CALL(get_resource(resource, surface, true));
}

SIM_API(cudaGetTextureObjectTextureDesc, (struct cudaTextureDesc * description, cudaTextureObject_t handle),
        (description, handle))
{
    const struct sim_texture *object = object_of(handle, false);
    if (object == NULL || description == NULL)
        return cudaErrorInvalidValue;
    *description = object->description;
    return cudaSuccess;
}
