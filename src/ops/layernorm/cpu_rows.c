// layernorm, second rung: rows spread over the threads, with several independent sums, so that an addition does not
// wait for the one before and vectors can be used. The gradients of gamma and beta are sums over the rows: there a
// thread has a strip of columns.
//
// Limited by: memory bandwidth, and conversions to double for the sums, as in cpu_naive.

#include <math.h>

#include "heddle/ops.h"
#include "ops/clones.h"
#include "ops/layernorm/layernorm.h"
#include "ops/pieces.h"

enum { SUMS = 8, STRIP = 64 }; // STRIP: columns per piece, whose sums stay in L1

static double total(const double sums[SUMS])
{
    double sum = 0;
    for (int j = 0; j < SUMS; j++)
        sum += sums[j];
    return sum;
}

// Sum of (x - centre)^power, power 1 or 2.
HEDDLE_CLONES static double sum_around(const float *x, int cols, double centre, bool square)
{
    double sums[SUMS] = {0};
    int whole = cols / SUMS * SUMS;
    for (int i = 0; i < whole; i += SUMS)
        for (int j = 0; j < SUMS; j++) {
            double distance = x[i + j] - centre;
            sums[j] += square ? distance * distance : distance;
        }
    for (int i = whole; i < cols; i++) {
        double distance = x[i] - centre;
        sums[0] += square ? distance * distance : distance;
    }
    return total(sums);
}

HEDDLE_CLONES static void normalise(const float *restrict x, const float *restrict gamma, const float *restrict beta,
                                    int cols, float mean, float inverse_std, float *restrict y)
{
    for (int j = 0; j < cols; j++)
        y[j] = (x[j] - mean) * inverse_std * gamma[j] + beta[j];
}

static void forward_rows(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_layernorm_shape *shape = call->shape;
    const size_t cols = (size_t)shape->cols;
    for (size_t i = begin; i < end; i++) {
        const float *x = (const float *)call->input[0] + i * cols;
        double mean = sum_around(x, shape->cols, 0, false) / shape->cols;
        double inverse_std = 1 / sqrt(sum_around(x, shape->cols, mean, true) / shape->cols + shape->epsilon);
        normalise(x, call->input[1], call->input[2], shape->cols, (float)mean, (float)inverse_std,
                  (float *)call->output[0] + i * cols);
        ((float *)call->output[1])[i] = (float)mean;
        ((float *)call->output[2])[i] = (float)inverse_std;
    }
}

heddle_status heddle_layernorm_forward_cpu_rows(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = call->shape;
    heddle_pieces_run(call->pool, (size_t)shape->rows, heddle_piece_rows((size_t)shape->cols), forward_rows,
                      (void *)call);
    return HEDDLE_OK;
}

// With scaled = grad * gamma and n = (x - mean) / std:
// grad_input = (scaled - mean(scaled) - n * mean(scaled * n)) / std
HEDDLE_CLONES static void gradient_row(const float *restrict x, const float *restrict gamma, const float *restrict grad,
                                       int cols, float mean, float inverse_std, float *restrict grad_input)
{
    double sums[SUMS] = {0}, products[SUMS] = {0};
    int whole = cols / SUMS * SUMS;
    for (int i = 0; i < whole; i += SUMS)
        for (int j = 0; j < SUMS; j++) {
            double scaled = (double)grad[i + j] * gamma[i + j];
            sums[j] += scaled;
            products[j] += scaled * ((double)x[i + j] - mean) * inverse_std;
        }
    for (int i = whole; i < cols; i++) {
        double scaled = (double)grad[i] * gamma[i];
        sums[0] += scaled;
        products[0] += scaled * ((double)x[i] - mean) * inverse_std;
    }
    const double sum = total(sums) / cols, product = total(products) / cols;
    for (int j = 0; j < cols; j++) {
        double normalised = ((double)x[j] - mean) * inverse_std;
        grad_input[j] = (float)(inverse_std * ((double)grad[j] * gamma[j] - sum - normalised * product));
    }
}

static void backward_rows(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_layernorm_shape *shape = call->shape;
    const size_t cols = (size_t)shape->cols;
    const float *x = call->input[0], *mean = call->input[2], *inverse_std = call->input[3], *grad = call->input[4];
    for (size_t i = begin; i < end; i++)
        gradient_row(x + i * cols, call->input[1], grad + i * cols, shape->cols, mean[i], inverse_std[i],
                     (float *)call->output[0] + i * cols);
}

HEDDLE_CLONES static void add_row(const float *restrict x, const float *restrict grad, int count, double mean,
                                  double inverse_std, double *restrict products, double *restrict sums)
{
    for (int j = 0; j < count; j++) {
        products[j] += grad[j] * ((x[j] - mean) * inverse_std);
        sums[j] += grad[j];
    }
}

static void backward_columns(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_layernorm_shape *shape = call->shape;
    const float *x = call->input[0], *mean = call->input[2], *inverse_std = call->input[3], *grad = call->input[4];
    double products[STRIP] = {0}, sums[STRIP] = {0};
    for (size_t i = 0; i < (size_t)shape->rows; i++) {
        size_t at = i * (size_t)shape->cols + begin;
        add_row(x + at, grad + at, (int)(end - begin), mean[i], inverse_std[i], products, sums);
    }
    for (size_t j = begin; j < end; j++) {
        ((float *)call->output[1])[j] = (float)products[j - begin];
        ((float *)call->output[2])[j] = (float)sums[j - begin];
    }
}

heddle_status heddle_layernorm_backward_cpu_rows(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = call->shape;
    if (call->output[0])
        heddle_pieces_run(call->pool, (size_t)shape->rows, heddle_piece_rows((size_t)shape->cols), backward_rows,
                          (void *)call);
    heddle_pieces_run(call->pool, (size_t)shape->cols, STRIP, backward_columns, (void *)call);
    return HEDDLE_OK;
}
