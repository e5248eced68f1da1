// How a product of rows is cut into tiles and launched: the host side of store_wgmma.h.
#pragma once

#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/rows_conv/kernel_wgmma.h"
#include "ops/rows_conv/linear_wgmma.h"
#include "ops/rows_conv/narrow_wgmma.h"
#include "ops/rows_conv/rows_conv.h"

enum {
    ROWS_SHARED_BYTES = 227 << 10, // per block, at most
    ROWS_STATIC_BYTES = 3 << 10,   // of these, what the kernel has besides
    ROWS_OUT_BYTES = ROWS_WARPGROUPS * ROWS_OUT_BOXES * ROWS_BOX_BYTES,
};

// What a tile's results pass through on their way to memory.
template <int Rows, int End> static constexpr int rows_out_bytes()
{
    return End == ROWS_END_POOL ? ROWS_WARPGROUPS * HOPPER_WARPGROUP / 32 * rows_pool_bytes(Rows) : ROWS_OUT_BYTES;
}

// A product as the kernel sees it: input (rows, c) by weight (k, taps, c), or transposed (c, taps, k); `turn` is -1 for
// opposite shifts. c counts two bytes as one.
struct rows_operands {
    const void *input, *weight;
    void *output;
    int c, k, turn;
    int out_h, out_w; // lines and columns that hold results
};

// Everything but the stages.
static inline rows_product rows_product_of(const heddle_rows_conv_shape *shape, const rows_operands &on, int tile_rows,
                                           int channels)
{
    rows_product job = {};
    job.rows = heddle_rows_conv_rows(shape);
    job.c = on.c;
    job.k = on.k;
    job.chunks = (int)heddle_ceil_div(on.c, ROWS_CHUNK);
    job.taps = shape->r * shape->s;
    job.pitch = shape->w + shape->gap;
    job.image_rows = (shape->h + shape->gap) * job.pitch;
    job.out_h = on.out_h;
    job.out_w = on.out_w;
    int last = 0;
    for (int tap = 0; tap < job.taps; tap++) {
        job.shift[tap] = on.turn * heddle_rows_conv_shift(shape, tap);
        job.first = tap == 0 || job.shift[tap] < job.first ? job.shift[tap] : job.first;
        last = tap == 0 || job.shift[tap] > last ? job.shift[tap] : last;
    }
    const int halo = tile_rows + last - job.first, most_box = 256;
    job.boxes = (int)heddle_ceil_div(halo, most_box);
    job.box_rows = (int)heddle_ceil_div(heddle_ceil_div(halo, job.boxes), 8) * 8;
    job.tiles = (int)heddle_ceil_div(job.rows, tile_rows);
    job.channel_tiles = (int)heddle_ceil_div(on.k, channels);
    return job;
}

// Divides memory among the stages, but for `out_bytes`; false: it does not hold enough of them.
static inline bool rows_place_stages(rows_product *job, int rings, int weight_bytes, int planes, int out_bytes)
{
    const int room = ROWS_SHARED_BYTES - ROWS_STATIC_BYTES - HOPPER_ROWS_BYTES - out_bytes;
    const int input_bytes = rings * job->boxes * job->box_rows * HOPPER_ROW_BYTES;
    const int weights = planes * job->chunks * job->taps;
    const int least = planes * job->chunks > 1 ? 2 : 1; // a stage is released when the next one has been read
    job->resident = weights <= ROWS_MOST_WEIGHTS && weights * weight_bytes + least * input_bytes <= room;
    if (job->resident)
        job->weight_stages = weights;
    else if (job->taps == 1) // as many of one as of the other
        job->weight_stages = min((int)ROWS_MOST_WEIGHTS, max(2, room / (input_bytes + weight_bytes)));
    else
        job->weight_stages = min((int)ROWS_MOST_WEIGHTS, (room - least * input_bytes) / weight_bytes);
    job->input_stages = min((int)ROWS_MOST_INPUTS, (room - job->weight_stages * weight_bytes) / input_bytes);
    return job->weight_stages >= 2 + (job->resident ? -1 : 0) && job->input_stages >= least;
}

