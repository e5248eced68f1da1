// Whole training steps on a GPU: cnn_step's kernels, with a last one that updates the parameters and packs them for the
// next step (cnn_step/finish.h). A rung is this with one arithmetic and the kernels of cnn_step's rung of the same
// name.
#pragma once

#include "ops/cnn_step/finish.h"
#include "ops/cnn_step/kernels.h"

// A tensor of a bank that begins at `memory`.
static inline float *cnn_train_tensor(float *memory, const heddle_cnn_train_bank &bank, int tensor)
{
    return bank.at[tensor] < 0 ? NULL : memory + bank.at[tensor];
}

// One step's operands: gradients go straight into the parameters.
static inline heddle_cnn_step_operands cnn_train_step_operands(const heddle_cnn_train_shape &shape,
                                                               const heddle_cnn_train_operands &train)
{
    const heddle_cnn_train_bank bank = heddle_cnn_train_parameters(&shape), place = heddle_cnn_train_statistics(&shape);
    heddle_cnn_step_operands step = {};
    step.images = train.images, step.labels = train.labels, step.order = train.order, step.cursor = train.cursor;
    step.loss = train.loss, step.correct = train.correct;
#define CNN_TRAIN_TENSOR(name, ...)                                                                                    \
    step.parameters.name = step.gradients.name = cnn_train_tensor(train.parameters, bank, HEDDLE_CNN_##name);
    HEDDLE_CNN_TENSORS(CNN_TRAIN_TENSOR)
#undef CNN_TRAIN_TENSOR
#define CNN_TRAIN_STATISTIC(name, ...) step.name = cnn_train_tensor(train.statistics, place, HEDDLE_CNN_##name);
    HEDDLE_CNN_STATISTICS_OF(CNN_TRAIN_STATISTIC)
#undef CNN_TRAIN_STATISTIC
    return step;
}

template <typename Arithmetic>
static cudaError_t cnn_train_launch(cnn_step_arguments<Arithmetic> arguments, cudaStream_t stream,
                                    const cnn_step_kernels<Arithmetic> &kernels)
{
    cnn_kernel_launch<Arithmetic> *const all[] = {
        kernels.forward,         kernels.hidden,   kernels.head,
        kernels.hidden_backward, kernels.backward, cnn_launch_finish_and_update<Arithmetic>,
    };
    cudaError_t error = kernels.prepare(arguments, stream);
    for (int step = 0; step < arguments.training.steps && error == cudaSuccess; step++) {
        if (step > 0)
            arguments.operands.cursor = arguments.training.next;
        arguments.training.next = arguments.training.cursors + (step + 1) * HEDDLE_CURSOR_COUNT;
        arguments.training.hyper = arguments.training.hypers + step * HEDDLE_HYPER_COUNT;
        arguments.training.another = step + 1 < arguments.training.steps;
        error = cnn_launch_all<Arithmetic>(arguments, stream, all);
    }
    return error;
}

template <typename Arithmetic>
static heddle_status cnn_train_rung(const heddle_call *call, const char *rung,
                                    const cnn_step_kernels<Arithmetic> &kernels)
{
    const heddle_cnn_train_shape *shape = (const heddle_cnn_train_shape *)call->shape;
    const heddle_cnn_train_operands operands = heddle_cnn_train_unpack(call);
    cnn_step_arguments<Arithmetic> arguments = cnn_step_prepare_arguments<Arithmetic>(
        heddle_cnn_train_step(shape), cnn_train_step_operands(*shape, operands), call->workspace, kernels.in_halves);
    cnn_workspace<typename Arithmetic::operand, typename Arithmetic::convolution> own;
    arguments.training.operands = operands;
    arguments.training.optimizer = (cnn_optimizer)shape->optimizer;
    arguments.training.schedule_length = shape->rows;
    arguments.training.order_length = shape->length;
    arguments.training.steps = shape->steps;
    arguments.training.cursors = (int64_t *)((char *)call->workspace + cnn_workspace_place(shape->n, NULL, &own));
    arguments.training.hypers = (float *)(arguments.training.cursors + (shape->steps + 1) * HEDDLE_CURSOR_COUNT);
    if (cnn_train_launch<Arithmetic>(arguments, heddle_cuda_stream_of(call), kernels) == CNN_NO_MAP)
        return HEDDLE_UNSUPPORTED;
    return heddle_cuda_launched(rung);
}
