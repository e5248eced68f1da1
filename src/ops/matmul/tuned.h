// The tuned matrix product, which matmul, batched matmul and linear share: its parameters, and how it cuts a product
// into tiles. The operators' tables need the tiling to state the workspace of a shape, so this header is C as well as
// CUDA. The kernel is in tuned_kernel.h, its launcher in 10_tuned.cu.
#pragma once

#include <stddef.h>

#include "heddle/ops.h"

// output (m, n) = alpha * op(a) (m, k) * op(b) (k, n) + beta * output + bias (n), for each of `batch` products whose
// matrices are stored one after another. A transposed operand is stored (k, m) or (n, k). bias may be NULL.
typedef struct heddle_product {
    int batch, m, n, k;
    int transpose_a, transpose_b;
    float alpha, beta;
    const float *a, *b, *bias;
    float *output;
} heddle_product;

// Tiles of the output that have a kernel.
typedef enum heddle_tiling {
    HEDDLE_TILING_128_128, // 8 by 16 sums per thread
    HEDDLE_TILING_128_64,  // 8 by 8
    HEDDLE_TILING_64_128,  // 8 by 8
    HEDDLE_TILING_64_64,   // 8 by 4
    HEDDLE_TILING_COUNT,
} heddle_tiling;

typedef struct heddle_product_plan {
    heddle_tiling tiling;
    int splits; // parts of k, each summed by its own blocks; if more than one, the sums go through the workspace
    int edge_m, edge_n; // last rows and columns of the output that no tile covers: each element is computed separately
} heddle_product_plan;

enum {
    HEDDLE_PRODUCT_MOST_SIZE = 1 << 30, // of m, n and k: the bytes of a row fit in 32 bits
    HEDDLE_PRODUCT_DEPTH = 32,          // steps of k per tile
    HEDDLE_PRODUCT_MOST_EDGE = 4,       // rows or columns: more are worth a tile
    // Of an H100 or H200. The plan must not depend on the GPU it runs on: the workspace is computed before a GPU is
    // chosen.
    HEDDLE_PRODUCT_MULTIPROCESSORS = 132,
    // Of the largest tiling: two stages of 128 rows and 128 columns, padded by 4. GPUs before Ampere may have less.
    HEDDLE_PRODUCT_SHARED_BYTES = 2 * HEDDLE_PRODUCT_DEPTH * 2 * (128 + 4) * (int)sizeof(float),
};

// The cost of a tiling, fitted to the times of all tilings and splits on an H200. The unit is one step of k of two
// blocks of 128 by 128, which keep an SM busy.
typedef struct heddle_tiling_cost {
    int m, n;
    int resident; // blocks per SM
    double step;  // one step of k with that many blocks
} heddle_tiling_cost;

// Tiles over a length, without its last `edge` elements.
static inline long long heddle_product_tiles(int length, int tile, int edge)
{
    return edge ? length / tile : (length + tile - 1) / tile;
}

// Time of a product: waves of blocks over the SMs; the last wave may be partly filled.
static inline double heddle_product_time(const heddle_tiling_cost *cost, const heddle_product *product, int splits,
                                         int edge_m, int edge_n)
{
    const double start = 39;  // a block loads its first tiles from memory and stores its last sums there
    const double lone = 0.15; // of a full SM's time is taken however few blocks it has
    const double second_pass = 15, float_of_part = 5.8e-6; // to add parts: the kernel, and each float
    const double edge_product = 5.8e-6;                    // a multiplication of an edge
    const double fewer_tiles = 1;                          // their value if times are equal: room for other kernels
    long long tiles =
        heddle_product_tiles(product->m, cost->m, edge_m) * heddle_product_tiles(product->n, cost->n, edge_n);
    const int processors = HEDDLE_PRODUCT_MULTIPROCESSORS;
    long long blocks = (tiles * product->batch * splits + processors - 1) / processors; // of the busiest SM
    int rest = (int)(blocks % cost->resident);
    double rounds = (double)(blocks / cost->resident);
    double load = rounds + (rest ? lone + (1 - lone) * rest / cost->resident : 0);
    int depth = HEDDLE_PRODUCT_DEPTH, tiles_of_k = (product->k + depth - 1) / depth;
    double time = load * cost->step * ((tiles_of_k + splits - 1) / splits * depth) + (rounds + (rest > 0)) * start;
    double elements = (double)product->batch * product->m * product->n;
    double edges = (double)product->batch * ((double)product->m * edge_n + (double)product->n * edge_m);
    time += edges * product->k * edge_product - fewer_tiles * ((edge_m > 0) + (edge_n > 0));
    return splits > 1 ? time + second_pass + float_of_part * (splits + 1) * elements : time;
}

// What is left of a length after whole tiles, if it is short and there are whole tiles.
static inline int heddle_product_edge(int length, int tile)
{
    return length > tile && length % tile <= HEDDLE_PRODUCT_MOST_EDGE ? length % tile : 0;
}

static inline heddle_product_plan heddle_product_plan_of(const heddle_product *product)
{
    static const heddle_tiling_cost costs[HEDDLE_TILING_COUNT] = {
        {128, 128, 2, 1.0},
        {128, 64, 3, 0.87},
        {64, 128, 3, 0.85},
        {64, 64, 4, 0.65},
    };
    static const int splits[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
    heddle_product_plan best = {HEDDLE_TILING_128_128, 1, 0, 0};
    double least = heddle_product_time(&costs[0], product, 1, 0, 0);
    for (int tiling = 0; tiling < HEDDLE_TILING_COUNT; tiling++)
        for (size_t s = 0; s < sizeof splits / sizeof *splits; s++) {
            if (splits[s] > 1 && splits[s] * HEDDLE_PRODUCT_DEPTH > product->k)
                break;
            // Splitting k applies to the whole output: with edges there is one part.
            int edge_m = splits[s] > 1 ? 0 : heddle_product_edge(product->m, costs[tiling].m);
            int edge_n = splits[s] > 1 ? 0 : heddle_product_edge(product->n, costs[tiling].n);
            for (int with = 0; with < 4; with++) {
                heddle_product_plan plan = {(heddle_tiling)tiling, splits[s], with & 1 ? edge_m : 0,
                                            with & 2 ? edge_n : 0};
                double time = heddle_product_time(&costs[tiling], product, plan.splits, plan.edge_m, plan.edge_n);
                if (time < least) {
                    least = time;
                    best = plan;
                }
            }
        }
    return best;
}

static inline size_t heddle_product_workspace(const heddle_product *product)
{
    heddle_product_plan plan = heddle_product_plan_of(product);
    return plan.splits > 1 ? (size_t)plan.splits * product->batch * product->m * product->n * sizeof(float) : 0;
}

// --- operators as products, without their matrices -------------------------------------------------------------------

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

// grad of op(a) (m, k) = alpha * grad_output (m, n) * op(b)ᵀ (n, k). If a is stored (k, m), so is its gradient: alpha *
// op(b) (k, n) * grad_outputᵀ (n, m), the two matrices swapped.
static inline heddle_product heddle_product_grad_a(const heddle_matmul_shape *shape)
{
    heddle_product product = shape->transpose_a
                                 ? heddle_product_plain(shape->k, shape->m, shape->n, shape->transpose_b, 1)
                                 : heddle_product_plain(shape->m, shape->k, shape->n, 0, !shape->transpose_b);
    product.alpha = shape->alpha;
    return product;
}

// grad of op(b) (k, n) = alpha * op(a)ᵀ (k, m) * grad_output (m, n). If b is stored (n, k): alpha * grad_outputᵀ (n, m)
// * op(a) (m, k), the two matrices swapped.
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
