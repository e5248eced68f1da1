// cnn_step on the cpu: the fused blocks and linear layers that are there already, one after another, on all threads.
//
// Limited by: conv2, three times over; see conv_block's cpu_winograd.

#include "ops/activation/activation.h"
#include "ops/cnn_step/cpu.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/gather/gather.h"
#include "ops/linear/linear.h"
#include "ops/stem_block/stem_block.h"

static const struct {
    const heddle_op *op;
    const char *rung;
} rungs[] = {
    {&heddle_op_gather, "cpu_naive"},
    {&heddle_op_stem_block_forward, "cpu_fused"},
    {&heddle_op_stem_block_backward, "cpu_fused"},
    {&heddle_op_conv_block_forward, "cpu_winograd"},
    {&heddle_op_conv_block_backward, "cpu_winograd"},
    {&heddle_op_linear_forward, "cpu_blocked"},
    {&heddle_op_linear_backward, "cpu_blocked"},
    {&heddle_op_relu_forward, "cpu_vectorised"},
    {&heddle_op_relu_backward, "cpu_vectorised"},
    {&heddle_op_cross_entropy_forward, "cpu_rows"},
    {&heddle_op_cross_entropy_backward, "cpu_rows"},
};

static const heddle_rung *choose(const heddle_op *op)
{
    const heddle_rung *rung = op->ladder;
    for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++)
        if (rungs[i].op == op && heddle_rung_find(op, rungs[i].rung, &rung) == HEDDLE_OK)
            break;
    return rung;
}

heddle_status heddle_cnn_step_cpu_chain(const heddle_call *call)
{
    return heddle_cnn_step_cpu_launch(call, choose);
}

size_t heddle_cnn_step_cpu_chain_workspace(const void *shape, int threads)
{
    return heddle_cnn_step_cpu_workspace(shape, threads, choose);
}
