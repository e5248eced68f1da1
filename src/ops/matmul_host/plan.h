// How a product of matrices in host memory is cut into tiles, so that what is on the device at a time stays within a
// limit. The operator's table needs it to state the workspace of a shape, so this header is C as well as CUDA.
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "heddle/ops.h"
#include "ops/matmul/parts.h"
#include "ops/matmul/tuned.h"

enum {
    HEDDLE_MATMUL_HOST_ALIGNMENT = 256, // bytes, for each buffer in the workspace
    HEDDLE_MATMUL_HOST_UNIT = 128,      // tiles have sides of whole tiles of the product kernel, if they are larger
    // Ratio of a tile's width to a panel's depth. Every panel reads and writes the tile once: with few, deep panels
    // that costs little beside their product. The two pairs of panels then take as much memory as the two tiles.
    HEDDLE_MATMUL_HOST_PANELS = 2,
    // The very first panels are this many times shallower, each twice as deep as the one before: the first product
    // starts after a short copy, and the copy of the next panel still fits under the product of this one.
    HEDDLE_MATMUL_HOST_START = 8,
    // Up to this k, copying the output takes longest (each of its floats takes k multiply-adds and 4 bytes of the
    // link). Then the output is cut into bands of whole rows, each copied out in one piece; b stays on the device, and
    // a comes in once. Bands have at most this many rows, so that the first one leaves soon.
    HEDDLE_MATMUL_HOST_SHORT_SUM = 2048,
    HEDDLE_MATMUL_HOST_BAND = 1024,
    HEDDLE_MATMUL_HOST_LEAST_BAND = 16, // rows; if memory has no room for them, tiles are square
    // The very last tile is copied out in this many parts, each during the product of the next.
    HEDDLE_MATMUL_HOST_END = 4,
    // From this size on a side is cut at least once, whatever the limit: a tile is copied out during the product of the
    // next.
    HEDDLE_MATMUL_HOST_CUT = 4096,
    HEDDLE_MATMUL_HOST_LEAST_KIB = 4, // of memory: enough for tiles of 12 by 12
};

// What is on the device: `sets` times a panel of a (m, k), one of b (k, n) and a tile of the output (m, n). These are
// the largest sizes; those at the ends are smaller.
typedef struct heddle_matmul_host_plan {
    int m, n, k;
    int tiles_m, tiles_n;
    size_t bytes_a, bytes_b, bytes_output; // of one buffer each
} heddle_matmul_host_plan;

static inline int heddle_matmul_host_cut(int size, int most, int unit)
{
    int pieces = (size + most - 1) / most;
    if (size >= HEDDLE_MATMUL_HOST_CUT && pieces < 2)
        pieces = 2;
    if (pieces <= 1)
        return size;
    int piece = (size + pieces - 1) / pieces; // pieces of nearly the same size
    return (piece + unit - 1) / unit * unit;
}

// Panels of nearly the same depth: a shallow one would read and write a whole tile for little.
static inline int heddle_matmul_host_depth(int k, int most, int unit)
{
    int step = unit > HEDDLE_MATMUL_HOST_PANELS ? unit / HEDDLE_MATMUL_HOST_PANELS : 1;
    int pieces = (k + most - 1) / most;
    if (pieces <= 1)
        return k;
    int depth = (k + pieces - 1) / pieces;
    return (depth + step - 1) / step * step;
}

static inline int heddle_matmul_host_pieces(int size, int piece)
{
    return piece > 0 ? (size + piece - 1) / piece : 0;
}

static inline size_t heddle_matmul_host_bytes(int rows, int columns)
{
    const size_t alignment = HEDDLE_MATMUL_HOST_ALIGNMENT;
    return ((size_t)rows * (size_t)columns * sizeof(float) + alignment - 1) / alignment * alignment;
}

// Bytes of the limit that are not lost to the buffers' alignment.
static inline double heddle_matmul_host_room(const heddle_matmul_host_shape *shape)
{
    const int buffers = 6; // two of each
    return shape->memory * 1024.0 - buffers * HEDDLE_MATMUL_HOST_ALIGNMENT;
}

