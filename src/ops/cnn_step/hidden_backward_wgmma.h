// hidden_backward.h for Hopper if operands are floats: both products by wgmma, with operands loaded by TMA; no thread
// copies.
//
// It reads and writes the same as hidden_backward.h, split in the same way: a block has one pooled pixel and a part of
// the batch, 64 samples at a time. grad_hidden, pooled2 and the weight are halves already, scaled into half's range by
// powers of two, one or two each (arguments.in_halves). Roles:
//
//   data    a warpgroup: grad_pooled2 (64 samples, 64) = grad_hidden (64 samples, 128) * weight (128, 64); relu's mask,
//           batchnorm 2's sums, and the store
//   weight  a warpgroup: gradient of weight (128, 64) += grad_hidden (64 samples, 128) transposed * pooled2 (64
//           samples, 64), in registers until the end
//   copy    one thread: tiles in a ring, each with a barrier that counts its bytes. Of what the first ones need, the
//           previous kernel computes only grad_hidden; weight and pooled2 are in flight before the wait for it.
//
// A tile is boxes of 64 samples by 128 bytes as hopper.h describes them; grad_hidden is read from them in both orders:
// directly, and transposed.
//
// Limited by: latency if a block has few tiles; else by L2 bandwidth, because every pixel reads all of grad_hidden,
// twice the bytes of its own part of pooled2.
#pragma once

#include "ops/cnn_step/hidden.h"
#include "ops/cnn_step/hidden_backward.h"
#include "ops/cnn_step/hidden_wgmma_products.h"
#include "ops/cnn_step/prepare.h"

template <typename Arithmetic> struct cnn_hidden_hopper {
    typedef cnn_hidden_halves<Arithmetic> halves;
    typedef typename halves::element element;
    enum : int {
        PARTS = halves::PARTS,
        ROWS = CNN_HIDDEN_TILE, // samples of a tile
        BOX = ROWS * HOPPER_ROW_BYTES,
        BOX_COLUMNS = HOPPER_ROW_BYTES / sizeof(element),
        HIDDEN_PART = CNN_HIDDEN / BOX_COLUMNS * BOX,
        POOLED_AT = PARTS * HIDDEN_PART, // in a tile
        TILE = POOLED_AT + PARTS * BOX,
        TILES = 3, // so that two blocks of one part share an SM
        WEIGHT_PART = CNN_HIDDEN * HOPPER_ROW_BYTES,
        WEIGHT_AT = TILES * TILE,
        BYTES = WEIGHT_AT + PARTS * WEIGHT_PART,
        CONSUMERS = 2 * HOPPER_WARPGROUP, // data, then weight
        THREADS = CONSUMERS + 32,
        RESIDENT = PARTS == 1 ? 2 : 1,
    };
    static_assert(halves::SCALED, "16 bits have hidden_backward_winners.h");
    static_assert(+BOX_COLUMNS == +CNN_CHANNELS2, "a pixel is one box");
    static_assert(RESIDENT * (BYTES + 5 * 1024) <= 228 * 1024, "more than an SM has");
};

// Of each part: grad_hidden (n, 128), pooled2 (n, 49 * 64) and weight (128, 49 * 64).
struct cnn_hidden_hopper_maps {
    CUtensorMap hidden[2], pooled[2], weight[2];
};

// Tiles of a block: [first, end) of the batch's, of pixel `pixel`.
struct cnn_hidden_hopper_work {
    int pixel, split, first, end;
    char *memory;
};

// Which of a ring's barriers; each phase of `full` is one tile, and so is each of `empty`.
template <typename Arithmetic> struct cnn_hidden_hopper_barriers {
    uint64_t weight, full[cnn_hidden_hopper<Arithmetic>::TILES], empty[cnn_hidden_hopper<Arithmetic>::TILES];
};

// --- copy role -------------------------------------------------------------------------------------------------------