template <typename Element, int Turned>
static heddle_status rows_map_weight(CUtensorMap *map, const rows_operands &on, int taps, int box_rows)
{
    if (rows_factor<Element>::BYTES)
        return rows_map_woven(map, on.weight, on.k, taps, on.c, box_rows);
    return Turned ? rows_map<Element>(map, on.weight, on.c, taps, on.k, ROWS_CHUNK)
                  : rows_map<Element>(map, on.weight, on.k, taps, on.c, box_rows);
}

// An output of bytes, two as one element, in boxes of 64 rows by 64 bytes.
static inline heddle_status rows_map_bytes(CUtensorMap *map, const void *output, int rows, int channels)
{
    const cuuint64_t size[2] = {(cuuint64_t)channels / 2, (cuuint64_t)rows}, pitch[1] = {(cuuint64_t)channels};
    const cuuint32_t box[2] = {ROWS_BYTES_ROW / 2, 64};
    return tma_map_boxes(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, output, 2, size, pitch, box, CU_TENSOR_MAP_SWIZZLE_64B);
}

template <typename Element, int Rows, int Share, int Steps, int Turned, int End>
static heddle_status rows_launch_kernel(const heddle_call *call, const rows_operands &on, const rows_product &job,
                                        rows_epilogue end, int groups)
{
    const int weight_rows = Share ? 128 : 64, rings = Share ? 1 : ROWS_WARPGROUPS;
    CUtensorMap input, weight, output;
    typedef typename rows_loads<Element, Steps>::type Loaded;
    heddle_status status = rows_map<Loaded>(&input, on.input, job.rows, 1, on.c, job.box_rows);
    if (status == HEDDLE_OK)
        status = rows_map_weight<Loaded, Turned>(&weight, on, job.taps, weight_rows);
    if (status == HEDDLE_OK && (End == ROWS_END_FLOATS || End == ROWS_END_POOL))
        output = input; // never read
    else if (status == HEDDLE_OK && rows_factor<Element>::BYTES)
        status = rows_map_bytes(&output, on.output, job.rows, on.k);
    else if (status == HEDDLE_OK)
        status = rows_map<Element>(&output, on.output, job.rows, 1, on.k, 64);
    if (status != HEDDLE_OK)
        return status;
    const int bytes = HOPPER_ROWS_BYTES + job.weight_stages * weight_rows * HOPPER_ROW_BYTES +
                      job.input_stages * rings * job.boxes * job.box_rows * HOPPER_ROW_BYTES +
                      rows_out_bytes<Rows, End>();
    auto kernel = rows_product_wgmma<Element, Rows, Share, Steps, Turned, End>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    heddle_cuda_launch_dependent(kernel, dim3(groups * job.channel_tiles), dim3(ROWS_THREADS), bytes,
                                 heddle_cuda_stream_of(call), job, input, weight, output, end);
    return heddle_cuda_launched("02_wgmma");
}

// Blocks that share the same channels, and the rounds they need.
static inline int rows_groups(int tiles, int share, int channel_tiles)
{
    const int steps = share ? tiles : (int)heddle_ceil_div(tiles, ROWS_WARPGROUPS);
    const int most = max(1, min(heddle_cuda_multiprocessors(), (int)HEDDLE_ROWS_MOST_GROUPS) / channel_tiles);
    return min(steps, most);
}

// The cost of a tile: its rows, plus this many rows for its beginning and end (measured on an H200).
enum { ROWS_TILE_OVERHEAD = 40 };

// The rows per tile for which all rounds take the least time.
static inline int rows_choose_tile(int rows, int channel_tiles)
{
    int best = 0;
    long long least = 0;
    for (int tile = 256; tile >= 64; tile /= 2) {
        const int tiles = (int)heddle_ceil_div(rows, tile), groups = rows_groups(tiles, 0, channel_tiles);
        const long long rounds = heddle_ceil_div(heddle_ceil_div(tiles, ROWS_WARPGROUPS), groups);
        const long long time = rounds * (tile + ROWS_TILE_OVERHEAD);
        if (best == 0 || time < least) {
            least = time;
            best = tile;
        }
    }
    return best;
}

