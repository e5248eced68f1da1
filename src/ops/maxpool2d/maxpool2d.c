// maxpool2d: the largest value of each window, and its position. Its cost, reference and ladder.

#include "ops/maxpool2d/maxpool2d.h"

#include <math.h>

#include "ops/define.h"
#include "ops/pool2d.h"

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, heddle_pool2d_dims_input)},
    {HEDDLE_FLOAT_OUTPUT("output", heddle_pool2d_dims_output)},
    {.name = "index", // h * width + w in the input's plane
     .role = HEDDLE_OUTPUT,
     .dtype = HEDDLE_I32,
     .dims = heddle_pool2d_dims_output,
     .saved = true},
};

static const heddle_operand backward_operands[] = {
    {.name = "index",
     .role = HEDDLE_INPUT,
     .dtype = HEDDLE_I32,
     .values = HEDDLE_VALUES_SAVED,
     .dims = heddle_pool2d_dims_output},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, heddle_pool2d_dims_output)},
    {HEDDLE_FLOAT_OUTPUT("grad_input", heddle_pool2d_dims_input)},
};

HEDDLE_COST(forward_cost, forward_operands, heddle_pool2d_shape,
            heddle_pool2d_outputs(shape) * shape->window * shape->window)
HEDDLE_COST(backward_cost, backward_operands, heddle_pool2d_shape, heddle_pool2d_outputs(shape))

static void forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_pool2d_shape *shape = shape_;
    size_t at = 0;
    for (size_t p = 0; p < (size_t)shape->n * shape->c; p++)
        for (int y = 0; y < heddle_pool2d_out_h(shape); y++)
            for (int x = 0; x < heddle_pool2d_out_w(shape); x++, at++) {
                const double *plane = input[0] + p * shape->h * shape->w;
                heddle_window window = heddle_pool2d_window(shape, y, x);
                int won = window.h_begin * shape->w + window.w_begin;
                for (int h = window.h_begin; h < window.h_end; h++)
                    for (int w = window.w_begin; w < window.w_end; w++) {
                        int place = h * shape->w + w;
                        if (plane[place] > plane[won] || isnan(plane[place]))
                            won = place;
                    }
                output[0][at] = plane[won];
                output[1][at] = won;
            }
}

static void backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_pool2d_shape *shape = shape_;
    int windows = heddle_pool2d_out_h(shape) * heddle_pool2d_out_w(shape);
    size_t plane = (size_t)shape->h * shape->w;
    for (size_t i = 0; i < (size_t)shape->n * shape->c * plane; i++)
        output[0][i] = 0;
    for (size_t i = 0; i < (size_t)shape->n * shape->c * windows; i++)
        output[0][i / windows * plane + (size_t)input[0][i]] += input[1][i];
}

// Slowest first.
static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_maxpool2d_forward_cpu_naive,
     "one window at a time, one branch per element", NULL, NULL},
    {"cpu_planes", HEDDLE_CPU, HEDDLE_TUNED, heddle_maxpool2d_forward_cpu_planes,
     "planes over the threads, 2x2 windows by vectors: memory-bound", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per window: loads a stride apart", NULL, NULL},
    {"02_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "2x2 windows by 16 bytes, four places in flight: limited by memory bandwidth", heddle_pool2d_is_pairs, NULL},
};

static const heddle_rung backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_maxpool2d_backward_cpu_naive, "zero, then scatter by index", NULL,
     NULL},
    {"cpu_planes", HEDDLE_CPU, HEDDLE_TUNED, heddle_maxpool2d_backward_cpu_planes,
     "planes over the threads, 2x2 windows by selects: memory-bound", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per plane, which it clears and adds to by index: few threads, uncoalesced", NULL, NULL},
    {"02_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "2x2 windows by 16 bytes, zeros and gradients in one store: limited by memory bandwidth", heddle_pool2d_is_pairs,
     NULL},
};

static const heddle_op *const gradients[] = {&heddle_op_maxpool2d_backward, NULL};

const heddle_op heddle_op_maxpool2d_forward = {
    .name = "maxpool2d_forward",
    .ladder_name = "maxpool2d",
    .summary = "largest value of each window",
    HEDDLE_POOL2D_OP,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = forward_reference,
    .exactness = HEDDLE_EXACT,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_maxpool2d_backward = {
    .name = "maxpool2d_backward",
    .ladder_name = "maxpool2d",
    .summary = "gradient of maxpool2d: goes to the position of the largest value",
    HEDDLE_POOL2D_OP,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = backward_reference,
    .reduction = heddle_pool2d_reduction, // overlapping windows may share their largest value
    HEDDLE_LADDER(backward_ladder),
};