template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_hopper_copy_pooled(const cnn_hidden_hopper_work &work, const cnn_hidden_hopper_maps &maps,
                                              cnn_hidden_hopper_barriers<Arithmetic> *barriers, int which)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    uint64_t *full = barriers->full + which % plan::TILES;
    char *tile = work.memory + which % plan::TILES * plan::TILE;
    mbarrier_arrive_expect(full, plan::TILE);
#pragma unroll
    for (int part = 0; part < plan::PARTS; part++)
        tma_load(tile + plan::POOLED_AT + part * plan::BOX, &maps.pooled[part], work.pixel * CNN_CHANNELS2,
                 (work.first + which) * plan::ROWS, full);
}

template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_hopper_copy_hidden(const cnn_hidden_hopper_work &work, const cnn_hidden_hopper_maps &maps,
                                              cnn_hidden_hopper_barriers<Arithmetic> *barriers, int which)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    uint64_t *full = barriers->full + which % plan::TILES;
    char *tile = work.memory + which % plan::TILES * plan::TILE;
#pragma unroll
    for (int part = 0; part < plan::PARTS; part++)
#pragma unroll
        for (int column = 0; column < CNN_HIDDEN; column += plan::BOX_COLUMNS)
            tma_load(tile + part * plan::HIDDEN_PART + column / plan::BOX_COLUMNS * plan::BOX, &maps.hidden[part],
                     column, (work.first + which) * plan::ROWS, full);
}

// Before the wait: barriers, the weight, and pooled2 of the first tiles.
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_hopper_copy_first(const cnn_hidden_hopper_work &work, const cnn_hidden_hopper_maps &maps,
                                             cnn_hidden_hopper_barriers<Arithmetic> *barriers)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    mbarrier_init(&barriers->weight, 1);
    for (int i = 0; i < plan::TILES; i++) {
        mbarrier_init(barriers->full + i, 1);
        mbarrier_init(barriers->empty + i, plan::CONSUMERS / 32);
    }
    mbarrier_init_fence();
    for (int which = 0; which < plan::TILES && work.first + which < work.end; which++)
        cnn_hidden_hopper_copy_pooled<Arithmetic>(work, maps, barriers, which);
    mbarrier_arrive_expect(&barriers->weight, plan::PARTS * plan::WEIGHT_PART);
#pragma unroll
    for (int part = 0; part < plan::PARTS; part++)
        tma_load(work.memory + plan::WEIGHT_AT + part * plan::WEIGHT_PART, &maps.weight[part],
                 work.pixel * CNN_CHANNELS2, 0, &barriers->weight);
}

template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_hopper_copy_role(const cnn_hidden_hopper_work &work, const cnn_hidden_hopper_maps &maps,
                                            cnn_hidden_hopper_barriers<Arithmetic> *barriers)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
#pragma unroll 1
    for (int which = 0; work.first + which < work.end; which++) {
        if (which >= plan::TILES) {
            mbarrier_wait(barriers->empty + which % plan::TILES, (which / plan::TILES - 1) & 1);
            cnn_hidden_hopper_copy_pooled<Arithmetic>(work, maps, barriers, which);
        }
        cnn_hidden_hopper_copy_hidden<Arithmetic>(work, maps, barriers, which);
    }
}

// A warp is done with a tile.
CNN_DEVICE void cnn_hidden_hopper_give_back(uint64_t *empty)
{
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        mbarrier_arrive(empty);
}

// --- weight role -----------------------------------------------------------------------------------------------------

// sum (64 of the 128 hidden, 64 channels) += over a tile's samples; the other half of the hidden in the second.
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_hopper_weight_tile(float (&sum)[2][CNN_HIDDEN_HOPPER_SUMS], const char *tile, bool add)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    typedef cnn_hopper_products<plan::PARTS> products;
    const uint64_t a = wgmma_descriptor(tile, 0), b = wgmma_descriptor(tile + plan::POOLED_AT, 0);
    wgmma_settle(sum[0]);
    wgmma_settle(sum[1]);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < products::count; i++)
