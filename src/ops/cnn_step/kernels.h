// The kernels of a step as a table, and their launches in order. A rung of cnn_step is such a table with one
// arithmetic; cnn_train's rung of the same name uses the same table.
#pragma once

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/layout.h"
#include "ops/cuda/rung.h"

template <typename Arithmetic>
using cnn_step_arguments = cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution>;

template <typename Arithmetic>
using cnn_kernel_launch = cudaError_t(const cnn_step_arguments<Arithmetic> &arguments, cudaStream_t stream);

// In the order of a step.
template <typename Arithmetic> struct cnn_step_kernels {
    cnn_kernel_launch<Arithmetic> *prepare, *forward, *hidden, *head, *hidden_backward, *backward, *finish;
    bool in_halves; // what arguments.in_halves says: the hidden layer's operands are floats as scaled halves
};

extern const cnn_step_kernels<cnn_bf16> heddle_cnn_step_bf16, heddle_cnn_step_bf16_wgmma;
extern const cnn_step_kernels<cnn_tf32> heddle_cnn_step_tf32_wgmma;
extern const cnn_step_kernels<cnn_tf32x3> heddle_cnn_step_tf32x3_wgmma;

static inline int cnn_least(int a, int b, int c)
{
    const int least = a < b ? a : b;
    return least < c ? least : c;
}

// SMs to spread a batch over. The simulated GPU has as many as a real one, but few samples to put on them: four let a
// single sample have two, and make a block of 16 go on to its second and third image.
static inline int cnn_step_multiprocessors()
{
#if defined(HEDDLE_SIM_MODULE)
    return 4;
#else
    return heddle_cuda_multiprocessors();
#endif
}

template <typename Arithmetic>
static cnn_step_arguments<Arithmetic> cnn_step_prepare_arguments(const heddle_cnn_step_shape &shape,
                                                                 const heddle_cnn_step_operands &operands, void *memory,
                                                                 bool in_halves)
{
    const int multiprocessors = cnn_step_multiprocessors();
    cnn_step_arguments<Arithmetic> arguments;
    arguments.n = shape.n;
    arguments.classes = shape.classes;
    arguments.epsilon = shape.epsilon;
    arguments.momentum = shape.momentum;
    arguments.multiprocessors = multiprocessors;
    arguments.forward_blocks = cnn_least(shape.n, multiprocessors, CNN_FORWARD_BLOCKS);
    arguments.backward_blocks = cnn_least(shape.n, multiprocessors, CNN_BACKWARD_BLOCKS);
    arguments.sums2_rows = CNN_PIXELS2 * cnn_cuts_for<Arithmetic>(shape.n).backward_splits;
    arguments.in_halves = in_halves;
    arguments.operands = operands;
    arguments.training = {};
    cnn_workspace_place(shape.n, memory, &arguments.workspace);
    return arguments;
}

// Each kernel is launched while the one before still runs, and waits for it (ops/cuda/dependent.h).
template <typename Arithmetic, int Count>
static cudaError_t cnn_launch_all(const cnn_step_arguments<Arithmetic> &arguments, cudaStream_t stream,
                                  cnn_kernel_launch<Arithmetic> *const (&kernels)[Count])
{
    for (cnn_kernel_launch<Arithmetic> *kernel : kernels) {
        const cudaError_t error = kernel(arguments, stream);
        if (error != cudaSuccess)
            return error;
    }
    return cudaSuccess;
}
