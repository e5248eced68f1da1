// cnn_step, first rung: the plain loops of every operator that it is made of, one after another.
//
// Limited by: one multiplication at a time, in one thread.

#include "ops/cnn_step/cpu.h"

// Ladders begin with the plain loops.
static const heddle_rung *choose(const heddle_op *op)
{
    return &op->ladder[0];
}

heddle_status heddle_cnn_step_cpu_naive(const heddle_call *call)
{
    return heddle_cnn_step_cpu_launch(call, choose);
}

size_t heddle_cnn_step_cpu_naive_workspace(const void *shape, int threads)
{
    return heddle_cnn_step_cpu_workspace(shape, threads, choose);
}
