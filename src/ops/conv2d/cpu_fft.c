// conv2d by Fourier transforms: frequency.h explains how. The transforms are heddle_fft_cpu's. Here are the products of
// spectra, one row of one result at a time, summed over channels in the same order for any number of threads. Limited
// by: cache misses. A spectrum of a large image leaves the cache between its rows and its columns.

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "ops/conv2d/conv2d.h"
#include "ops/conv2d/frequency.h"
#include "ops/cpu/scratch.h"
#include "ops/pieces.h"

static const double two_pi = 6.283185307179586476925286766559;

// Multiplications of the direct rungs that take the same time as each of these: counted, then measured against
// cpu_direct with one filter and with sixteen.
static const conv2d_prices prices = {
    .transformed = 320, // additions of some 40 stages, most from and to memory: direct ones stay in registers
    .product = 16,      // 4 multiplications of numbers that are read only for them
    .call = 1e6,        // tables of roots
    .panel = 8,         // filters of cpu_direct's tile
    .least_taps = 25,   // below, Winograd and the direct rung keep their window in registers
};

// Lines of any length: nothing is cut, and the shortest length is used.
static const conv2d_limits limits = {.rows = INT_MAX, .columns = INT_MAX, .mixed = 1};

typedef struct workspace {
    float *image, *filter, *result; // spectra
    float *down, *across;           // factors that shift the result, for each row and column of a spectrum
    void *transforms;
} workspace;

typedef struct job {
    conv2d_frequency plan;
    workspace space;
    const float *bias; // or NULL
} job;

static size_t larger_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t transforms_bytes(const conv2d_frequency *plan, const conv2d_planes *planes, int threads)
{
    heddle_fft_job rows = conv2d_rows_there(plan, planes, NULL, NULL);
    heddle_fft_job columns = conv2d_columns(plan, planes->count, false, planes->rows, plan->rows, NULL);
    return larger_size(heddle_fft_cpu_workspace(&rows, threads), heddle_fft_cpu_workspace(&columns, threads));
}

static size_t transforms_back_bytes(const conv2d_frequency *plan, int threads)
{
    heddle_fft_job columns = conv2d_columns(plan, plan->result.count, true, plan->rows, plan->result.rows, NULL);
    heddle_fft_job rows = conv2d_rows_back(plan, NULL, NULL);
    return larger_size(heddle_fft_cpu_workspace(&rows, threads), heddle_fft_cpu_workspace(&columns, threads));
}

static workspace take_workspace(const conv2d_frequency *plan, int threads, heddle_scratch *scratch)
{
    workspace space;
    size_t there =
        larger_size(transforms_bytes(plan, &plan->image, threads), transforms_bytes(plan, &plan->filter, threads));
    space.image = heddle_scratch_take(scratch, conv2d_spectra_bytes(plan, &plan->image));
    space.filter = heddle_scratch_take(scratch, conv2d_spectra_bytes(plan, &plan->filter));
    space.result = heddle_scratch_take(scratch, conv2d_spectra_bytes(plan, &plan->result));
    space.down = heddle_scratch_floats(scratch, 2 * (size_t)plan->rows);
    space.across = heddle_scratch_floats(scratch, 2 * (size_t)plan->half);
    space.transforms = heddle_scratch_take(scratch, larger_size(there, transforms_back_bytes(plan, threads)));
    return space;
}

// exp(-2πi index * move / modulus) for the first `count` indices.
static void fill_factors(float *factors, int count, int move, int modulus)
{
    for (int i = 0; i < count; i++) {
        double turn = two_pi * (double)((long long)i * move % modulus) / modulus;
        factors[2 * i] = (float)cos(turn);
        factors[2 * i + 1] = (float)-sin(turn);
    }
}

// sum[x] += a[x] * b[x], with b conjugated if sign is -1; complex numbers.
static void add_products(int count, const float *restrict a, const float *restrict b, float sign, float *restrict sum)
{
    for (int x = 0; x < count; x++) {
        float real = b[2 * x], imaginary = sign * b[2 * x + 1];
        sum[2 * x] += a[2 * x] * real - a[2 * x + 1] * imaginary;
        sum[2 * x + 1] += a[2 * x] * imaginary + a[2 * x + 1] * real;
    }
}

static void move_row(int count, const float *restrict across, const float *down, float *restrict row)
{
    for (int x = 0; x < count; x++) {
        float real = across[2 * x] * down[0] - across[2 * x + 1] * down[1];
        float imaginary = across[2 * x] * down[1] + across[2 * x + 1] * down[0];
        float value = row[2 * x];
        row[2 * x] = value * real - row[2 * x + 1] * imaginary;
        row[2 * x + 1] = value * imaginary + row[2 * x + 1] * real;
    }
}