#pragma unroll
        for (int step = 0; step < plan::ROWS / 16; step++)
#pragma unroll
            for (int half = 0; half < 2; half++)
                cnn_hidden_hopper_product<1>(
                    typename plan::element(), sum[half],
                    wgmma_descriptor_at(a, products::left(i) * plan::HIDDEN_PART + half * plan::BOX +
                                               step * CNN_HIDDEN_HOPPER_DOWN),
                    wgmma_descriptor_at(b, products::right(i) * plan::BOX + step * CNN_HIDDEN_HOPPER_DOWN),
                    add || i > 0 || step > 0);
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_settle(sum[0]);
    wgmma_settle(sum[1]);
}

template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hidden_hopper_weight_role(const cnn_hidden_hopper_work &work, const Arguments &arguments,
                                              cnn_hidden_hopper_barriers<Arithmetic> *barriers, float pooled_scale,
                                              int warp, int lane)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    enum { BY_TILE = plan::PARTS > 1 }; // tensor cores' long sums are too small: for float precision, added outside
    float total[2][CNN_HIDDEN_HOPPER_SUMS] = {};
#pragma unroll 1
    for (int which = 0; work.first + which < work.end; which++) {
        const char *tile = work.memory + which % plan::TILES * plan::TILE;
        mbarrier_wait(barriers->full + which % plan::TILES, which / plan::TILES & 1);
        if constexpr (BY_TILE) {
            float sum[2][CNN_HIDDEN_HOPPER_SUMS];
            cnn_hidden_hopper_weight_tile<Arithmetic>(sum, tile, false);
#pragma unroll
            for (int i = 0; i < 2 * CNN_HIDDEN_HOPPER_SUMS; i++)
                total[i / CNN_HIDDEN_HOPPER_SUMS][i % CNN_HIDDEN_HOPPER_SUMS] +=
                    sum[i / CNN_HIDDEN_HOPPER_SUMS][i % CNN_HIDDEN_HOPPER_SUMS];
        } else {
            cnn_hidden_hopper_weight_tile<Arithmetic>(total, tile, true);
        }
        cnn_hidden_hopper_give_back(barriers->empty + which % plan::TILES);
    }
    const float inverse = 1.0f / (*arguments.workspace.hidden_scale * pooled_scale);
    float *gradient = arguments.workspace.grad_hidden_partial + (size_t)work.split * CNN_HIDDEN * CNN_FEATURES +
                      (size_t)(warp * 16 + lane / 4) * CNN_FEATURES + work.pixel * CNN_CHANNELS2 + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 2 * CNN_HIDDEN_HOPPER_SUMS; i += 2) { // [half][eight channels][lower or upper rows][pair]
        const int half = i / CNN_HIDDEN_HOPPER_SUMS, at = i % CNN_HIDDEN_HOPPER_SUMS;
        __stcg((float2 *)(gradient + (size_t)(half * 64 + at / 2 % 2 * 8) * CNN_FEATURES + at / 4 * 8),
               make_float2(total[half][at] * inverse, total[half][at + 1] * inverse));
    }
}

// --- data role -------------------------------------------------------------------------------------------------------

// Of a thread's 16 channels, 8 j + 2 (lane % 4) + {0, 1}: of the gradient, and of it times pooled2 as it is scaled.
struct cnn_hidden_hopper_sums {
    float gradient[16], product[16], most;
};

// Two channels of pooled2, added from their parts.
template <typename Arithmetic> CNN_DEVICE float2 cnn_hidden_hopper_pooled(const char *at)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    float2 value = __half22float2(*(const __half2 *)at);
    if (plan::PARTS > 1) {
        const float2 rest = __half22float2(*(const __half2 *)(at + plan::BOX));
        value.x += rest.x, value.y += rest.y;
    }
    return value;
}

