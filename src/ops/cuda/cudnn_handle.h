// What the rungs that call cuDNN share: a handle for each card and stream.
#ifndef HEDDLE_OPS_CUDA_CUDNN_HANDLE_H
#define HEDDLE_OPS_CUDA_CUDNN_HANDLE_H

#include <cudnn.h>

#include "device/cuda/check.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/scratch.h"

// The handle for the call's card and stream, set to that stream. Kept, so that only the first call pays for it.
heddle_status heddle_cudnn_handle(const heddle_call *call, cudnnHandle_t *handle);
// Whether a graph is being captured on the call's stream: then nothing may be run to time it.
bool heddle_cudnn_capturing(const heddle_call *call);

#endif
