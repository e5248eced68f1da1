// One cnn_step on a GPU, or the steps of a cnn_train: the kernels in their order. A rung is this, with one arithmetic.
#ifndef HEDDLE_OPS_CNN_STEP_STEP_H
#define HEDDLE_OPS_CNN_STEP_STEP_H

#include "ops/cnn_step/backward.h"
#include "ops/cnn_step/finish.h"
#include "ops/cnn_step/head.h"
#include "ops/cnn_step/hidden.h"
#include "ops/cnn_step/hidden_backward.h"
#include "ops/cnn_step/prepare.h"
#include "ops/cuda/rung.h"

template <typename Arithmetic>
using cnn_step_arguments = cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution>;

static inline int cnn_least(int a, int b, int c)
{
    const int least = a < b ? a : b;
    return least < c ? least : c;
}

template <typename Arithmetic>
static cnn_step_arguments<Arithmetic> cnn_step_prepare_arguments(const heddle_cnn_step_shape &shape,
                                                                 const heddle_cnn_step_operands &operands, void *memory,
                                                                 int multiprocessors)
{
    cnn_step_arguments<Arithmetic> arguments;
    arguments.n = shape.n;
    arguments.classes = shape.classes;
    arguments.epsilon = shape.epsilon;
    arguments.momentum = shape.momentum;
    arguments.multiprocessors = multiprocessors;
    arguments.forward_blocks = cnn_least(shape.n, multiprocessors, CNN_FORWARD_BLOCKS);
    arguments.backward_blocks = cnn_least(shape.n, multiprocessors, CNN_BACKWARD_BLOCKS);
    arguments.sums2_rows = CNN_PIXELS2 * cnn_cuts_for<Arithmetic>(shape.n).backward_splits;
    arguments.in_halves = false;
    arguments.operands = operands;
    arguments.training = {};
    cnn_workspace_place(shape.n, memory, &arguments.workspace);
    return arguments;
}

template <typename Arithmetic>
using cnn_kernel_launch = cudaError_t(const cnn_step_arguments<Arithmetic> &arguments, cudaStream_t stream);

// The kernels of which there are several: for any card with tensor cores, the default, and for Hopper (..._wgmma.h).
template <typename Arithmetic> struct cnn_step_kernels {
    cnn_kernel_launch<Arithmetic> *forward;
    cnn_kernel_launch<Arithmetic> *hidden = cnn_launch_hidden<Arithmetic>;
    cnn_kernel_launch<Arithmetic> *hidden_backward = cnn_launch_hidden_backward<Arithmetic>;
    cnn_kernel_launch<Arithmetic> *backward = cnn_launch_backward<Arithmetic>;
    bool in_halves = false; // what arguments.in_halves says: with the hidden layer's kernels for Hopper, of floats
};

// Each kernel is launched while the one before still runs, and waits for it (ops/cuda/dependent.h).
template <typename Arithmetic>
static cudaError_t cnn_launch_all(const cnn_step_arguments<Arithmetic> &arguments, cudaStream_t stream,
                                  cnn_kernel_launch<Arithmetic> *const *kernels, int count)
{
    for (int i = 0; i < count; i++) {
        const cudaError_t error = kernels[i](arguments, stream);
        if (error != cudaSuccess)
            return error;
    }
    return cudaSuccess;
}

template <typename Arithmetic>
static cudaError_t cnn_step_launch(cnn_step_arguments<Arithmetic> arguments, cudaStream_t stream,
                                   const cnn_step_kernels<Arithmetic> &kernels)
{
    arguments.in_halves = kernels.in_halves;
    cnn_kernel_launch<Arithmetic> *const all[] = {
        cnn_launch_prepare<Arithmetic>, kernels.forward,         kernels.hidden,
        cnn_launch_head<Arithmetic>,    kernels.hidden_backward, kernels.backward,
        cnn_launch_finish<Arithmetic>,
    };
    return cnn_launch_all<Arithmetic>(arguments, stream, all, sizeof all / sizeof *all);
}

