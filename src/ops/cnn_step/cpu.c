// Running cnn_step's operators on the cpu: one workspace for all of them, behind what lies between them.

#include "ops/cnn_step/cpu.h"

#include "base/threads.h"
#include "ops/activation/activation.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/gather/gather.h"
#include "ops/linear/linear.h"
#include "ops/stem_block/stem_block.h"

size_t heddle_cnn_step_cpu_workspace(const void *shape, int threads, heddle_cnn_step_choice *rung_of)
{
    const heddle_cnn_step_chain chain = heddle_cnn_step_chain_of(shape);
    const struct {
        const heddle_op *op;
        const void *shape;
    } calls[] = {
        {&heddle_op_gather, &chain.gather},
        {&heddle_op_stem_block_forward, &chain.stem},
        {&heddle_op_stem_block_backward, &chain.stem},
        {&heddle_op_conv_block_forward, &chain.block},
        {&heddle_op_conv_block_backward, &chain.block},
        {&heddle_op_linear_forward, &chain.hidden},
        {&heddle_op_linear_backward, &chain.hidden},
        {&heddle_op_relu_forward, &chain.relu},
        {&heddle_op_relu_backward, &chain.relu},
        {&heddle_op_linear_forward, &chain.output},
        {&heddle_op_linear_backward, &chain.output},
        {&heddle_op_cross_entropy_forward, &chain.loss},
        {&heddle_op_cross_entropy_backward, &chain.loss},
    };
    size_t most = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const heddle_rung *rung = rung_of(calls[i].op);
        size_t bytes = rung->workspace ? rung->workspace(calls[i].shape, threads) : 0;
        most = bytes > most ? bytes : most;
    }
    return heddle_cnn_step_chain_bytes(&chain, false) + most;
}

typedef struct chain_job {
    heddle_cnn_step_choice *rung_of;
    heddle_pool *pool;
    void *workspace;
} chain_job;

static heddle_status launch(void *context, const heddle_op *op, const void *shape, const void *const *input,
                            void *const *output)
{
    const chain_job *job = context;
    heddle_call call = {.shape = shape, .workspace = job->workspace, .pool = job->pool};
    for (int i = 0; i < op->operand_count; i++) {
        int slot;
        if (heddle_operand_slot(op, i, &slot))
            call.output[slot] = output[slot];
        else
            call.input[slot] = input[slot];
    }
    return heddle_launch(op, job->rung_of(op), &call);
}

heddle_status heddle_cnn_step_cpu_launch(const heddle_call *call, heddle_cnn_step_choice *rung_of)
{
    const heddle_cnn_step_chain chain = heddle_cnn_step_chain_of(call->shape);
    size_t between = heddle_cnn_step_chain_bytes(&chain, false);
    chain_job job = {rung_of, call->pool, (char *)call->workspace + between};
    return heddle_cnn_step_chain_run(&chain, false, call->input, call->output, call->workspace, launch, &job);
}
