// The tuned matrix product, which matmul, batched matmul and linear share: what it is asked for, and how it cuts a
// product into tiles. The operators' tables need the second to say how much workspace a shape takes, so this header is
// C as well as CUDA. The kernel is in tuned_kernel.h, its launcher in 10_tuned.cu.
#ifndef HEDDLE_OPS_MATMUL_TUNED_H
#define HEDDLE_OPS_MATMUL_TUNED_H

#include <stddef.h>

#include "heddle/ops.h"

// output (m, n) = alpha * op(a) (m, k) * op(b) (k, n) + beta * output + bias (n), for each of `batch` products whose
// matrices lie one behind another. A transposed operand is stored (k, m) or (n, k). bias may be NULL.
typedef struct heddle_product {
    int batch, m, n, k;
    int transpose_a, transpose_b;
    float alpha, beta;
    const float *a, *b, *bias;
    float *output;
} heddle_product;

// Tiles of the output that there are kernels for, and how they are chosen.
typedef enum heddle_tiling {
    HEDDLE_TILING_128_128, // 8 by 16 sums a thread
    HEDDLE_TILING_64_128,  // 8 by 8
    HEDDLE_TILING_64_64,   // 8 by 4
    HEDDLE_TILING_COUNT,
} heddle_tiling;

typedef struct heddle_tiling_size {
    int m, n;
    int resident; // blocks that a multiprocessor holds
    double step;  // time of one step of k with so many blocks, against 128 by 128
    double start; // steps of k that the first tiles' way from memory costs, and the last one's back
} heddle_tiling_size;

typedef struct heddle_product_plan {
    heddle_tiling tiling;
    int splits; // parts of k, each summed by blocks of its own; more than one: the sums go through the workspace
} heddle_product_plan;

enum {
    HEDDLE_PRODUCT_MOST_SIZE = 1 << 30,   // of m, n and k: a row's bytes are a 32-bit number
    HEDDLE_PRODUCT_DEPTH = 16,            // steps of k a tile
    HEDDLE_PRODUCT_MOST_SPLITS = 64,      // beyond these adding up the parts costs more than is won
    HEDDLE_PRODUCT_MULTIPROCESSORS = 132, // of an H100 or H200; the plan must not depend on the card it runs on, since
                                          // the workspace is measured before one is chosen
};

static inline long long heddle_ceil(long long value, long long divisor)
{
    return (value + divisor - 1) / divisor;
}

// Time of a tiling, in steps of k of the largest tiles: rounds of blocks over the multiprocessors, times a block's.
static inline double heddle_tiling_time(const heddle_tiling_size *tile, const heddle_product *product, int splits)
{
    long long blocks = heddle_ceil(product->m, tile->m) * heddle_ceil(product->n, tile->n) * product->batch * splits;
    long long rounds = heddle_ceil(blocks, (long long)HEDDLE_PRODUCT_MULTIPROCESSORS * tile->resident);
    double steps = (double)heddle_ceil(heddle_ceil(product->k, HEDDLE_PRODUCT_DEPTH), splits) * HEDDLE_PRODUCT_DEPTH;
    return rounds * (steps * tile->step + tile->start);
}

static inline heddle_product_plan heddle_product_plan_of(const heddle_product *product)
{
    static const heddle_tiling_size sizes[HEDDLE_TILING_COUNT] = {
        {128, 128, 2, 1.0, 40}, {64, 128, 3, 0.8, 40}, {64, 64, 4, 0.6, 40}};
    const double second_pass = 60, sum_of_floats = 1e-5; // of the parts of k, once and a float
    heddle_product_plan best = {HEDDLE_TILING_128_128, 1};
    double least = heddle_tiling_time(&sizes[0], product, 1);
    for (int tiling = 0; tiling < HEDDLE_TILING_COUNT; tiling++)
        for (int splits = 1; splits <= HEDDLE_PRODUCT_MOST_SPLITS; splits *= 2) {
            if (splits > 1 && product->k < 4 * HEDDLE_PRODUCT_DEPTH * splits)
                break;
            double time = heddle_tiling_time(&sizes[tiling], product, splits);
            if (splits > 1)
                time += second_pass + sum_of_floats * splits * product->batch * (double)product->m * product->n;
            if (time < least) {
                least = time;
                best.tiling = (heddle_tiling)tiling;
                best.splits = splits;
            }
        }
    return best;
}

static inline size_t heddle_product_workspace(const heddle_product *product)
{
    heddle_product_plan plan = heddle_product_plan_of(product);
    return plan.splits > 1 ? (size_t)plan.splits * product->batch * product->m * product->n * sizeof(float) : 0;
}

// --- operators as products, without their matrices
// --------------------------------------------------------------------

// op(a) (m, k) * op(b) (k, n)
static inline heddle_product heddle_product_plain(int m, int n, int k, int transpose_a, int transpose_b)
{
    heddle_product product = {1, m, n, k, transpose_a, transpose_b, 1, 0, NULL, NULL, NULL, NULL};
    return product;
}

static inline heddle_product heddle_product_forward(const heddle_matmul_shape *shape)
{
    heddle_product product = heddle_product_plain(shape->m, shape->n, shape->k, shape->transpose_a, shape->transpose_b);
    product.alpha = shape->alpha;
    product.beta = shape->beta;
    return product;
}

// grad of op(a) (m, k) = alpha * grad_output (m, n) * op(b)ᵀ (n, k). Where a is stored (k, m), so is its gradient:
// alpha * op(b) (k, n) * grad_outputᵀ (n, m), the two matrices swapped.
static inline heddle_product heddle_product_grad_a(const heddle_matmul_shape *shape)
{
    heddle_product product = shape->transpose_a
                                 ? heddle_product_plain(shape->k, shape->m, shape->n, shape->transpose_b, 1)
                                 : heddle_product_plain(shape->m, shape->k, shape->n, 0, !shape->transpose_b);
    product.alpha = shape->alpha;
    return product;
}

// grad of op(b) (k, n) = alpha * op(a)ᵀ (k, m) * grad_output (m, n). Where b is stored (n, k):
// alpha * grad_outputᵀ (n, m) * op(a) (m, k), the two matrices swapped.
static inline heddle_product heddle_product_grad_b(const heddle_matmul_shape *shape)
{
    heddle_product product = shape->transpose_b
                                 ? heddle_product_plain(shape->n, shape->k, shape->m, 1, shape->transpose_a)
                                 : heddle_product_plain(shape->k, shape->n, shape->m, !shape->transpose_a, 0);
    product.alpha = shape->alpha;
    return product;
}

#if defined(__CUDACC__) || defined(HEDDLE_SIM_MODULE)
#include "ops/cuda/rung.h"

// Queues the product. `workspace` has heddle_product_workspace bytes.
heddle_status heddle_product_launch(const heddle_product *product, void *workspace, cudaStream_t stream,
                                    const char *rung);
#endif

#endif
