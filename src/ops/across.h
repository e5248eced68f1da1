// Sums over all processes that train together, in the middle of a CPU rung: batch statistics are over the whole batch,
// of which each process has a part. The caller sets a heddle_across as the companion of the device's pool; without one,
// sums stay as they are.
#pragma once

#include "heddle/op.h"

typedef struct heddle_across {
    // Adds `values` over all processes, in place; every process calls it, in the same order.
    heddle_status (*sum)(void *context, double *values, int count);
    void *context;
    bool absent; // this process has no sample of the batch: its results on a stand-in do not count
} heddle_across;

enum { HEDDLE_ACROSS_CHUNK = 128 }; // channels whose sums are sent together: a few kilobytes, on the stack

// Whether the batch is spread over processes.
bool heddle_across_several(const heddle_call *call);
// Returns HEDDLE_OK at once if it is not.
heddle_status heddle_across_sum(const heddle_call *call, double *values, int count);
