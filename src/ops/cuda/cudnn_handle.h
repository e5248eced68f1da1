// What the rungs that call cuDNN share: one handle per GPU and thread, and a workaround for unaligned operands.
#pragma once

#include <cudnn.h>

#include "device/cuda/check.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/scratch.h"

// The thread's handle for the call's GPU, set to the call's stream.
heddle_status heddle_cudnn_handle(const heddle_call *call, cudnnHandle_t *handle);
// Whether a graph is being captured on the call's stream: then nothing may be run to time it.
bool heddle_cudnn_capturing(const heddle_call *call);

// An operand of a call to cuDNN's legacy interface, whose kernels load vectors without checking the alignment.
typedef struct heddle_cudnn_operand {
    const void *address; // the caller's address; NULL: absent
    size_t bytes;
    bool written; // written by cuDNN; else it is read
    void *used;   // the address given to cuDNN: the caller's, or an aligned copy
} heddle_cudnn_operand;
// Sets `used` of each: unaligned operands are copied to places after the first `reserved` bytes of the stream's scratch
// memory, which belong to the library and are in *workspace.
heddle_status heddle_cudnn_align(const heddle_call *call, size_t reserved, heddle_cudnn_operand *operands, int count,
                                 void **workspace);
// After the call: copies results back to the caller's addresses.
heddle_status heddle_cudnn_deliver(const heddle_call *call, const heddle_cudnn_operand *operands, int count);
