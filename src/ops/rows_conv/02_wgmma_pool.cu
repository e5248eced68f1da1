// rows_conv_pool, rung 2: wgmma over tiles of whole images or lines of windows, pooled in shared memory.
//
// Rung 1 multiplies every window from memory. Here the kernel of rows_conv_forward multiplies, and its tiles begin
// where images or lines of windows do, so that each has every window whole. The results pass through shared memory, a
// warp's channels at a time, and only what is left of a window is stored (pool_wgmma.h): a fourth of the results, which
// rows_norm_forward would else have to read again.
//
// Limited by: the tensor cores, and the rows of a tile that hold no result.

#include "ops/rows_conv/launch_wgmma.h"

typedef heddle_rows_conv_shape conv_shape;

static rows_pooling pooling_of(const heddle_call *call, const heddle_rows_tiling &tiling)
{
    const conv_shape *shape = (const conv_shape *)call->shape;
    rows_pooling pool = {};
    pool.output = call->output[0];
    pool.window = shape->window;
    pool.average = shape->average;
    pool.images = tiling.images;
    pool.lines = tiling.lines;
    pool.h = heddle_rows_conv_pool_h(shape);
    pool.w = heddle_rows_conv_pool_w(shape);
    pool.pitch = pool.w + shape->next_gap;
    pool.image_rows = heddle_rows_conv_pool_rows(shape);
    pool.rows = shape->n * pool.image_rows;
    pool.flat = shape->flat;
    pool.by_image = heddle_divisor_of(pool.image_rows);
    pool.by_line = heddle_divisor_of(pool.pitch);
    return pool;
}

// A tile of so many rows: the work of a launch.
struct pool_job {
    rows_product product;
    heddle_rows_tiling tiling;
    int groups;
    long long time; // in rows, 0: such tiles do not hold the windows, or memory does not hold the tiles
};

template <typename Element, int Rows, int Steps>
static pool_job job_of(const conv_shape *shape, const rows_operands &on)
{
    pool_job job = {};
    if (!heddle_rows_conv_pool_tile(shape, Rows, &job.tiling))
        return job;
    job.product = rows_product_of(shape, on, Rows, 64);
    job.product.tiles = job.tiling.tiles;
    job.product.parts = job.tiling.parts;
    job.product.span = job.tiling.images * job.product.image_rows;
    job.product.part_rows = job.tiling.lines * shape->window * job.product.pitch;
    if (!rows_place_stages(&job.product, ROWS_WARPGROUPS, ROWS_BOX_BYTES, rows_loads<Element, Steps>::PLANES,
                           rows_out_bytes<Rows, ROWS_END_POOL>()) ||
        (rows_loads<Element, Steps>::JOINED && !job.product.resident))
        return job;
    job.groups = rows_groups(job.tiling.tiles, 0, job.product.channel_tiles);
    job.time = heddle_ceil_div(heddle_ceil_div(job.tiling.tiles, ROWS_WARPGROUPS), job.groups) *
               (long long)(Rows + ROWS_TILE_OVERHEAD);
    return job;
}

template <typename Element, int Rows, int Steps>
static heddle_status launch_tile(const heddle_call *call, const rows_operands &on, rows_epilogue end,
                                 const pool_job &job)
{
    end.pool = pooling_of(call, job.tiling);
    return rows_launch_kernel<Element, Rows, 0, Steps, 0, ROWS_END_POOL>(call, on, job.product, end, job.groups);
}

// Whether the first takes less time.
static bool is_better(const pool_job &job, const pool_job &other)
{
    return job.time > 0 && (other.time == 0 || job.time <= other.time);
}

// The tile that takes the least time; HEDDLE_UNSUPPORTED: memory holds none.
template <typename Element, int Steps>
static heddle_status launch_steps(const heddle_call *call, const rows_operands &on, const rows_epilogue &end)
{
    const conv_shape *shape = (const conv_shape *)call->shape;
    const pool_job small = job_of<Element, 64, Steps>(shape, on), middle = job_of<Element, 128, Steps>(shape, on);
    if constexpr (!rows_loads<Element, Steps>::PAIRS) { // those have twice as many bytes
        const pool_job large = job_of<Element, 224, Steps>(shape, on);
        const bool computes = rows_precision<Element, 224, ROWS_END_POOL>() != ROWS_RELU_ONLY;
        if ((computes || end.function <= HEDDLE_ROWS_RELU) && is_better(large, middle) && is_better(large, small))
            return launch_tile<Element, 224, Steps>(call, on, end, large);
    }
    if (is_better(middle, small))
        return launch_tile<Element, 128, Steps>(call, on, end, middle);
    return small.time > 0 ? launch_tile<Element, 64, Steps>(call, on, end, small) : HEDDLE_UNSUPPORTED;
}

template <typename Element> static heddle_status pool_with(const heddle_call *call)
{
    const conv_shape *shape = (const conv_shape *)call->shape;
    if (!rows_aligned(call))
        return heddle_rows_conv_pool_naive(call);
    rows_operands on = {};
    on.input = call->input[0];
    on.weight = call->input[1];
    on.output = call->output[0];
    on.c = rows_factor<Element>::BYTES ? shape->c / 2 : shape->c;
    on.k = shape->k;
    on.turn = 1;
    on.out_h = heddle_rows_conv_out_h(shape);
    on.out_w = heddle_rows_conv_out_w(shape);
    rows_epilogue end = {};
    end.bias = (const float *)call->input[2];
    end.scale = (const float *)call->input[3];
    end.function = shape->function;
    heddle_status status = HEDDLE_UNSUPPORTED;
    if (rows_factor<Element>::PAIRS ? on.c == ROWS_CHUNK / 2 : on.c <= ROWS_CHUNK / 2) {
        rows_operands loaded = on;
        loaded.c *= rows_factor<Element>::PLANES;
        status = launch_steps<Element, 2>(call, loaded, end);
    }
    if (status == HEDDLE_UNSUPPORTED)
        status = launch_steps<Element, 4>(call, on, end);
    return status == HEDDLE_UNSUPPORTED ? heddle_rows_conv_pool_naive(call) : status;
}

static heddle_status launch(const heddle_call *call)
{
    return ROWS_WITH_ANY_ELEMENT(heddle_rows_conv_shape, pool_with, call);
}

HEDDLE_CUDA_RUNG("rows_conv_pool", "02_wgmma", launch)