template <typename Element, int Rows, int Steps, int Turned, int End>
static heddle_status rows_launch_tile(const heddle_call *call, const rows_operands &on, const rows_epilogue &end)
{
    const heddle_rows_conv_shape *shape = (const heddle_rows_conv_shape *)call->shape;
    rows_product job = rows_product_of(shape, on, Rows, 64);
    const int planes = rows_factor<Element>::PLANES;
    const bool placed = rows_place_stages(&job, ROWS_WARPGROUPS, ROWS_BOX_BYTES, planes, ROWS_OUT_BYTES);
    // Weights that are not resident are read once for both halves of 128 channels.
    const int least_shared = rows_sums<Element, Turned>::IN_PARTS ? 128 : 128 * rows_factor<Element>::PLANES;
    if constexpr (Rows >= least_shared && Steps == 4 && End != ROWS_END_FLOATS && End != ROWS_END_SLOPE)
        if ((!placed || !job.resident) && on.k > 64) {
            rows_product shared = rows_product_of(shape, on, Rows, 128);
            if (rows_place_stages(&shared, 1, 2 * ROWS_BOX_BYTES, planes, ROWS_OUT_BYTES))
                return rows_launch_kernel<Element, Rows, 1, Steps, Turned, End>(
                    call, on, shared, end, rows_groups(shared.tiles, 1, shared.channel_tiles));
        }
    if (!placed)
        return HEDDLE_UNSUPPORTED;
    return rows_launch_kernel<Element, Rows, 0, Steps, Turned, End>(call, on, job, end,
                                                                    rows_groups(job.tiles, 0, job.channel_tiles));
}

// The chosen tile, or a smaller one if a filter's reach needs too much memory.
template <typename Element, int Steps, int Turned, int End>
static heddle_status rows_launch_steps(const heddle_call *call, const rows_operands &on, const rows_epilogue &end)
{
    const heddle_rows_conv_shape *shape = (const heddle_rows_conv_shape *)call->shape;
    const int tile = rows_choose_tile(heddle_rows_conv_rows(shape), (int)heddle_ceil_div(on.k, 64));
    heddle_status status = HEDDLE_UNSUPPORTED;
    // The others have registers for smaller tiles.
    if constexpr ((End == ROWS_END_STORE || End == ROWS_END_SUMS) && !rows_sums<Element, Turned>::IN_PARTS)
        if (tile >= 256 && (!rows_factor<Element>::PAIRS || end.function <= HEDDLE_ROWS_RELU))
            status = rows_launch_tile<Element, 256, Steps, Turned, End>(call, on, end);
    if (status == HEDDLE_UNSUPPORTED && tile >= 128)
        status = rows_launch_tile<Element, 128, Steps, Turned, End>(call, on, end);
    return status == HEDDLE_UNSUPPORTED ? rows_launch_tile<Element, 64, Steps, Turned, End>(call, on, end) : status;
}

template <typename Element, int Turned, int End>
static heddle_status linear_launch(const heddle_call *call, const rows_operands &on, const rows_epilogue &end,
                                   rows_linear job)
{
    CUtensorMap input, weight;
    heddle_status status = rows_map<Element>(&input, on.input, job.rows, 1, on.c, LINEAR_ROWS);
    if (status == HEDDLE_OK)
        status = rows_map_weight<Element, Turned>(&weight, on, 1, 64);
    if (status != HEDDLE_OK)
        return status;
    auto kernel = rows_linear_wgmma<Element, Turned, End>;
    const int most_bytes = linear_bytes(LINEAR_STAGES);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_bytes);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    const unsigned tiles = job.channel_tiles * heddle_ceil_div(job.rows, LINEAR_ROWS);
    // As many blocks per tile as run at once, one per SM, each with a chunk for both of its warpgroups.
    job.cluster = 1;
    for (int more = 2; more <= LINEAR_MOST_CLUSTER && more * ROWS_WARPGROUPS <= job.chunks; more *= 2)
        if (heddle_cuda_most_clusters(kernel, dim3(ROWS_THREADS), more, most_bytes) >= (int)tiles)
            job.cluster = more;
    job.stages = min((int)LINEAR_STAGES, (int)heddle_ceil_div(job.chunks, job.cluster * ROWS_WARPGROUPS));
    heddle_cuda_launch_clusters(kernel, dim3(tiles * job.cluster), dim3(ROWS_THREADS), job.cluster,
                                linear_bytes(job.stages), heddle_cuda_stream_of(call), job, input, weight, end,
                                (Element *)on.output);
    return heddle_cuda_launched("02_wgmma");
}

