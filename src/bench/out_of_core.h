// Products of matrices in host memory that are too large to hold a second time: matmul_host's rungs, held against what
// the link to the host and the arithmetic allow, each measured in the same run. The whole output is checked without
// another copy of it.
#pragma once

#include "heddle/ops.h"

enum { HEDDLE_OUT_OF_CORE_RUNGS = 8, HEDDLE_OUT_OF_CORE_MESSAGE = 512 };

// --- checking --------------------------------------------------------------------------------------------------------

// output (m, n) = a (m, k) * b (k, n), all in host memory.
typedef struct heddle_out_of_core_product {
    int m, n, k;
    const float *a, *b;
    float *output;
} heddle_out_of_core_product;

// What is expected of the output, by way of a vector x of n signs drawn from a seed: output * x = a * (b * x), each
// row, in float64. That takes two products of a matrix and a vector instead of a second output, and every element of
// the output counts in it: one that is off by more than twice `row_bound` shows. Beside it some elements are computed
// in float64 and held to the bound of an element.
typedef struct heddle_out_of_core_expectation {
    double *signs;                   // (n)
    double *rows;                    // (m)
    double element_bound, row_bound; // without what a rung's arithmetic adds
    double scale;                    // root mean square of an element
    uint64_t seed;
} heddle_out_of_core_expectation;

// Fills a and b with numbers in [-1, 1), by all threads of the pool.
void heddle_out_of_core_fill(const heddle_out_of_core_product *product, heddle_pool *pool, uint64_t seed);
heddle_status heddle_out_of_core_expect(const heddle_out_of_core_product *product, heddle_pool *pool, uint64_t seed,
                                        heddle_out_of_core_expectation *expected);
void heddle_out_of_core_forget(heddle_out_of_core_expectation *expected);
// Every byte of the output is 0xff: NaN.
void heddle_out_of_core_poison(const heddle_out_of_core_product *product, heddle_pool *pool);
// HEDDLE_OK, or HEDDLE_DEVICE with the row or element that is wrong; *share: the largest error of a row over its bound.
heddle_status heddle_out_of_core_check(const heddle_out_of_core_product *product, heddle_pool *pool,
                                       const heddle_out_of_core_expectation *expected, heddle_arithmetic arithmetic,
                                       double *share);

// --- measuring -------------------------------------------------------------------------------------------------------

typedef struct heddle_out_of_core_row {
    const heddle_rung *rung;
    heddle_status status;
    char message[HEDDLE_OUT_OF_CORE_MESSAGE]; // what was wrong
    double seconds;                           // 0 on sim
    double share;                             // largest error of a row over its bound
    double product_flops;                     // per second, of the inner product alone; 0: not known
    double limit;                             // seconds: what the link, each way alone, and the arithmetic allow
    bool by_arithmetic;                       // which of the two that is
} heddle_out_of_core_row;

typedef struct heddle_out_of_core {
    heddle_matmul_host_shape shape;
    double pin_seconds;             // to get pinned memory for all three matrices: not in any other time
    double in_seconds, out_seconds; // to copy a and b in, and the output out, once and with nothing else
    double both_seconds;            // and both at once
    double workspace;               // bytes on the device, of the largest rung
    double element_seen;            // an element off by so much is found
    double element_scale;           // where this is their root mean square
    heddle_out_of_core_row rows[HEDDLE_OUT_OF_CORE_RUNGS];
    int count;
} heddle_out_of_core;

// `tell` gets a line before each part; may be NULL. A rung that is wrong or fails is a row, not a failure of the call.
heddle_status heddle_out_of_core_measure(heddle_device *device, heddle_pool *pool,
                                         const heddle_matmul_host_shape *shape, uint64_t seed,
                                         void (*tell)(const char *text), heddle_out_of_core *result);
