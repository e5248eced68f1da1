// The check of products that are too large for a second output: Freivalds' way, a random vector through both sides,
// with sums in float64 by all cores, and some elements one by one.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "bench/out_of_core.h"
#include "heddle/random.h"
#include "ops/tolerance.h"

enum {
    WORDS = 4,       // that one call of Philox gives
    BLOCK = 1 << 16, // floats that are filled or poisoned at a time
    SAMPLES = 256,   // elements that are computed one by one
    SEQUENCE_A = 1,  // of the random numbers
    SEQUENCE_B = 2,
    SEQUENCE_SIGNS = 3,
    SEQUENCE_SAMPLES = 4,
};

// --- filling ---------------------------------------------------------------------------------------------------------

typedef struct filling {
    float *values;
    size_t count;
    uint64_t seed, sequence;
} filling;

static void fill_block(void *context, int index, int worker)
{
    (void)worker;
    const filling *job = context;
    const uint32_t key[2] = {(uint32_t)job->seed, (uint32_t)(job->seed >> 32)};
    size_t first = (size_t)index * BLOCK, last = job->count - first < BLOCK ? job->count : first + BLOCK;
    for (size_t i = first; i < last; i += WORDS) {
        uint32_t words[WORDS];
        const uint32_t counter[4] = {(uint32_t)(i / WORDS), (uint32_t)(i / WORDS >> 32), (uint32_t)job->sequence, 0};
        heddle_philox(counter, key, words);
        for (size_t w = 0; w < WORDS && i + w < last; w++)
            job->values[i + w] = (float)((int32_t)words[w] >> 8) * 0x1p-23f; // 24 bits: [-1, 1)
    }
}

static int blocks_of(size_t count)
{
    return (int)((count + BLOCK - 1) / BLOCK);
}

void heddle_out_of_core_fill(const heddle_out_of_core_product *product, heddle_pool *pool, uint64_t seed)
{
    size_t m = (size_t)product->m, n = (size_t)product->n, k = (size_t)product->k;
    filling a = {(float *)product->a, m * k, seed, SEQUENCE_A}, b = {(float *)product->b, k * n, seed, SEQUENCE_B};
    heddle_pool_run(pool, blocks_of(a.count), fill_block, &a);
    heddle_pool_run(pool, blocks_of(b.count), fill_block, &b);
}

static void poison_block(void *context, int index, int worker)
{
    (void)worker;
    const filling *job = context;
    size_t first = (size_t)index * BLOCK, count = job->count - first < BLOCK ? job->count - first : BLOCK;
    memset(job->values + first, 0xff, count * sizeof(float));
}

void heddle_out_of_core_poison(const heddle_out_of_core_product *product, heddle_pool *pool)
{
    filling output = {product->output, (size_t)product->m * (size_t)product->n, 0, 0};
    heddle_pool_run(pool, blocks_of(output.count), poison_block, &output);
}

// --- rows times a vector ---------------------------------------------------------------------------------------------

typedef struct row_products {
    const float *matrix; // (rows, columns)
    int columns;
    const double *vector; // (columns)
    double *results;      // (rows)
} row_products;

static void multiply_row(void *context, int index, int worker)
{
    (void)worker;
    const row_products *job = context;
    const float *row = job->matrix + (size_t)index * (size_t)job->columns;
    double sums[WORDS] = {0}; // several at a time: one sum alone would wait for itself
    int i = 0;
    for (; i + WORDS <= job->columns; i += WORDS)
        for (int s = 0; s < WORDS; s++)
            sums[s] += row[i + s] * job->vector[i + s];
    for (; i < job->columns; i++)
        sums[0] += row[i] * job->vector[i];
    job->results[index] = sums[0] + sums[1] + (sums[2] + sums[3]);
}

static void multiply_rows(heddle_pool *pool, const float *matrix, int rows, int columns, const double *vector,
                          double *results)
{
    row_products job = {.matrix = matrix, .columns = columns, .vector = vector};
    job.results = results;
    heddle_pool_run(pool, rows, multiply_row, &job);
}

// --- expectation -----------------------------------------------------------------------------------------------------

static void draw_signs(double *signs, int count, uint64_t seed)
{
    heddle_random random = heddle_random_make(seed, SEQUENCE_SIGNS);
    for (int i = 0; i < count; i++)
        signs[i] = heddle_random_u32(&random) & 1 ? 1 : -1;
}

