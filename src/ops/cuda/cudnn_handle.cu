// Handles of cuDNN.

#include "ops/cuda/cudnn_handle.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct kept_handle {
    int device;
    cudaStream_t stream;
    cudnnHandle_t handle;
    struct kept_handle *next;
} kept_handle;

static kept_handle *kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static heddle_status make(int device, cudaStream_t stream, kept_handle **made)
{
    kept_handle *one = (kept_handle *)calloc(1, sizeof *one);
    if (!one)
        return heddle_cuda_failed(HEDDLE_OUT_OF_MEMORY, "no memory", "calloc", HEDDLE_CUDA_HERE("cudnnCreate"));
    // Making a handle allocates, which a capture of this thread would not allow.
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaThreadExchangeStreamCaptureMode(&mode);
    heddle_status status = HEDDLE_CUDA_CHECK(cudnnCreate(&one->handle));
    cudaThreadExchangeStreamCaptureMode(&mode);
    if (status != HEDDLE_OK) {
        free(one);
        return status;
    }
    one->device = device;
    one->stream = stream;
    one->next = kept;
    kept = *made = one;
    return HEDDLE_OK;
}

heddle_status heddle_cudnn_handle(const heddle_call *call, cudnnHandle_t *handle)
{
    int device = heddle_cuda_device_of(call);
    cudaStream_t stream = heddle_cuda_stream_of(call);
    heddle_status status = HEDDLE_OK;
    pthread_mutex_lock(&lock);
    kept_handle *found = kept;
    while (found && (found->device != device || found->stream != stream))
        found = found->next;
    if (!found)
        status = make(device, stream, &found);
    pthread_mutex_unlock(&lock);
    HEDDLE_TRY(status);
    HEDDLE_CUDA_TRY(cudnnSetStream(found->handle, stream));
    *handle = found->handle;
    return HEDDLE_OK;
}

bool heddle_cudnn_capturing(const heddle_call *call)
{
    cudaStreamCaptureStatus state = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(heddle_cuda_stream_of(call), &state) == cudaSuccess &&
           state != cudaStreamCaptureStatusNone;
}

// --- operands off alignment ------------------------------------------------------------------------------------------

enum { VECTOR_BYTES = 16, PIECE_BYTES = 256 };

static bool is_off(const heddle_cudnn_operand *operand)
{
    return (uintptr_t)operand->address % VECTOR_BYTES != 0;
}

static size_t rounded(size_t bytes)
{
    return (bytes + PIECE_BYTES - 1) / PIECE_BYTES * PIECE_BYTES;
}

heddle_status heddle_cudnn_align(const heddle_call *call, size_t reserved, heddle_cudnn_operand *operands, int count,
                                 void **workspace)
{
    size_t needed = rounded(reserved);
    for (int i = 0; i < count; i++)
        needed += is_off(&operands[i]) ? rounded(operands[i].bytes) : 0;
    HEDDLE_TRY(heddle_cuda_scratch(call, needed, workspace));
    char *place = (char *)*workspace + rounded(reserved);
    for (int i = 0; i < count; i++) {
        heddle_cudnn_operand *operand = &operands[i];
        operand->used = (void *)operand->address;
        if (!is_off(operand))
            continue;
        operand->used = place;
        place += rounded(operand->bytes);
        if (!operand->written)
            HEDDLE_CUDA_TRY(cudaMemcpyAsync(operand->used, operand->address, operand->bytes, cudaMemcpyDeviceToDevice,
                                            heddle_cuda_stream_of(call)));
    }
    return HEDDLE_OK;
}

heddle_status heddle_cudnn_deliver(const heddle_call *call, const heddle_cudnn_operand *operands, int count)
{
    for (int i = 0; i < count; i++)
        if (operands[i].written && operands[i].used != operands[i].address)
            HEDDLE_CUDA_TRY(cudaMemcpyAsync((void *)operands[i].address, operands[i].used, operands[i].bytes,
                                            cudaMemcpyDeviceToDevice, heddle_cuda_stream_of(call)));
    return HEDDLE_OK;
}