// Stores two neighbouring chunks of eight channels of a sample, of which each of four lanes has two pairs, to global
// memory, so that neighbouring lanes write neighbouring addresses. to: of chunk 0
CNN_DEVICE void cnn_hidden_hopper_store(float *to, const float2 pair[2], int lane)
{
#pragma unroll
    for (int i = 0; i < 2; i++)
        __stcg((float2 *)(to + i * 8 + lane % 4 * 2), pair[i]);
}

// Relu's mask, the sums, and the store: two samples per thread. pooled: the tile's
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hidden_hopper_data_end(cnn_hidden_hopper_sums *sums, const float (&sum)[CNN_HIDDEN_HOPPER_SUMS],
                                           const char *pooled, const Arguments &arguments, int from, int pixel,
                                           float inverse, int warp, int lane)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    pooled += (warp * 16 + lane / 4) * HOPPER_ROW_BYTES + lane % 4 * 4;
#pragma unroll
    for (int lower = 0; lower < 2; lower++) {
        const int sample = from + warp * 16 + lower * 8 + lane / 4;
        float *to = arguments.workspace.grad_pooled2 + ((size_t)sample * CNN_PIXELS2 + pixel) * CNN_CHANNELS2;
        float2 value[8];
#pragma unroll
        for (int j = 0; j < 8; j++) // the swizzle: sample % 8 is lane / 4
            value[j] = cnn_hidden_hopper_pooled<Arithmetic>(pooled + lower * HOPPER_ROWS_BYTES + (j ^ lane / 4) * 16);
#pragma unroll
        for (int j = 0; j < 8; j += 2) {
            float2 grad[2];
#pragma unroll
            for (int i = 0; i < 2; i++) { // rows past the batch are zeros, and add none
                const float2 pair = value[j + i];
                const int at = (j + i) * 2;
                grad[i].x = pair.x > 0.0f ? sum[at * 2 + lower * 2] : 0.0f;
                grad[i].y = pair.y > 0.0f ? sum[at * 2 + lower * 2 + 1] : 0.0f;
                grad[i].x *= inverse, grad[i].y *= inverse;
                sums->gradient[at] += grad[i].x, sums->gradient[at + 1] += grad[i].y;
                sums->product[at] = fmaf(grad[i].x, pair.x, sums->product[at]);
                sums->product[at + 1] = fmaf(grad[i].y, pair.y, sums->product[at + 1]);
                sums->most = fmaxf(sums->most, fmaxf(fabsf(grad[i].x), fabsf(grad[i].y)));
            }
            if (sample < arguments.n)
                cnn_hidden_hopper_store(to + j * 8, grad, lane);
        }
    }
}

// Adds 2 * Half sums over two lanes that are Half apart, and leaves half of them in each.
template <int Half> CNN_DEVICE void cnn_hidden_hopper_halve(float *sums, int lane)
{
    const bool upper = lane & Half;
#pragma unroll
    for (int i = 0; i < Half; i++) {
        const float kept = upper ? sums[Half + i] : sums[i], given = upper ? sums[i] : sums[Half + i];
        sums[i] = kept + __shfl_xor_sync(0xffffffffu, given, Half);
    }
}

