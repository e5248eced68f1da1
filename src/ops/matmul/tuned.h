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

// Tiles of the output that there are kernels for.
typedef enum heddle_tiling {
    HEDDLE_TILING_128_128, // 8 by 16 sums a thread
    HEDDLE_TILING_128_64,  // 8 by 8
    HEDDLE_TILING_64_128,  // 8 by 8
    HEDDLE_TILING_64_64,   // 8 by 4
    HEDDLE_TILING_COUNT,
} heddle_tiling;

// Which block computes what. Tiles of all products of a batch are counted through, each of `steps` tiles of k. The
// first `whole` of them have a block each; the rest, too few to fill the card once more, are cut at any step of k into
// as many equal shares as there are `sharers`.
typedef struct heddle_product_plan {
    heddle_tiling tiling;
    long long whole;
    int sharers; // 0: no tile is shared
} heddle_product_plan;

enum {
    HEDDLE_PRODUCT_MOST_SIZE = 1 << 30, // of m, n and k: a row's bytes are a 32-bit number
    HEDDLE_PRODUCT_DEPTH = 32,          // steps of k a tile
    // Of an H100 or H200. What is planned must not depend on the card that it runs on: the workspace is measured before
    // one is chosen.
    HEDDLE_PRODUCT_MULTIPROCESSORS = 132,
    // A sharer's sums of a tile of which others have a part too go to the workspace. It has two such tiles at most: the
    // first and the last of its share.
    HEDDLE_PRODUCT_PARTS = 2,
};

// What a tiling costs, as measured on an H200 and rounded: the unit is a step of k of two blocks of 128 by 128, which
// keep a multiprocessor busy.
typedef struct heddle_tiling_cost {
    int m, n;
    int resident; // blocks that a multiprocessor holds
    double step;  // a step of k with so many blocks
} heddle_tiling_cost;

static inline heddle_tiling_cost heddle_tiling_cost_of(heddle_tiling tiling)
{
    static const heddle_tiling_cost costs[HEDDLE_TILING_COUNT] = {
        {128, 128, 2, 1.0},
        {128, 64, 3, 0.86},
        {64, 128, 3, 0.82},
        {64, 64, 4, 0.64},
    };
    return costs[tiling];
}

// Tiles of k; one of zeros where k is 0.
static inline int heddle_product_steps(const heddle_product *product)
{
    return product->k > 0 ? (product->k - 1) / HEDDLE_PRODUCT_DEPTH + 1 : 1;
}

static inline long long heddle_product_tiles(const heddle_product *product, const heddle_tiling_cost *cost)
{
    return (long long)product->batch * ((product->m + cost->m - 1) / cost->m) * ((product->n + cost->n - 1) / cost->n);
}

// Time of `blocks` blocks that do `steps` steps of k each, in rounds of which the last may be partly filled.
static inline double heddle_product_rounds_time(const heddle_tiling_cost *cost, long long blocks, double steps)
{
    const double start = 12; // a block's first tiles come from memory, its last sums go there
    const double lone = 0.3; // of a full multiprocessor's time is taken however few blocks it has
    long long busiest = (blocks + HEDDLE_PRODUCT_MULTIPROCESSORS - 1) / HEDDLE_PRODUCT_MULTIPROCESSORS;
    long long rounds = busiest / cost->resident;
    int rest = (int)(busiest % cost->resident);
    double load = rounds + (rest ? lone + (1 - lone) * rest / cost->resident : 0);
    return load * cost->step * steps + (double)(rounds + (rest > 0)) * start;
}

static inline double heddle_product_time(const heddle_product *product, const heddle_product_plan *plan)
{
    const double second_pass = 20, float_of_part = 1e-5; // to add up parts: the kernel, and each float
    heddle_tiling_cost cost = heddle_tiling_cost_of(plan->tiling);
    double time = heddle_product_rounds_time(&cost, plan->whole, product->k);
    if (plan->sharers == 0)
        return time;
    double rest = (double)(heddle_product_tiles(product, &cost) - plan->whole) * heddle_product_steps(product);
    double share = rest / plan->sharers * HEDDLE_PRODUCT_DEPTH;
    double floats = (double)plan->sharers * HEDDLE_PRODUCT_PARTS * cost.m * cost.n;
    return time + heddle_product_rounds_time(&cost, plan->sharers, share) + second_pass + float_of_part * floats;
}

// Of all tilings; of sharing nothing, the tiles that full rounds of blocks leave, or a round of tiles more than those;
// and of every number of sharers that a multiprocessor can hold.
static inline heddle_product_plan heddle_product_plan_of(const heddle_product *product)
{
    const long long processors = HEDDLE_PRODUCT_MULTIPROCESSORS, least_share = 2; // tiles of k worth a block
    heddle_product_plan best = {HEDDLE_TILING_128_128, 0, 0};
    double least = -1;
    for (int tiling = 0; tiling < HEDDLE_TILING_COUNT; tiling++) {
        heddle_tiling_cost cost = heddle_tiling_cost_of((heddle_tiling)tiling);
        long long tiles = heddle_product_tiles(product, &cost), round = processors * cost.resident;
        for (int choice = 0; choice <= 2 * cost.resident; choice++) {
            int rounds_less = choice > cost.resident, each = choice - rounds_less * cost.resident; // sharers
            long long whole = choice == 0 ? tiles : tiles / round * round - rounds_less * round;
            long long shares = (tiles - whole) * heddle_product_steps(product) / least_share;
            long long sharers = shares < each * processors ? shares : each * processors;
            if (whole < 0 || (choice > 0 && sharers == 0))
                continue;
            heddle_product_plan plan = {(heddle_tiling)tiling, whole, (int)sharers};
            double time = heddle_product_time(product, &plan);
            if (least < 0 || time < least) {
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
    heddle_tiling_cost cost = heddle_tiling_cost_of(plan.tiling);
    return sizeof(float) * HEDDLE_PRODUCT_PARTS * plan.sharers * cost.m * cost.n;
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
