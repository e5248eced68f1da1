// rope: its operator, its rungs, and the angle that all of them use.
#pragma once

#include <math.h>

#include "heddle/op.h"
#include "heddle/ops.h"

extern const heddle_op heddle_op_rope;

heddle_status heddle_rope_cpu_naive(const heddle_call *call);
heddle_status heddle_rope_cpu_table(const heddle_call *call);
size_t heddle_rope_table_workspace(const void *shape, int threads);

#ifdef __CUDACC__
#define HEDDLE_ROPE_BOTH __host__ __device__
#else
#define HEDDLE_ROPE_BOTH
#endif

// By how much the pair `i` of a head is turned at a position of the sequence. In double: at position 8192 a float has
// only three digits of an angle left.
HEDDLE_ROPE_BOTH static inline double heddle_rope_angle(const heddle_rope_shape *shape, int position, int i)
{
    double angle = ((double)shape->start + position) * pow((double)shape->base, -2.0 * i / shape->size);
    return shape->inverse ? -angle : angle;
}