// Rows of a band that fit beside b, which both sets of buffers hold whole; 0: use square tiles.
static inline int heddle_matmul_host_band(const heddle_matmul_host_shape *shape)
{
    if (shape->k > HEDDLE_MATMUL_HOST_SHORT_SUM || shape->n == 0)
        return 0;
    double whole_b = 2 * sizeof(float) * (double)shape->k * shape->n;
    double row = 2 * sizeof(float) * ((double)shape->k + shape->n);
    double rows = (heddle_matmul_host_room(shape) - whole_b) / row;
    if (rows < HEDDLE_MATMUL_HOST_LEAST_BAND)
        return 0;
    int most = rows < HEDDLE_MATMUL_HOST_BAND ? (int)rows : HEDDLE_MATMUL_HOST_BAND;
    return most >= HEDDLE_MATMUL_HOST_UNIT ? most - most % HEDDLE_MATMUL_HOST_UNIT : most;
}

static inline heddle_matmul_host_plan heddle_matmul_host_plan_of(const heddle_matmul_host_shape *shape)
{
    const double square = 2 + 4.0 / HEDDLE_MATMUL_HOST_PANELS; // floats, in squares of the side
    int side = (int)fmin(sqrt(heddle_matmul_host_room(shape) / (square * sizeof(float))), 1 << 20);
    int unit = side >= HEDDLE_MATMUL_HOST_UNIT ? HEDDLE_MATMUL_HOST_UNIT : 1;
    side -= side % unit;
    int depth = side / HEDDLE_MATMUL_HOST_PANELS, band = heddle_matmul_host_band(shape);
    heddle_matmul_host_plan plan;
    plan.m = band ? (band < shape->m ? band : shape->m) : heddle_matmul_host_cut(shape->m, side, unit);
    plan.n = band ? shape->n : heddle_matmul_host_cut(shape->n, side, unit);
    plan.k = band ? shape->k : heddle_matmul_host_depth(shape->k, depth, unit);
    plan.tiles_m = heddle_matmul_host_pieces(shape->m, plan.m);
    plan.tiles_n = heddle_matmul_host_pieces(shape->n, plan.n);
    plan.bytes_a = heddle_matmul_host_bytes(plan.m, plan.k);
    plan.bytes_b = heddle_matmul_host_bytes(plan.k, plan.n);
    plan.bytes_output = heddle_matmul_host_bytes(plan.m, plan.n);
    return plan;
}

// --- steps -----------------------------------------------------------------------------------------------------------

// One step: a panel of a and one of b for a tile, and the part of the matrices it covers.
typedef struct heddle_matmul_host_step {
    int tile;
    int row, rows, column, columns;
    int first, depth; // of k
    bool last;        // of its tile
} heddle_matmul_host_step;

static inline int heddle_matmul_host_part(int size, int begin, int piece)
{
    return size - begin < piece ? size - begin : piece;
}

static inline void heddle_matmul_host_cover(const heddle_matmul_host_shape *shape, const heddle_matmul_host_plan *plan,
                                            heddle_matmul_host_step *step, int first, int depth)
{
    step->row = step->tile / plan->tiles_n * plan->m;
    step->column = step->tile % plan->tiles_n * plan->n;
    step->rows = heddle_matmul_host_part(shape->m, step->row, plan->m);
    step->columns = heddle_matmul_host_part(shape->n, step->column, plan->n);
    step->first = first;
    step->depth = heddle_matmul_host_part(shape->k, first, depth);
    step->last = first + step->depth == shape->k;
}

// The first step of a tile. k = 0 has one too, which writes zeros.
static inline heddle_matmul_host_step heddle_matmul_host_begin(const heddle_matmul_host_shape *shape,
                                                               const heddle_matmul_host_plan *plan, int tile)
{
    heddle_matmul_host_step step;
    int shallow = (plan->k + HEDDLE_MATMUL_HOST_START - 1) / HEDDLE_MATMUL_HOST_START;
    step.tile = tile;
    heddle_matmul_host_cover(shape, plan, &step, 0, tile == 0 && plan->k < shape->k ? shallow : plan->k);
    return step;
}

