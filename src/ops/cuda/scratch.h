// Memory for rungs whose library decides how much it needs. A rung that knows it beforehand states it in its table and
// gets a workspace instead.
#pragma once

#include "ops/cuda/rung.h"

// At least `bytes` of device memory for work on the call's stream, aligned to 256 bytes. Every call of this thread on
// that stream gets the same memory, because its work runs in order. Another thread that uses the stream at the same
// time has its own, because its kernels may come between two of a call. It stays valid until the device is closed, so
// that a graph captured with it keeps working. Such a graph must not run beside other work of the stream it was
// captured from.
HEDDLE_API heddle_status heddle_cuda_scratch(const heddle_call *call, size_t bytes, void **memory);
// Frees all of a device's, when it is closed.
void heddle_cuda_scratch_drop(heddle_device *device);