// What `arguments` are after cnn_step_prepare_arguments, for cnn_train: gradients go straight into the parameters.
template <typename Arithmetic>
static cudaError_t cnn_train_launch(cnn_step_arguments<Arithmetic> arguments, cudaStream_t stream,
                                    const cnn_step_kernels<Arithmetic> &kernels)
{
    cnn_kernel_launch<Arithmetic> *const all[] = {
        kernels.forward,         kernels.hidden,   cnn_launch_head<Arithmetic>,
        kernels.hidden_backward, kernels.backward, cnn_launch_finish_and_update<Arithmetic>,
    };
    arguments.in_halves = kernels.in_halves;
    cudaError_t error = cnn_launch_prepare<Arithmetic>(arguments, stream);
    for (int step = 0; step < arguments.training.steps && error == cudaSuccess; step++) {
        if (step > 0)
            arguments.operands.cursor = arguments.training.next;
        arguments.training.next = arguments.training.cursors + (step + 1) * HEDDLE_CURSOR_COUNT;
        arguments.training.hyper = arguments.training.hypers + step * HEDDLE_HYPER_COUNT;
        arguments.training.another = step + 1 < arguments.training.steps;
        error = cnn_launch_all<Arithmetic>(arguments, stream, all, sizeof all / sizeof *all);
    }
    return error;
}

// Multiprocessors to spread a batch over. The simulated GPU has as many as a real one, but few samples to put on them:
// four let a single sample have two, and make a block of 16 go on to its second and third image.
static inline int cnn_step_multiprocessors()
{
#ifdef HEDDLE_SIM_MODULE
    return 4;
#else
    return heddle_cuda_multiprocessors();
#endif
}

template <typename Arithmetic>
static heddle_status cnn_step_rung(const heddle_call *call, const char *rung,
                                   const cnn_step_kernels<Arithmetic> &kernels)
{
    const heddle_cnn_step_shape *shape = (const heddle_cnn_step_shape *)call->shape;
    const cudaStream_t stream = heddle_cuda_stream_of(call);
    const cnn_step_arguments<Arithmetic> arguments = cnn_step_prepare_arguments<Arithmetic>(
        *shape, heddle_cnn_step_unpack(call), call->workspace, cnn_step_multiprocessors());
    if (cnn_step_launch<Arithmetic>(arguments, stream, kernels) == CNN_NO_MAP)
        return HEDDLE_UNSUPPORTED;
    return heddle_cuda_launched(rung); // what the runtime refuses is its last error
}

// A tensor of a bank that begins at `memory`.
static inline float *cnn_train_tensor(float *memory, const heddle_cnn_train_bank &bank, int tensor)
{
    return bank.at[tensor] < 0 ? NULL : memory + bank.at[tensor];
}

// One step's operands: parameters, and in the place of their gradients the same once more.
static inline heddle_cnn_step_operands cnn_train_step_operands(const heddle_cnn_train_shape &shape,
                                                               const heddle_cnn_train_operands &train)
{
    const heddle_cnn_train_bank bank = heddle_cnn_train_parameters(&shape), place = heddle_cnn_train_statistics(&shape);
    float *tensors[HEDDLE_CNN_PARAMETERS];
    for (int i = 0; i < HEDDLE_CNN_PARAMETERS; i++)
        tensors[i] = cnn_train_tensor(train.parameters, bank, i);
    heddle_cnn_step_operands step = {};
    step.images = train.images, step.labels = train.labels, step.order = train.order, step.cursor = train.cursor;
    step.parameters = {tensors[0], tensors[1], tensors[2], tensors[3], tensors[4],  tensors[5],
                       tensors[6], tensors[7], tensors[8], tensors[9], tensors[10], tensors[11]};
    step.gradients = {tensors[0], tensors[1], tensors[2], tensors[3], tensors[4],  tensors[5],
                      tensors[6], tensors[7], tensors[8], tensors[9], tensors[10], tensors[11]};
    step.loss = train.loss, step.correct = train.correct;
    step.running_mean1 = cnn_train_tensor(train.statistics, place, 0);
    step.running_var1 = cnn_train_tensor(train.statistics, place, 1);
    step.running_mean2 = cnn_train_tensor(train.statistics, place, 2);
    step.running_var2 = cnn_train_tensor(train.statistics, place, 3);
    return step;
}

template <typename Arithmetic>
static heddle_status cnn_train_rung(const heddle_call *call, const char *rung,
                                    const cnn_step_kernels<Arithmetic> &kernels)
{
    const heddle_cnn_train_shape *shape = (const heddle_cnn_train_shape *)call->shape;
    const heddle_cnn_train_operands operands = heddle_cnn_train_unpack(call);
    cnn_step_arguments<Arithmetic> arguments =
        cnn_step_prepare_arguments<Arithmetic>(heddle_cnn_train_step(shape), cnn_train_step_operands(*shape, operands),
                                               call->workspace, cnn_step_multiprocessors());
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

#endif