// The next step, unless it was the last.
static inline heddle_matmul_host_step heddle_matmul_host_next(const heddle_matmul_host_shape *shape,
                                                              const heddle_matmul_host_plan *plan,
                                                              heddle_matmul_host_step step)
{
    int deeper = step.depth < plan->k - step.depth ? 2 * step.depth : plan->k;
    heddle_matmul_host_cover(shape, plan, &step, step.first + step.depth, deeper);
    return step;
}

// --- workspace -------------------------------------------------------------------------------------------------------

// The workspace of a product of this shape.
typedef size_t heddle_matmul_host_need(const heddle_matmul_shape *shape);

// Rows of a step that are multiplied at a time: all, except in the very last step.
static inline int heddle_matmul_host_rows_at_once(const heddle_matmul_host_plan *plan,
                                                  const heddle_matmul_host_step *step)
{
    bool ends = step->last && step->tile == plan->tiles_m * plan->tiles_n - 1;
    int part = (step->rows + HEDDLE_MATMUL_HOST_END - 1) / HEDDLE_MATMUL_HOST_END;
    return ends ? (part + HEDDLE_MATMUL_HOST_UNIT - 1) / HEDDLE_MATMUL_HOST_UNIT * HEDDLE_MATMUL_HOST_UNIT : step->rows;
}

static inline size_t heddle_matmul_host_rows_bytes(const heddle_matmul_host_step *step, int rows,
                                                   heddle_matmul_host_need *need)
{
    heddle_matmul_shape product = {rows, step->columns, step->depth, 0, 0, 1.0f, step->first > 0 ? 1.0f : 0.0f};
    return need(&product);
}

// The whole step at once, as rung 1 does it, and the parts into which the other rungs cut the very last step: fewer
// rows may need more, if their product is split along k.
static inline size_t heddle_matmul_host_step_bytes(const heddle_matmul_host_plan *plan,
                                                   const heddle_matmul_host_step *step, heddle_matmul_host_need *need)
{
    int rows = heddle_matmul_host_rows_at_once(plan, step);
    size_t most = heddle_matmul_host_rows_bytes(step, step->rows, need);
    for (int row = 0; row < step->rows; row += rows) {
        size_t bytes = heddle_matmul_host_rows_bytes(step, heddle_matmul_host_part(step->rows, row, rows), need);
        most = bytes > most ? bytes : most;
    }
    return most;
}

// The most that any step's product needs. Every tile is like one of these: the first, whose steps begin shallow; the
// last, which leaves in parts; whole ones between them, the next of the first row or, if a row has only its two ends,
// of the first column; and those at the ends of the first row and of the first column.
static inline size_t heddle_matmul_host_product_bytes(const heddle_matmul_host_shape *shape,
                                                      const heddle_matmul_host_plan *plan,
                                                      heddle_matmul_host_need *need)
{
    const int tiles[] = {
        0, 1, plan->tiles_n - 1, plan->tiles_n, plan->tiles_n * (plan->tiles_m - 1), plan->tiles_n * plan->tiles_m - 1};
    size_t most = 0;
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        if (tiles[i] < 0 || tiles[i] >= plan->tiles_m * plan->tiles_n)
            continue;
        heddle_matmul_host_step step = heddle_matmul_host_begin(shape, plan, tiles[i]);
        for (;; step = heddle_matmul_host_next(shape, plan, step)) {
            size_t bytes = heddle_matmul_host_step_bytes(plan, &step, need);
            most = bytes > most ? bytes : most;
            if (step.last)
                break;
        }
    }
    return most;
}

static inline size_t heddle_matmul_host_buffers(const heddle_matmul_host_plan *plan, int sets)
{
    return (plan->bytes_a + plan->bytes_b + plan->bytes_output) * (size_t)sets;
}

// By matmul's rung 10.
static inline size_t heddle_matmul_host_need_tuned(const heddle_matmul_shape *shape)
{
    heddle_product product = heddle_product_forward(shape);
    return heddle_product_workspace(&product);
}

// By matmul's rungs of fp32 class, whichever the GPU can run.
static inline size_t heddle_matmul_host_need_parts(const heddle_matmul_shape *shape)
{
    size_t by_mma = heddle_tf32x3_workspace(shape), by_wgmma = heddle_bf16x6_workspace(shape);
    return by_mma > by_wgmma ? by_mma : by_wgmma;
}