// Row `row` of result (i, j).
static void multiply_row(const job *work, int i, int j, int row)
{
    const conv2d_frequency *plan = &work->plan;
    const workspace *space = &work->space;
    size_t spectrum = 2 * conv2d_spectrum_numbers(plan), at = 2 * (size_t)row * plan->pitch;
    size_t plane = (size_t)i * plan->result_image + (size_t)j * plan->result_filter;
    float *sum = space->result + spectrum * plane + at;
    memset(sum, 0, 2 * sizeof(float) * (size_t)plan->half);
    for (int q = 0; q < plan->sum; q++) {
        size_t image = (size_t)i * plan->image_step + (size_t)q * plan->image_sum;
        size_t filter = (size_t)j * plan->filter_step + (size_t)q * plan->filter_sum;
        add_products(plan->half, space->image + spectrum * image + at, space->filter + spectrum * filter + at,
                     plan->conjugate ? -1.0f : 1.0f, sum);
    }
    move_row(plan->half, space->across, space->down + 2 * row, sum);
    if (row == 0 && work->bias) // frequency 0 is added to every element
        sum[0] += work->bias[j] * (float)plan->rows * (float)plan->columns;
}

static void multiply_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    const job *work = context;
    (void)piece, (void)worker;
    for (size_t at = begin; at < end; at++) {
        int pair = (int)(at / work->plan.rows), row = (int)(at % work->plan.rows);
        multiply_row(work, pair / work->plan.filters, pair % work->plan.filters, row);
    }
}

static void transform_there(const job *work, const conv2d_planes *planes, const float *values, float *spectra,
                            heddle_pool *pool)
{
    heddle_fft_job rows = conv2d_rows_there(&work->plan, planes, values, spectra);
    heddle_fft_job columns = conv2d_columns(&work->plan, planes->count, false, planes->rows, work->plan.rows, spectra);
    heddle_fft_cpu(&rows, pool, work->space.transforms);
    heddle_fft_cpu(&columns, pool, work->space.transforms);
}

static heddle_status run(const heddle_call *call, conv2d_pass pass, const float *image, const float *filter,
                         const float *bias, float *grad_bias)
{
    job work = {.plan = conv2d_frequency_of(call->shape, pass, &limits), .bias = bias};
    const conv2d_frequency *plan = &work.plan;
    heddle_scratch scratch = {.base = call->workspace};
    if (plan->result.count == 0)
        return HEDDLE_OK;
    work.space = take_workspace(plan, heddle_pool_threads(call->pool), &scratch);
    fill_factors(work.space.down, plan->rows, plan->move_rows, plan->rows);
    fill_factors(work.space.across, plan->half, plan->move_columns, plan->columns);
    transform_there(&work, &plan->image, image, work.space.image, call->pool);
    transform_there(&work, &plan->filter, filter, work.space.filter, call->pool);
    heddle_pieces_run(call->pool, (size_t)plan->result.count * plan->rows,
                      heddle_piece_rows(2 * (size_t)plan->half * (plan->sum + 1)), multiply_piece, &work);
    for (int k = 0; grad_bias && k < plan->filters; k++) { // frequency 0 of a plane is its sum
        grad_bias[k] = 0;
        for (int n = 0; n < plan->sum; n++)
            grad_bias[k] += work.space.filter[2 * conv2d_spectrum_numbers(plan) *
                                              ((size_t)n * plan->filter_sum + (size_t)k * plan->filter_step)];
    }
    heddle_fft_job columns =
        conv2d_columns(plan, plan->result.count, true, plan->rows, plan->result.rows, work.space.result);
    heddle_fft_job rows = conv2d_rows_back(plan, work.space.result, call->output[0]);
    heddle_fft_cpu(&columns, call->pool, work.space.transforms);
    heddle_fft_cpu(&rows, call->pool, work.space.transforms);
    return HEDDLE_OK;
}

static size_t workspace_bytes(const void *shape, conv2d_pass pass, int threads)
{
    conv2d_frequency plan = conv2d_frequency_of(shape, pass, &limits);
    heddle_scratch scratch = {.base = NULL};
    take_workspace(&plan, threads, &scratch);
    return scratch.used;
}

heddle_status heddle_conv2d_forward_cpu_fft(const heddle_call *call)
{
    return run(call, CONV2D_FORWARD, call->input[0], call->input[1], call->input[2], NULL);
}

heddle_status heddle_conv2d_backward_data_cpu_fft(const heddle_call *call)
{
    return run(call, CONV2D_BACKWARD_DATA, call->input[1], call->input[0], NULL, NULL);
}

heddle_status heddle_conv2d_backward_weight_cpu_fft(const heddle_call *call)
{
    return run(call, CONV2D_BACKWARD_WEIGHT, call->input[0], call->input[1], NULL, call->output[1]);
}

bool heddle_conv2d_cpu_fft_supports(const void *shape)
{
    return conv2d_frequency_takes(shape, &limits);
}

#define PASS(bytes, pays, pass)                                                                                        \
    size_t bytes(const void *shape, int threads)                                                                       \
    {                                                                                                                  \
        return workspace_bytes(shape, pass, threads);                                                                  \
    }                                                                                                                  \
    bool pays(const void *shape)                                                                                       \
    {                                                                                                                  \
        return conv2d_frequency_pays(shape, pass, &limits, &prices);                                                   \
    }
PASS(heddle_conv2d_forward_cpu_fft_workspace, heddle_conv2d_forward_cpu_fft_pays, CONV2D_FORWARD)
PASS(heddle_conv2d_backward_data_cpu_fft_workspace, heddle_conv2d_backward_data_cpu_fft_pays, CONV2D_BACKWARD_DATA)
PASS(heddle_conv2d_backward_weight_cpu_fft_workspace, heddle_conv2d_backward_weight_cpu_fft_pays,
     CONV2D_BACKWARD_WEIGHT)
