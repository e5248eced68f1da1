// avgpool2d: the mean of each window, without padding. Its cost, reference and ladder.

#include "ops/avgpool2d/avgpool2d.h"

#include "ops/define.h"
#include "ops/pool2d.h"

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, heddle_pool2d_dims_input)},
    {HEDDLE_FLOAT_OUTPUT("output", heddle_pool2d_dims_output)},
};

static const heddle_operand backward_operands[] = {
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, heddle_pool2d_dims_output)},
    {HEDDLE_FLOAT_OUTPUT("grad_input", heddle_pool2d_dims_input)},
};

HEDDLE_COST(forward_cost, forward_operands, heddle_pool2d_shape,
            heddle_pool2d_outputs(shape) * shape->window * shape->window)
HEDDLE_COST(backward_cost, backward_operands, heddle_pool2d_shape,
            heddle_pool2d_outputs(shape) * shape->window * shape->window)

static void forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_pool2d_shape *shape = shape_;
    size_t at = 0;
    for (int p = 0; p < shape->n * shape->c; p++)
        for (int y = 0; y < heddle_pool2d_out_h(shape); y++)
            for (int x = 0; x < heddle_pool2d_out_w(shape); x++, at++) {
                heddle_window window = heddle_pool2d_window(shape, y, x);
                output[0][at] = 0;
                for (int h = window.h_begin; h < window.h_end; h++)
                    for (int w = window.w_begin; w < window.w_end; w++)
                        output[0][at] +=
                            input[0][((size_t)p * shape->h + h) * shape->w + w] / heddle_window_size(window);
            }
}

static void backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_pool2d_shape *shape = shape_;
    size_t at = 0;
    for (size_t i = 0; i < (size_t)shape->n * shape->c * shape->h * shape->w; i++)
        output[0][i] = 0;
    for (int p = 0; p < shape->n * shape->c; p++)
        for (int y = 0; y < heddle_pool2d_out_h(shape); y++)
            for (int x = 0; x < heddle_pool2d_out_w(shape); x++, at++) {
                heddle_window window = heddle_pool2d_window(shape, y, x);
                for (int h = window.h_begin; h < window.h_end; h++)
                    for (int w = window.w_begin; w < window.w_end; w++)
                        output[0][((size_t)p * shape->h + h) * shape->w + w] +=
                            input[0][at] / heddle_window_size(window);
            }
}

// Slowest first.
static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_avgpool2d_forward_cpu_naive, "one window at a time", NULL, NULL},
    {"cpu_planes", HEDDLE_CPU, HEDDLE_TUNED, heddle_avgpool2d_forward_cpu_planes,
     "planes over the threads, 2x2 windows by vectors: memory-bound", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per window: loads a stride apart", NULL, NULL},
    {"02_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "2x2 windows by 16 bytes, four places in flight: limited by memory bandwidth", heddle_pool2d_is_pairs, NULL},
};

static const heddle_rung backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_avgpool2d_backward_cpu_naive, "zero, then one window at a time",
     NULL, NULL},
    {"cpu_planes", HEDDLE_CPU, HEDDLE_TUNED, heddle_avgpool2d_backward_cpu_planes,
     "planes over the threads, 2x2 windows by vectors: memory-bound", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per element gathers from its windows: one division per window", NULL, NULL},
    {"02_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "2x2 windows by 16 bytes, no search for windows: limited by memory bandwidth", heddle_pool2d_is_pairs, NULL},
};

static const heddle_op *const gradients[] = {&heddle_op_avgpool2d_backward, NULL};

const heddle_op heddle_op_avgpool2d_forward = {
    .name = "avgpool2d_forward",
    .ladder_name = "avgpool2d",
    .summary = "mean of each window",
    HEDDLE_POOL2D_OP,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = forward_reference,
    .reduction = heddle_pool2d_reduction,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_avgpool2d_backward = {
    .name = "avgpool2d_backward",
    .ladder_name = "avgpool2d",
    .summary = "gradient of avgpool2d: spread evenly over each window",
    HEDDLE_POOL2D_OP,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = backward_reference,
    .reduction = heddle_pool2d_reduction,
    HEDDLE_LADDER(backward_ladder),
};