template <typename Element, int Rows, int Turned, int End>
static heddle_status narrow_launch(const heddle_call *call, const rows_operands &on, const rows_epilogue &end)
{
    rows_product job = rows_product_of((const heddle_rows_conv_shape *)call->shape, on, Rows, NARROW);
    const int weight_bytes = job.taps * NARROW_TAP_BYTES, place_bytes = ROWS_WARPGROUPS * Rows * NARROW_ROW_BYTES;
    const int stage_bytes = ROWS_WARPGROUPS * job.boxes * job.box_rows * NARROW_ROW_BYTES;
    const int most = ROWS_SHARED_BYTES - ROWS_STATIC_BYTES - HOPPER_ROWS_BYTES - weight_bytes - place_bytes;
    job.input_stages = min((int)ROWS_MOST_INPUTS, most / stage_bytes);
    if (job.input_stages < 1)
        return HEDDLE_UNSUPPORTED;
    CUtensorMap input, weight, output;
    heddle_status status = narrow_map(&input, on.input, job.rows, on.c, job.box_rows);
    if (status == HEDDLE_OK)
        status = Turned ? narrow_map(&weight, on.weight, on.c, job.taps * on.k, NARROW)
                        : narrow_map(&weight, on.weight, on.k, job.taps * on.c, NARROW);
    if (status == HEDDLE_OK)
        status = narrow_map(&output, on.output, job.rows, on.k, Rows);
    if (status != HEDDLE_OK)
        return status;
    const int bytes = HOPPER_ROWS_BYTES + weight_bytes + place_bytes + job.input_stages * stage_bytes;
    auto kernel = rows_narrow_wgmma<Element, Rows, Turned, End>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    heddle_cuda_launch_dependent(kernel, dim3(rows_groups(job.tiles, 0, 1)), dim3(ROWS_THREADS), bytes,
                                 heddle_cuda_stream_of(call), job, input, weight, output, end);
    return heddle_cuda_launched("02_wgmma");
}

template <typename Element, int Turned, int End>
static heddle_status rows_launch(const heddle_call *call, const rows_operands &on, const rows_epilogue &end)
{
    if constexpr (End != ROWS_END_SUMS) {
        const heddle_rows_conv_shape *shape = (const heddle_rows_conv_shape *)call->shape;
        rows_linear job = {};
        job.rows = heddle_rows_conv_rows(shape);
        job.c = on.c;
        job.k = on.k;
        job.pass_chunks = (int)heddle_ceil_div(on.c, ROWS_CHUNK);
        job.chunks = (rows_factor<Element>::PAIRS ? (int)ROWS_PASSES : 1) * job.pass_chunks;
        job.channel_tiles = (int)heddle_ceil_div(on.k, 64);
        const int tiles = job.channel_tiles * (int)heddle_ceil_div(job.rows, LINEAR_ROWS);
        if (shape->r * shape->s == 1 && !end.zero_gaps && 2 * tiles <= heddle_cuda_multiprocessors())
            return linear_launch<Element, Turned, End>(call, on, end, job);
    }
    if constexpr ((End == ROWS_END_STORE || End == ROWS_END_SUMS) && !rows_factor<Element>::PAIRS &&
                  !rows_factor<Element>::BYTES)
        if (on.c <= NARROW && on.k <= NARROW) {
            const bool small =
                rows_choose_tile(heddle_rows_conv_rows((const heddle_rows_conv_shape *)call->shape), 1) < 256;
            const heddle_status status = small ? narrow_launch<Element, 128, Turned, End>(call, on, end)
                                               : narrow_launch<Element, 256, Turned, End>(call, on, end);
            if (status != HEDDLE_UNSUPPORTED)
                return status;
        }
    if constexpr ((End == ROWS_END_STORE || End == ROWS_END_SUMS) && !rows_factor<Element>::PAIRS)
        if (on.c <= ROWS_CHUNK / 2)
            return rows_launch_steps<Element, 2, Turned, End>(call, on, end);
    return rows_launch_steps<Element, 4, Turned, End>(call, on, end);
}

// What TMA accepts.
static inline bool rows_aligned(const heddle_call *call)
{
    return heddle_aligned16(call->input[0]) && heddle_aligned16(call->input[1]) && heddle_aligned16(call->output[0]);
}
