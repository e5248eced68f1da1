// cnn_train on the cpu: cnn_step's rung, the optimiser's and step_end's, one after another.
//
// Limited by: cnn_step, which is nearly all of it.

#include "ops/cnn_train/chain.h"
#include "ops/optimizer/optimizer.h"
#include "ops/step_end/step_end.h"

// The rungs of one of cnn_train's, by name.
typedef struct train_rungs {
    const char *step, *update;
} train_rungs;

static const train_rungs naive = {"cpu_naive", "cpu_naive"}, chain = {"cpu_chain", "cpu_vectorised"};

static const heddle_rung *rung_of(const heddle_op *op, const train_rungs *rungs)
{
    const heddle_rung *rung = op->ladder;
    const char *name = op == &heddle_op_cnn_step   ? rungs->step
                       : op == &heddle_op_step_end ? "cpu_naive"
                                                   : rungs->update;
    return heddle_rung_find(op, name, &rung) == HEDDLE_OK ? rung : op->ladder;
}

static size_t workspace(const void *shape, int threads, const train_rungs *rungs)
{
    const heddle_cnn_step_shape step = heddle_cnn_train_step(shape);
    return heddle_cnn_train_chain_bytes(shape, false) + rung_of(&heddle_op_cnn_step, rungs)->workspace(&step, threads);
}

typedef struct train_job {
    const train_rungs *rungs;
    const heddle_call *call;
    void *workspace;
} train_job;

static heddle_status launch_one(void *context, const heddle_op *op, const void *shape, const void *const *input,
                                void *const *output)
{
    const train_job *job = context;
    heddle_call call = {.shape = shape, .workspace = job->workspace, .pool = job->call->pool};
    for (int i = 0; i < op->operand_count; i++) {
        int slot;
        if (heddle_operand_slot(op, i, &slot))
            call.output[slot] = output[slot];
        else
            call.input[slot] = input[slot];
    }
    return heddle_launch(op, rung_of(op, job->rungs), &call);
}

static heddle_status launch(const heddle_call *call, const train_rungs *rungs)
{
    const size_t gradients = heddle_cnn_train_chain_bytes(call->shape, false);
    train_job job = {rungs, call, (char *)call->workspace + gradients};
    return heddle_cnn_train_chain_run(call->shape, false, call->input, call->output, call->workspace, launch_one, &job);
}

heddle_status heddle_cnn_train_cpu_naive(const heddle_call *call)
{
    return launch(call, &naive);
}

size_t heddle_cnn_train_cpu_naive_workspace(const void *shape, int threads)
{
    return workspace(shape, threads, &naive);
}

heddle_status heddle_cnn_train_cpu_chain(const heddle_call *call)
{
    return launch(call, &chain);
}

size_t heddle_cnn_train_cpu_chain_workspace(const void *shape, int threads)
{
    return workspace(shape, threads, &chain);
}
