// rmsnorm, second rung: rows spread over the threads, with several independent sums, so that an addition does not wait
// for the one before and vectors can be used. The weight's gradient is a sum over the rows: there a thread has a strip
// of columns.
//
// Limited by: memory bandwidth, and conversions to double for the sums, as in cpu_naive.

#include <math.h>

#include "heddle/ops.h"
#include "ops/clones.h"
#include "ops/lanes.h"
#include "ops/pieces.h"
#include "ops/rmsnorm/rmsnorm.h"

enum { STRIP = 64 }; // columns per piece, whose sums stay in L1

HEDDLE_CLONES static double sum_squares(const float *x, int cols)
{
    return heddle_sum_squares_from(x, (size_t)cols, 0);
}

HEDDLE_CLONES static void normalise(const float *restrict x, const float *restrict weight, int cols, float inverse_rms,
                                    float *restrict y)
{
    for (int j = 0; j < cols; j++)
        y[j] = x[j] * inverse_rms * weight[j];
}

static void forward_rows(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_layernorm_shape *shape = call->shape;
    const size_t cols = (size_t)shape->cols;
    for (size_t i = begin; i < end; i++) {
        const float *x = (const float *)call->input[0] + i * cols;
        float inverse_rms = (float)(1 / sqrt(sum_squares(x, shape->cols) / shape->cols + shape->epsilon));
        normalise(x, call->input[1], shape->cols, inverse_rms, (float *)call->output[0] + i * cols);
        ((float *)call->output[1])[i] = inverse_rms;
    }
}

heddle_status heddle_rmsnorm_forward_cpu_rows(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = call->shape;
    heddle_pieces_run(call->pool, (size_t)shape->rows, heddle_piece_rows((size_t)shape->cols), forward_rows,
                      (void *)call);
    return HEDDLE_OK;
}

// With scaled = grad * weight and n = x / rms: grad_input = (scaled - n * mean(scaled * n)) / rms
HEDDLE_CLONES static void gradient_row(const float *restrict x, const float *restrict weight,
                                       const float *restrict grad, int cols, float inverse_rms,
                                       float *restrict grad_input)
{
    double products[HEDDLE_LANES] = {0};
    int whole = cols / HEDDLE_LANES * HEDDLE_LANES;
    for (int i = 0; i < whole; i += HEDDLE_LANES)
        for (int lane = 0; lane < HEDDLE_LANES; lane++)
            products[lane] += (double)grad[i + lane] * weight[i + lane] * x[i + lane];
    for (int i = whole; i < cols; i++)
        products[0] += (double)grad[i] * weight[i] * x[i];
    const double factor = (double)inverse_rms * inverse_rms * heddle_lanes_total(products) / cols;
    for (int j = 0; j < cols; j++)
        grad_input[j] = (float)(inverse_rms * ((double)grad[j] * weight[j] - x[j] * factor));
}

static void backward_rows(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_layernorm_shape *shape = call->shape;
    const size_t cols = (size_t)shape->cols;
    const float *x = call->input[0], *inverse_rms = call->input[2], *grad = call->input[3];
    for (size_t i = begin; i < end; i++)
        gradient_row(x + i * cols, call->input[1], grad + i * cols, shape->cols, inverse_rms[i],
                     (float *)call->output[0] + i * cols);
}

HEDDLE_CLONES static void add_row(const float *restrict x, const float *restrict grad, size_t count, double inverse_rms,
                                  double *restrict sums)
{
    for (size_t j = 0; j < count; j++)
        sums[j] += grad[j] * (x[j] * inverse_rms);
}

static void backward_columns(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_layernorm_shape *shape = call->shape;
    const float *x = call->input[0], *inverse_rms = call->input[2], *grad = call->input[3];
    double sums[STRIP] = {0};
    for (size_t i = 0; i < (size_t)shape->rows; i++) {
        size_t at = i * (size_t)shape->cols + begin;
        add_row(x + at, grad + at, end - begin, inverse_rms[i], sums);
    }
    for (size_t j = begin; j < end; j++)
        ((float *)call->output[1])[j] = (float)sums[j - begin];
}

heddle_status heddle_rmsnorm_backward_cpu_rows(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = call->shape;
    if (call->output[0])
        heddle_pieces_run(call->pool, (size_t)shape->rows, heddle_piece_rows((size_t)shape->cols), backward_rows,
                          (void *)call);
    heddle_pieces_run(call->pool, (size_t)shape->cols, STRIP, backward_columns, (void *)call);
    return HEDDLE_OK;
}
