// One cnn_step on a GPU: the kernels in their order. A rung is this, with one arithmetic.
#ifndef HEDDLE_OPS_CNN_STEP_STEP_H
#define HEDDLE_OPS_CNN_STEP_STEP_H

#include "device/cuda/finer.h"
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
    arguments.operands = operands;
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
};

// Each kernel is launched while the one before still runs, and waits for it (ops/cuda/dependent.h).
template <typename Arithmetic>
static cudaError_t cnn_step_launch(const cnn_step_arguments<Arithmetic> &arguments, cudaStream_t stream,
                                   const cnn_step_kernels<Arithmetic> &kernels)
{
    cnn_kernel_launch<Arithmetic> *const all[] = {
        cnn_launch_prepare<Arithmetic>, kernels.forward,         kernels.hidden,
        cnn_launch_head<Arithmetic>,    kernels.hidden_backward, kernels.backward,
        cnn_launch_finish<Arithmetic>,
    };
    for (cnn_kernel_launch<Arithmetic> *kernel : all) {
        const cudaError_t error = kernel(arguments, stream);
        if (error != cudaSuccess)
            return error;
    }
    return cudaSuccess;
}

// Multiprocessors to spread a batch over. The simulated GPU has as many as a real one, but few samples to put on them:
// four let a single sample have two, and make a block of 16 go on to its second and third image.
static inline int cnn_step_multiprocessors()
{
#ifdef SIM_WATCHED
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
    heddle_sim_finer();
    const cnn_step_arguments<Arithmetic> arguments = cnn_step_prepare_arguments<Arithmetic>(
        *shape, heddle_cnn_step_unpack(call), call->workspace, cnn_step_multiprocessors());
    cnn_step_launch<Arithmetic>(arguments, stream, kernels); // what it refuses is the runtime's last error
    return heddle_cuda_launched(rung);
}

#endif
