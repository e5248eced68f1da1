// Sums over all processes that train together, in the middle of a cpu rung: batch statistics are those of the whole
// batch, of which each process has a part. Whoever runs them keeps a heddle_across as the companion of the device's
// pool; without one every sum is what it is already.
#pragma once

#include "heddle/op.h"

typedef struct heddle_across {
    // Adds `values` up over all processes, in place; every process calls it, in the same order.
    heddle_status (*sum)(void *context, double *values, int count);
    void *context;
    bool absent; // this process has no sample of the batch: what it computed on a stand-in does not count
} heddle_across;

enum { HEDDLE_ACROSS_CHUNK = 128 }; // channels whose sums travel together: a few kilobytes, on the stack

// Is the batch spread over processes?
bool heddle_across_several(const heddle_call *call);
// HEDDLE_OK at once where it is not.
heddle_status heddle_across_sum(const heddle_call *call, double *values, int count);