// sums2_partial's row of this block: over eight lanes, then over four warps through `shared`, [warp][kind][channel].
CNN_DEVICE void cnn_hidden_hopper_store_sums(float *partial, cnn_hidden_hopper_sums *sums,
                                             const cnn_hidden_backward_channels *channels, float inverse_pooled,
                                             float *shared, int warp, int lane)
{
    float all[32]; // [kind][channel]
#pragma unroll
    for (int i = 0; i < 16; i++) {
        const int channel = i / 2 * 8 + lane % 4 * 2 + i % 2;
        const float product = sums->product[i] * inverse_pooled - sums->gradient[i] * channels->beta[channel];
        all[i] = sums->gradient[i], all[16 + i] = product * channels->inverse_gamma[channel];
    }
    cnn_hidden_hopper_halve<16>(all, lane);
    cnn_hidden_hopper_halve<8>(all, lane);
    cnn_hidden_hopper_halve<4>(all, lane);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int at = lane / 4 * 4 + i,
                  channel = at % 16 / 2 * 8 + lane % 4 * 2 + i % 2; // as the lane's bits have chosen
        shared[(warp * 2 + at / 16) * CNN_CHANNELS2 + channel] = all[i];
    }
    warpgroup_sync(1);
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < 4; i++)
        total += shared[i * 2 * CNN_CHANNELS2 + threadIdx.x];
    partial[threadIdx.x] = total;
}

template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hidden_hopper_data_role(const cnn_hidden_hopper_work &work, const Arguments &arguments,
                                            cnn_hidden_hopper_barriers<Arithmetic> *barriers, float pooled_scale,
                                            const cnn_hidden_backward_channels *channels, float *shared, int warp,
                                            int lane)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    typedef cnn_hopper_products<plan::PARTS> products;
    const auto &workspace = arguments.workspace;
    const float inverse = 1.0f / (*workspace.hidden_scale * CNN_HIDDEN_WEIGHT_SCALE);
    const uint64_t b = wgmma_descriptor(work.memory + plan::WEIGHT_AT, 0);
    cnn_hidden_hopper_sums sums = {};
    mbarrier_wait(&barriers->weight, 0);
#pragma unroll 1
    for (int which = 0; work.first + which < work.end; which++) {
        const char *tile = work.memory + which % plan::TILES * plan::TILE;
        const uint64_t a = wgmma_descriptor(tile, 0);
        float sum[CNN_HIDDEN_HOPPER_SUMS];
        mbarrier_wait(barriers->full + which % plan::TILES, which / plan::TILES & 1);
        wgmma_settle(sum);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < products::count; i++)
#pragma unroll
            for (int step = 0; step < CNN_HIDDEN / 16; step++)
                cnn_hidden_hopper_product<0>(
                    typename plan::element(), sum,
                    wgmma_descriptor_at(a, products::left(i) * plan::HIDDEN_PART + step / 4 * plan::BOX +
                                               step % 4 * CNN_HIDDEN_HOPPER_ALONG),
                    wgmma_descriptor_at(b, products::right(i) * plan::WEIGHT_PART + step * CNN_HIDDEN_HOPPER_DOWN),
                    i > 0 || step > 0);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_settle(sum);
        cnn_hidden_hopper_data_end<Arithmetic>(&sums, sum, tile + plan::POOLED_AT, arguments,
                                               (work.first + which) * plan::ROWS, work.pixel, inverse, warp, lane);
        cnn_hidden_hopper_give_back(barriers->empty + which % plan::TILES);
    }
    cnn_hidden_hopper_store_sums(workspace.sums2_partial + (size_t)blockIdx.x * 2 * CNN_CHANNELS2, &sums, channels,
                                 1.0f / pooled_scale, shared, warp, lane);
    cnn_hidden_backward_store_most(workspace.counters, sums.most);
    cnn_hidden_backward_finish_sums<Arithmetic>(arguments, channels, work.first * plan::ROWS,
                                                min(work.end * plan::ROWS, arguments.n), work.pixel, shared);
}

// --- the kernel ------------------------------------------------------------------------------------------------------

