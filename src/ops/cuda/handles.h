// Handles of vendors' libraries. None of them may be used by two threads at a time, and each belongs to one GPU: a
// thread has one per library and GPU, created by the first call that needs it and kept.
#pragma once

#include "ops/cuda/rung.h"

// Makes a handle for the current GPU. The function that made a handle identifies its library.
typedef heddle_status heddle_cuda_make_handle(void **handle);

// The calling thread's handle for the call's GPU, which becomes the current one.
HEDDLE_API heddle_status heddle_cuda_handle(const heddle_call *call, heddle_cuda_make_handle *make, void **handle);
