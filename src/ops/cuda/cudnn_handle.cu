// Handles of cuDNN.

#include "ops/cuda/cudnn_handle.h"

#include <stdint.h>

#include "ops/cuda/handles.h"

static heddle_status make(void **handle)
{
    return HEDDLE_CUDA_CHECK(cudnnCreate((cudnnHandle_t *)handle));
}

heddle_status heddle_cudnn_handle(const heddle_call *call, cudnnHandle_t *handle)
{
    void *found = NULL;
    HEDDLE_TRY(heddle_cuda_handle(call, make, &found));
    *handle = (cudnnHandle_t)found;
    return HEDDLE_CUDA_CHECK(cudnnSetStream(*handle, heddle_cuda_stream_of(call)));
}

bool heddle_cudnn_capturing(const heddle_call *call)
{
    cudaStreamCaptureStatus state = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(heddle_cuda_stream_of(call), &state) == cudaSuccess &&
           state != cudaStreamCaptureStatusNone;
}

// --- unaligned operands ----------------------------------------------------------------------------------------------

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
