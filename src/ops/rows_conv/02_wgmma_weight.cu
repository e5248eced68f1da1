// rows_conv_backward_weight, rung 2: wgmma over rows (gradient_wgmma.h).
//
// Limited by: the tensor cores if there are many rows; with few, by storing each part's sums to memory.

#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/rows_conv/narrow_gradient_wgmma.h"
#include "ops/rows_conv/rows_conv.h"

// Blocks per cluster: with four, gradients of filters take a fifth longer (measured on an H200).
enum { PAIR = 2 };

template <typename Element, int Lines, int Columns> static heddle_status launch_kind(const heddle_call *call)
{
    const heddle_rows_conv_shape *shape = (const heddle_rows_conv_shape *)call->shape;
    rows_gradient job = {};
    job.rows = heddle_rows_conv_rows(shape);
    job.c = shape->c;
    job.k = shape->k;
    job.taps = shape->r * shape->s;
    job.first = heddle_rows_conv_shift(shape, 0);
    const int last = heddle_rows_conv_shift(shape, job.taps - 1);
    job.halo = (int)heddle_ceil_div(ROWS_GRADIENT_ROWS + last - job.first, 8) * 8;
    for (int line = 0; line < Lines; line++)
        job.shift[line] = heddle_rows_conv_shift(shape, Lines == 1 ? 0 : line * shape->s);
    if (!rows_gradient_place<Lines, Columns>(&job))
        return heddle_rows_conv_weight_naive(call);
    job.parts = shape->parts;
    job.part_stages = heddle_rows_conv_part_rows(shape) / ROWS_GRADIENT_ROWS;
    const int blocks = job.k_tiles * job.c_tiles * job.parts;
    job.cluster = job.part_stages >= PAIR && blocks * PAIR <= heddle_cuda_multiprocessors() ? PAIR : 1;
    const rows_gradient_parts end = {(float *)call->output[0], (float *)call->output[1]};
    return rows_gradient_launch<Element, Lines, Columns>(call, job, end);
}

// Filters of at most 32 channels; HEDDLE_UNSUPPORTED: lines too wide for its memory.
template <typename Element> static heddle_status launch_narrow(const heddle_call *call)
{
    const heddle_rows_conv_shape *shape = (const heddle_rows_conv_shape *)call->shape;
    narrow_gradient job = {};
    job.rows = heddle_rows_conv_rows(shape);
    job.c = shape->c;
    job.k = shape->k;
    for (int tap = 0; tap < NARROW_TAPS; tap++)
        job.shift[tap] = heddle_rows_conv_shift(shape, tap);
    job.first = job.shift[0];
    job.halo = (int)heddle_ceil_div(ROWS_GRADIENT_ROWS + job.shift[NARROW_TAPS - 1] - job.first, 8) * 8;
    const int stage = (ROWS_GRADIENT_ROWS + job.halo) * NARROW_ROW_BYTES, most_box = 256;
    const int kept = ROWS_WARPGROUPS * NARROW_SUMS * (int)sizeof(float),
              besides = HOPPER_ROWS_BYTES + NARROW_ONES_BYTES;
    if (job.halo > most_box)
        return HEDDLE_UNSUPPORTED;
    job.stages = min((int)ROWS_GRADIENT_STAGES, (ROWS_GRADIENT_BYTES - besides) / stage);
    job.parts = shape->parts;
    job.part_stages = heddle_rows_conv_part_rows(shape) / ROWS_GRADIENT_ROWS;
    job.cluster = job.part_stages >= PAIR && job.parts * PAIR <= heddle_cuda_multiprocessors() ? PAIR : 1;
    CUtensorMap output, input;
    heddle_status status = narrow_map(&output, call->input[0], job.rows, job.k, ROWS_GRADIENT_ROWS);
    if (status == HEDDLE_OK)
        status = narrow_map(&input, call->input[1], job.rows, job.c, job.halo);
    if (status != HEDDLE_OK)
        return status;
    const int bytes = besides + max(kept, job.stages * stage);
    auto kernel = rows_gradient_narrow<Element>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    heddle_cuda_launch_clusters(kernel, dim3(job.parts * job.cluster), dim3(ROWS_THREADS), job.cluster, bytes,
                                heddle_cuda_stream_of(call), job, output, input, (float *)call->output[0],
                                (float *)call->output[1]);
    return heddle_cuda_launched("02_wgmma");
}

template <typename Element> static heddle_status launch_filter(const heddle_call *call)
{
    const heddle_rows_conv_shape *shape = (const heddle_rows_conv_shape *)call->shape;
    if constexpr (!rows_factor<Element>::PAIRS)
        if (shape->c <= NARROW && shape->k <= NARROW) {
            const heddle_status status = launch_narrow<Element>(call);
            if (status != HEDDLE_UNSUPPORTED)
                return status;
        }
    return launch_kind<Element, 3, 192>(call);
}

template <typename Element> static heddle_status launch_with(const heddle_call *call)
{
    const heddle_rows_conv_shape *shape = (const heddle_rows_conv_shape *)call->shape;
    const bool aligned = heddle_aligned16(call->input[0]) && heddle_aligned16(call->input[1]) &&
                         heddle_aligned16(call->output[0]) && heddle_aligned16(call->output[1]);
    if (aligned && shape->r == 3 && shape->s == 3)
        return launch_filter<Element>(call);
    if (!aligned || shape->r * shape->s != 1)
        return heddle_rows_conv_weight_naive(call);
    // Narrow tiles if wide ones would leave SMs without one, unless pairs of blocks have the wide ones.
    const long long tiles = (long long)heddle_ceil_div(shape->k, 128) * shape->parts;
    const int processors = heddle_cuda_multiprocessors(), few = 4; // stages that are too few to share
    const int stages = heddle_rows_conv_part_rows(shape) / ROWS_GRADIENT_ROWS;
    const long long pairs = tiles * heddle_ceil_div(shape->c, 128);
    if (shape->c > 64 && stages > few && PAIR * pairs <= processors && 2 * PAIR * pairs > processors)
        return launch_kind<Element, 1, 128>(call);
    if (shape->c > 128 && tiles * heddle_ceil_div(shape->c, 256) * 2 > processors)
        return launch_kind<Element, 1, 256>(call);
    if (shape->c > 64 && tiles * heddle_ceil_div(shape->c, 128) * 2 > processors)
        return launch_kind<Element, 1, 128>(call);
    return launch_kind<Element, 1, 64>(call);
}

static heddle_status launch(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(heddle_rows_conv_shape, launch_with, call);
}

HEDDLE_CUDA_RUNG("rows_conv_backward_weight", "02_wgmma", launch)