template <typename Arithmetic>
static __global__ void __launch_bounds__(cnn_hidden_hopper<Arithmetic>::THREADS,
                                         cnn_hidden_hopper<Arithmetic>::RESIDENT)
    cnn_hidden_backward_wgmma(
        const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments,
        const cnn_cuts cuts, const __grid_constant__ cnn_hidden_hopper_maps maps)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    extern __shared__ __align__(HOPPER_ROWS_BYTES) char cnn_hidden_hopper_memory[];
    __shared__ __align__(16) cnn_hidden_backward_channels channels;
    __shared__ __align__(16) float shared[4 * 2 * CNN_CHANNELS2];
    __shared__ cnn_hidden_hopper_barriers<Arithmetic> barriers;
    const int group = threadIdx.x / HOPPER_WARPGROUP, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    cnn_hidden_hopper_work work;
    work.pixel = blockIdx.x % CNN_PIXELS2, work.split = blockIdx.x / CNN_PIXELS2;
    work.first = work.split * cuts.tiles / cuts.backward_splits;
    work.end = (work.split + 1) * cuts.tiles / cuts.backward_splits;
    work.memory = cnn_hidden_hopper_memory;
    // All kernels before the previous one have ended: parameters, the packed weight, and pooled2 are ready.
    if (threadIdx.x == plan::CONSUMERS)
        cnn_hidden_hopper_copy_first<Arithmetic>(work, maps, &barriers);
    cnn_hidden_backward_load_channels(&channels, &arguments.operands.parameters);
    const float pooled_scale = cnn_hidden_pooled_scale(arguments);
    __syncthreads();
    heddle_wait_for_previous();
    heddle_release_next();
    if (group == 0)
        cnn_hidden_hopper_data_role<Arithmetic>(work, arguments, &barriers, pooled_scale, &channels, shared, warp,
                                                lane);
    else if (group == 1)
        cnn_hidden_hopper_weight_role<Arithmetic>(work, arguments, &barriers, pooled_scale, warp, lane);
    else if (lane == 0)
        cnn_hidden_hopper_copy_role<Arithmetic>(work, maps, &barriers);
}

template <typename Arithmetic, typename Arguments>
static heddle_status cnn_hidden_hopper_map(cnn_hidden_hopper_maps *maps, const Arguments &arguments)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    typedef typename plan::element element;
    const size_t n = arguments.n;
    heddle_status status = HEDDLE_OK;
    for (size_t part = 0; part < plan::PARTS && status == HEDDLE_OK; part++) {
        const element *hidden = (const element *)arguments.workspace.grad_hidden + part * n * CNN_HIDDEN;
        const element *pooled = (const element *)arguments.workspace.pooled2 + part * n * CNN_FEATURES;
        const element *weight = (const element *)arguments.workspace.hidden + part * CNN_HIDDEN * CNN_FEATURES;
        status = cnn_hidden_wgmma_map(&maps->hidden[part], hidden, arguments.n, CNN_HIDDEN, plan::ROWS);
        if (status == HEDDLE_OK)
            status = cnn_hidden_wgmma_map(&maps->pooled[part], pooled, arguments.n, CNN_FEATURES, plan::ROWS);
        if (status == HEDDLE_OK)
            status = cnn_hidden_wgmma_map(&maps->weight[part], weight, CNN_HIDDEN, CNN_FEATURES, CNN_HIDDEN);
    }
    return status;
}

template <typename Arithmetic>
static cudaError_t cnn_launch_hidden_backward_wgmma(
    const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments, cudaStream_t stream)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    const cnn_cuts cuts = cnn_cuts_for<Arithmetic>(arguments.n);
    cnn_hidden_hopper_maps maps = {};
    if (cnn_hidden_hopper_map<Arithmetic>(&maps, arguments) != HEDDLE_OK)
        return CNN_NO_MAP;
    const cudaError_t error = cudaFuncSetAttribute(cnn_hidden_backward_wgmma<Arithmetic>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, plan::BYTES);
    if (error != cudaSuccess)
        return error;
    return heddle_cuda_launch_dependent(cnn_hidden_backward_wgmma<Arithmetic>, dim3(CNN_PIXELS2 * cuts.backward_splits),
                                        dim3(plan::THREADS), plan::BYTES, stream, arguments, cuts, maps);
}
