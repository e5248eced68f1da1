// Memory for rungs whose library alone knows how much it needs. A rung that knows it beforehand says so in its table
// and is given a workspace instead.
#pragma once

#include "ops/cuda/rung.h"

// At least `bytes` of device memory for work on the call's stream, aligned to 256 bytes. The same memory for every call
// of this thread on that stream, whose work runs in order; another thread that uses the stream at the same time, and
// whose kernels may come between two of a call, has its own. It stays where it is until the device is closed, so that a
// graph captured with it keeps working. Such a graph must not run beside other work of the stream it was captured from.
HEDDLE_API heddle_status heddle_cuda_scratch(const heddle_call *call, size_t bytes, void **memory);
// All of a device's, when it is closed.
void heddle_cuda_scratch_drop(heddle_device *device);
