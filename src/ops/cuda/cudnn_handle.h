// What the rungs that call cuDNN share: a handle for each GPU and thread, and a way around operands off alignment.
#pragma once

#include <cudnn.h>

#include "device/cuda/check.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/scratch.h"

// The thread's handle for the call's GPU, set to the call's stream.
heddle_status heddle_cudnn_handle(const heddle_call *call, cudnnHandle_t *handle);
// Whether a graph is being captured on the call's stream: then nothing may be run to time it.
bool heddle_cudnn_capturing(const heddle_call *call);

// An operand of a call into cuDNN's first interface, whose kernels load vectors without a request where a tensor lies.
typedef struct heddle_cudnn_operand {
    const void *address; // as the caller has it; NULL: left out
    size_t bytes;
    bool written; // by cuDNN; else it is read
    void *used;   // what cuDNN is given: the address, or an aligned place
} heddle_cudnn_operand;
// Sets `used` of each: operands off alignment are copied to places behind the first `reserved` bytes of the stream's
// scratch memory, which are the library's and in *workspace.
heddle_status heddle_cudnn_align(const heddle_call *call, size_t reserved, heddle_cudnn_operand *operands, int count,
                                 void **workspace);
// After the call: what was written elsewhere goes to where the caller has it.
heddle_status heddle_cudnn_deliver(const heddle_call *call, const heddle_cudnn_operand *operands, int count);
