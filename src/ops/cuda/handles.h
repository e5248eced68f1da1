// Handles of vendors' libraries. None of them may be used by two threads at a time, and each is for one GPU: a thread
// has one of each library for each GPU it works with, made at the first call that needs it and kept.
#pragma once

#include "ops/cuda/rung.h"

// Makes a handle for the current GPU. Which of these made it tells whose a handle is.
typedef heddle_status heddle_cuda_make_handle(void **handle);

// The calling thread's handle for the call's GPU, which is the current one from then on.
HEDDLE_API heddle_status heddle_cuda_handle(const heddle_call *call, heddle_cuda_make_handle *make, void **handle);
