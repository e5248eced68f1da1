// histogram, first rung: one value at a time, one thread.
//
// Limited by: one core; equal values in a row wait for each other's addition.

#include <string.h>

#include "heddle/ops.h"
#include "ops/histogram/histogram.h"

heddle_status heddle_histogram_cpu_naive(const heddle_call *call)
{
    const heddle_histogram_shape *shape = call->shape;
    const int *values = call->input[0];
    int *counts = call->output[0];
    memset(counts, 0, (size_t)shape->bins * sizeof *counts);
    for (int i = 0; i < shape->n; i++)
        counts[values[i]]++;
    return HEDDLE_OK;
}
