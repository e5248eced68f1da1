// Events: marks in streams, and the time between them.

#include <stdlib.h>

#include "device/cuda/cuda.h"

heddle_status heddle_cuda_event_create(heddle_device *device, heddle_event **event)
{
    HEDDLE_TRY(heddle_cuda_select(device));
    heddle_cuda_event *made = (heddle_cuda_event *)calloc(1, sizeof *made);
    if (!made)
        return heddle_cuda_fail(HEDDLE_OUT_OF_MEMORY, "no memory for an event");
    heddle_status status = HEDDLE_CUDA_CHECK(cudaEventCreate(&made->event));
    if (status != HEDDLE_OK) {
        free(made);
        return status;
    }
    made->base.device = device;
    *event = &made->base;
    return HEDDLE_OK;
}

heddle_status heddle_cuda_event_destroy(heddle_event *event)
{
    heddle_status status = HEDDLE_CUDA_CHECK(cudaEventDestroy(((heddle_cuda_event *)event)->event));
    free(event);
    return status;
}

heddle_status heddle_cuda_event_record(heddle_event *event, heddle_stream *stream)
{
    HEDDLE_TRY(heddle_cuda_select(event->device));
    heddle_cuda_event *recorded = (heddle_cuda_event *)event;
    HEDDLE_CUDA_TRY(cudaEventRecord(recorded->event, heddle_cuda_raw(stream)));
    recorded->recorded = true;
    return HEDDLE_OK;
}

heddle_status heddle_cuda_event_synchronize(heddle_event *event)
{
    HEDDLE_TRY(heddle_cuda_select(event->device));
    if (!((heddle_cuda_event *)event)->recorded)
        return HEDDLE_OK;
    return HEDDLE_CUDA_WAITED(cudaEventSynchronize(((heddle_cuda_event *)event)->event));
}

heddle_status heddle_cuda_event_query(heddle_event *event, bool *done)
{
    HEDDLE_TRY(heddle_cuda_select(event->device));
    cudaError_t error = cudaEventQuery(((heddle_cuda_event *)event)->event);
    *done = error == cudaSuccess;
    if (error == cudaErrorNotReady) {
        cudaGetLastError();
        return HEDDLE_OK;
    }
    return heddle_cuda_checked(error, HEDDLE_CUDA_HERE("cudaEventQuery"));
}

heddle_status heddle_cuda_event_elapsed(heddle_event *start, heddle_event *end, double *milliseconds)
{
    HEDDLE_TRY(heddle_cuda_select(start->device));
    float elapsed = 0;
    cudaError_t error =
        cudaEventElapsedTime(&elapsed, ((heddle_cuda_event *)start)->event, ((heddle_cuda_event *)end)->event);
    if (error == cudaErrorNotReady || error == cudaErrorInvalidResourceHandle) {
        cudaGetLastError();
        return heddle_cuda_fail(HEDDLE_INVALID, "an event has not happened yet: record both and wait for the second");
    }
    *milliseconds = elapsed;
    return heddle_cuda_checked(error, HEDDLE_CUDA_HERE("cudaEventElapsedTime"));
}
