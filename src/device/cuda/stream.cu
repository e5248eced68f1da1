// Streams: copies, fills and host functions in order.

#include <stdlib.h>

#include "device/cuda/cuda.h"

heddle_status heddle_cuda_stream_create(heddle_device *device, heddle_stream_kind kind, int priority,
                                        heddle_stream **stream)
{
    HEDDLE_TRY(heddle_cuda_select(device));
    int least = 0, greatest = 0;
    HEDDLE_CUDA_TRY(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    int clamped = priority > least ? least : priority < greatest ? greatest : priority;
    heddle_cuda_stream *made = (heddle_cuda_stream *)calloc(1, sizeof *made);
    if (!made)
        return heddle_cuda_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a stream");
    heddle_status status = HEDDLE_OK;
    if (kind == HEDDLE_STREAM_DEFAULT) {
        made->stream = cudaStreamLegacy;
        made->borrowed = true;
    } else {
        unsigned flags = kind == HEDDLE_STREAM_BLOCKING ? cudaStreamDefault : cudaStreamNonBlocking;
        status = HEDDLE_CUDA_CHECK(cudaStreamCreateWithPriority(&made->stream, flags, clamped));
    }
    if (status != HEDDLE_OK) {
        free(made);
        return status;
    }
    made->base.device = device;
    *stream = &made->base;
    return HEDDLE_OK;
}

heddle_status heddle_cuda_stream_wrap(heddle_device *device, void *native, heddle_stream **stream)
{
    heddle_cuda_stream *made = (heddle_cuda_stream *)calloc(1, sizeof *made);
    if (!made)
        return heddle_cuda_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a stream");
    made->stream = native ? (cudaStream_t)native : cudaStreamLegacy;
    made->wrapped = true;
    made->base.device = device;
    *stream = &made->base;
    return HEDDLE_OK;
}

void *heddle_cuda_stream_native(heddle_stream *stream)
{
    return (void *)heddle_cuda_raw(stream);
}

heddle_status heddle_cuda_stream_destroy(heddle_stream *stream)
{
    if (((heddle_cuda_stream *)stream)->wrapped) {
        free(stream);
        return HEDDLE_OK;
    }
    heddle_status status = heddle_cuda_stream_synchronize(stream);
    if (((heddle_cuda_stream *)stream)->borrowed) {
        free(stream);
        return status;
    }
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(heddle_cuda_raw(stream), &capture) == cudaSuccess &&
        capture != cudaStreamCaptureStatusNone)
        return status; // part of a capture, which waiting for it has ended; the stream stays
    heddle_status destroyed = HEDDLE_CUDA_CHECK(cudaStreamDestroy(heddle_cuda_raw(stream)));
    free(stream);
    return status != HEDDLE_OK ? status : destroyed;
}

heddle_status heddle_cuda_stream_synchronize(heddle_stream *stream)
{
    HEDDLE_TRY(heddle_cuda_select(stream->device));
    return HEDDLE_CUDA_WAITED(cudaStreamSynchronize(heddle_cuda_raw(stream)));
}

heddle_status heddle_cuda_stream_query(heddle_stream *stream, bool *done)
{
    HEDDLE_TRY(heddle_cuda_select(stream->device));
    cudaError_t error = cudaStreamQuery(heddle_cuda_raw(stream));
    *done = error == cudaSuccess;
    if (error == cudaErrorNotReady) {
        cudaGetLastError();
        return HEDDLE_OK;
    }
    return heddle_cuda_checked(error, HEDDLE_CUDA_HERE("cudaStreamQuery"));
}

heddle_status heddle_cuda_stream_wait(heddle_stream *stream, heddle_event *event)
{
    HEDDLE_TRY(heddle_cuda_select(stream->device));
    heddle_cuda_event *waited = (heddle_cuda_event *)event;
    if (!waited->recorded)
        return HEDDLE_OK;
    HEDDLE_CUDA_TRY(cudaStreamWaitEvent(heddle_cuda_raw(stream), waited->event, 0));
    return HEDDLE_OK;
}

heddle_status heddle_cuda_copy(heddle_stream *stream, void *to, const void *from, size_t bytes)
{
    HEDDLE_TRY(heddle_cuda_select(stream->device));
    HEDDLE_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, heddle_cuda_raw(stream)));
    return HEDDLE_OK;
}

heddle_status heddle_cuda_fill(heddle_stream *stream, void *memory, uint8_t value, size_t bytes)
{
    HEDDLE_TRY(heddle_cuda_select(stream->device));
    HEDDLE_CUDA_TRY(cudaMemsetAsync(memory, value, bytes, heddle_cuda_raw(stream)));
    return HEDDLE_OK;
}

heddle_status heddle_cuda_callback(heddle_stream *stream, heddle_host_function *function, void *context)
{
    HEDDLE_TRY(heddle_cuda_select(stream->device));
    HEDDLE_CUDA_TRY(cudaLaunchHostFunc(heddle_cuda_raw(stream), function, context));
    return HEDDLE_OK;
}
