// The runtime API's functions for streams, and waiting for the device.
#include <stdlib.h>

#include "api/call.h"
#include "api/capture.h"
#include "api/children.h"
#include "api/event.h"
#include "api/run.h"
#include "api/stream.h"
#include "api/submit.h"

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };

// --- making and destroying ------------------------------------------------------------------------------------------

static cudaError_t create(cudaStream_t *stream, unsigned flags, int priority)
{
    if (stream == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the stream is NULL");
    if (flags & ~(unsigned)cudaStreamNonBlocking)
        return sim_fail(cudaErrorInvalidValue, "0x%x is not a flag of a stream", flags);
    const int lowered = priority > LEAST_PRIORITY ? LEAST_PRIORITY : priority;
    *stream = sim_stream_new(flags, lowered < GREATEST_PRIORITY ? GREATEST_PRIORITY : lowered);
    return *stream != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return SIM_CALL(create(stream, cudaStreamDefault, 0));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    return sim_current != NULL ? sim_child_stream(stream) : SIM_CALL(create(stream, flags, 0));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
    return SIM_CALL(create(stream, flags, priority));
}

// What is queued still runs, as in CUDA.
static cudaError_t destroy(cudaStream_t handle)
{
    if (handle == NULL || handle == cudaStreamLegacy || handle == cudaStreamPerThread)
        return sim_fail(cudaErrorInvalidResourceHandle, "a default stream cannot be destroyed");
    struct CUstream_st *stream = sim_stream_of(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    if (stream->capture != NULL && !sim_capture_leave(stream))
        return sim_capture_refuse(stream);
    stream->live = false;
    if (stream->first == NULL && !stream->chain_ended) {
        sim_chain_end(stream->chain);
        stream->chain_ended = true;
    }
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    return sim_current != NULL ? cudaSuccess : SIM_CALL(destroy(handle));
}

// --- asking ---------------------------------------------------------------------------------------------------------

SIM_API(cudaStreamGetPriority, (cudaStream_t handle, int *priority), (handle, priority))
{
    struct CUstream_st *stream = sim_stream_of(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    *priority = stream->priority;
    return cudaSuccess;
}

SIM_API(cudaStreamGetFlags, (cudaStream_t handle, unsigned int *flags), (handle, flags))
{
    struct CUstream_st *stream = sim_stream_of(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    *flags = stream->flags;
    return cudaSuccess;
}

SIM_API(cudaStreamGetId, (cudaStream_t handle, unsigned long long *id), (handle, id))
{
    struct CUstream_st *stream = sim_stream_of(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    *id = stream->number + 1;
    return cudaSuccess;
}

SIM_API(cudaStreamGetDevice, (cudaStream_t handle, int *device), (handle, device))
{
    *device = 0;
    return sim_stream_of(handle) != NULL ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least != NULL)
        *least = LEAST_PRIORITY;
    if (greatest != NULL)
        *greatest = GREATEST_PRIORITY;
    return SIM_CALL(cudaSuccess);
}

// Attributes steer caches and scheduling, which are not simulated: kept, and given back.
SIM_API(cudaStreamSetAttribute,
        (cudaStream_t handle, cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue *value),
        (handle, attribute, value))
{
    struct CUstream_st *stream = sim_stream_of(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    if (value == NULL)
        return sim_fail(cudaErrorInvalidValue, "the value is NULL");
    if (attribute == cudaLaunchAttributePriority)
        stream->priority = value->priority;
    else
        stream->access_policy = *value;
    return cudaSuccess;
}

SIM_API(cudaStreamGetAttribute, (cudaStream_t handle, cudaLaunchAttributeID attribute, cudaLaunchAttributeValue *value),
        (handle, attribute, value))
{
    struct CUstream_st *stream = sim_stream_of(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    *value = stream->access_policy;
    if (attribute == cudaLaunchAttributePriority)
        value->priority = stream->priority;
    return cudaSuccess;
}

SIM_API(cudaStreamCopyAttributes, (cudaStream_t to_handle, cudaStream_t from_handle), (to_handle, from_handle))
{
    struct CUstream_st *to = sim_stream_of(to_handle), *from = sim_stream_of(from_handle);
    if (to == NULL || from == NULL)
        return cudaErrorInvalidResourceHandle;
    to->access_policy = from->access_policy;
    to->priority = from->priority;
    return cudaSuccess;
}

// --- waiting --------------------------------------------------------------------------------------------------------

SIM_API(cudaStreamSynchronize, (cudaStream_t handle), (handle))
{
    struct CUstream_st *stream = sim_stream_of(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    if (stream->capture != NULL)
        return sim_capture_refuse(stream);
    return sim_stream_wait(stream);
}

static bool legacy_has_work(void)
{
    for (const struct CUstream_st *stream = sim_streams; stream != NULL; stream = stream->next) {
        if (!(stream->flags & cudaStreamNonBlocking) && stream->first != NULL)
            return true;
    }
    return false;
}

// A query makes progress, and says that there was some to make: a program that polls sees both answers.
SIM_API(cudaStreamQuery, (cudaStream_t handle), (handle))
{
    struct CUstream_st *stream = sim_stream_of(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    if (stream->capture != NULL)
        return sim_capture_refuse(stream);
    if (stream == sim_stream_legacy() ? legacy_has_work() : stream->first != NULL) {
        if (stream->first == NULL)
            sim_stream_wait(stream);
        else
            sim_stream_step(stream);
        return sim_error_broken() != cudaSuccess ? sim_error_broken() : cudaErrorNotReady;
    }
    return sim_stream_wait(stream);
}

SIM_API(cudaStreamWaitEvent, (cudaStream_t handle, cudaEvent_t event_handle, unsigned int flags),
        (handle, event_handle, flags))
{
    (void)flags;
    struct CUstream_st *stream = sim_stream_of(handle);
    struct CUevent_st *event = sim_event_of(event_handle);
    if (stream == NULL || event == NULL)
        return cudaErrorInvalidResourceHandle;
    if (event->capture != NULL || stream->capture != NULL)
        return sim_capture_wait(stream, event);
    if (event->recorded)
        sim_stream_await(stream, event->operation, &event->clock);
    return cudaSuccess;
}

static cudaError_t device_synchronize(void)
{
    if (sim_capture_global()) {
        sim_capture_invalidate_all();
        return sim_fail(cudaErrorStreamCaptureUnsupported, "a stream is capturing a graph: nothing can be waited for");
    }
    return sim_device_wait();
}

cudaError_t cudaDeviceSynchronize(void)
{
    return SIM_CALL(device_synchronize());
}

cudaError_t cudaThreadSynchronize(void)
{
    return SIM_CALL(device_synchronize());
}

// --- functions of the host ------------------------------------------------------------------------------------------

SIM_API(cudaStreamAddCallback, (cudaStream_t handle, cudaStreamCallback_t callback, void *data, unsigned int flags),
        (handle, callback, data, flags))
{
    (void)flags;
    struct CUstream_st *stream = sim_stream_of(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    if (callback == NULL)
        return sim_fail(cudaErrorInvalidValue, "the callback is NULL");
    if (stream->capture != NULL)
        return sim_capture_refuse(stream);
    sim_work work = sim_work_new(SIM_WORK_CALLBACK);
    work.callback.function = callback;
    work.callback.data = data;
    return sim_stream_submit(stream, &work);
}

SIM_API(cudaLaunchHostFunc, (cudaStream_t handle, cudaHostFn_t function, void *data), (handle, function, data))
{
    struct CUstream_st *stream = sim_stream_of(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    if (function == NULL)
        return sim_fail(cudaErrorInvalidValue, "the function is NULL");
    sim_work work = sim_work_new(SIM_WORK_HOST);
    work.host.function = function;
    work.host.data = data;
    return sim_stream_submit(stream, &work);
}