heddle_status heddle_out_of_core_expect(const heddle_out_of_core_product *product, heddle_pool *pool, uint64_t seed,
                                        heddle_out_of_core_expectation *expected)
{
    const double mean_square = 1.0 / 3; // of a number that is uniform in [-1, 1)
    int m = product->m, n = product->n, k = product->k;
    double *between = malloc(((size_t)k + 1) * sizeof *between);
    *expected = (heddle_out_of_core_expectation){.seed = seed,
                                                 .signs = malloc(((size_t)n + 1) * sizeof(double)),
                                                 .rows = malloc(((size_t)m + 1) * sizeof(double))};
    if (!between || !expected->signs || !expected->rows) {
        free(between);
        heddle_out_of_core_forget(expected);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the check's vectors");
    }
    draw_signs(expected->signs, n, seed);
    multiply_rows(pool, product->b, k, n, expected->signs, between);
    multiply_rows(pool, product->a, m, k, between, expected->rows);
    free(between);
    expected->scale = sqrt((double)k) * mean_square;
    expected->element_bound = heddle_tolerance_factor(k, HEDDLE_FULL, 0, HEDDLE_F32) * expected->scale;
    // The errors of a row's elements have no sign in common: n of them add up as a random walk does. An element's bound
    // is several times their root mean square, which covers the worst of all rows.
    expected->row_bound = expected->element_bound * sqrt((double)n);
    return HEDDLE_OK;
}

void heddle_out_of_core_forget(heddle_out_of_core_expectation *expected)
{
    free(expected->signs);
    free(expected->rows);
    expected->signs = expected->rows = NULL;
}

// --- checking --------------------------------------------------------------------------------------------------------

static heddle_status check_rows(const heddle_out_of_core_product *product, heddle_pool *pool,
                                const heddle_out_of_core_expectation *expected, double bound, double *share)
{
    double *rows = malloc(((size_t)product->m + 1) * sizeof *rows);
    if (!rows)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the check's vectors");
    multiply_rows(pool, product->output, product->m, product->n, expected->signs, rows);
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < product->m && status == HEDDLE_OK; i++) {
        double distance = fabs(rows[i] - expected->rows[i]);
        if (!(distance <= bound)) // so that NaN is wrong
            status = heddle_fail(HEDDLE_DEVICE,
                                 "row %d of the output is wrong: times a vector of signs it is %.9g, not %.9g; %.2g "
                                 "would be rounding",
                                 i, rows[i], expected->rows[i], bound);
        else if (bound > 0)
            *share = fmax(*share, distance / bound);
    }
    free(rows);
    return status;
}

static heddle_status check_samples(const heddle_out_of_core_product *product,
                                   const heddle_out_of_core_expectation *expected, double bound)
{
    heddle_random random = heddle_random_make(expected->seed, SEQUENCE_SAMPLES);
    size_t n = (size_t)product->n, k = (size_t)product->k;
    for (int s = 0; s < SAMPLES; s++) {
        size_t i = heddle_random_below(&random, (uint32_t)product->m), j = heddle_random_below(&random, (uint32_t)n);
        double sum = 0, got = product->output[i * n + j];
        for (size_t p = 0; p < k; p++)
            sum += (double)product->a[i * k + p] * product->b[p * n + j];
        if (!(fabs(got - sum) <= bound * fmax(1, fabs(sum) / expected->scale)))
            return heddle_fail(HEDDLE_DEVICE, "element (%zu, %zu) of the output is %.9g, not %.9g", i, j, got, sum);
    }
    return HEDDLE_OK;
}

heddle_status heddle_out_of_core_check(const heddle_out_of_core_product *product, heddle_pool *pool,
                                       const heddle_out_of_core_expectation *expected, heddle_arithmetic arithmetic,
                                       double *share)
{
    *share = 0;
    if (product->m == 0 || product->n == 0)
        return HEDDLE_OK;
    double allowed = heddle_tolerance_factor(product->k, arithmetic, 0, HEDDLE_F32);
    double looser = allowed / heddle_tolerance_factor(product->k, HEDDLE_FULL, 0, HEDDLE_F32);
    HEDDLE_TRY(check_rows(product, pool, expected, expected->row_bound * looser, share));
    return check_samples(product, expected, expected->element_bound * looser);
}
