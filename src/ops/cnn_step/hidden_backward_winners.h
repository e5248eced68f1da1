// hidden_backward_wgmma.h if operands have 16 bits: pooled2 is recomputed from winner2 where it is needed, and
// batchnorm 2's sums are products, too.
//
// Reads grad_hidden, winner2, statistics2, gamma2, beta2 and the packed hidden weight; writes the same as
// hidden_backward.h, split in the same way: a block has one pooled pixel and a part of the batch, 64 samples at a time.
// One warpgroup has each of these roles:
//
//   data    grad_pooled2 (64 samples, 64) = grad_hidden (64 samples, 128) * weight (128, 64), masked by relu, rounded,
//           into a box of shared memory, from where TMA stores it. Batchnorm 2's sums over the batch also come from
//           that box: its transpose times 1, and times winner2, of which the diagonal counts. That is 64 times as much
//           work as needed, but the tensor cores have the time, and threads do not.
//   weight  gradient of weight, transposed (64, 128) += pooled2 (64 samples, 64) transposed * grad_hidden (64 samples,
//           128), in registers until the end. pooled2 is the factor in registers, where it is computed from winner2.
//
// One thread of the second has the tiles copied into a ring, each with a barrier that counts its bytes. Of what the
// first ones need, the previous kernel computes only grad_hidden; weight and winner2 are in flight before the wait for
// it.
//
// Limited by: shared memory, from which wgmma reads its operands, and latency if a block has few tiles; with many tiles
// also by L2 bandwidth, because every pixel reads all of grad_hidden.
#pragma once

#include "ops/cnn_step/hidden.h"
#include "ops/cnn_step/hidden_wgmma_products.h"

template <typename Arithmetic> struct cnn_hidden_winners {
    typedef typename Arithmetic::operand element;
    enum : int {
        ROWS = CNN_HIDDEN_TILE, // samples of a tile
        BOX = ROWS * HOPPER_ROW_BYTES,
        WINNERS_AT = CNN_HIDDEN / CNN_CHANNELS2 * BOX, // in a tile, after grad_hidden
        TILE = WINNERS_AT + BOX,
        TILES = 3, // so that two blocks share an SM
        WEIGHT_BYTES = CNN_HIDDEN * HOPPER_ROW_BYTES,
        WEIGHT_AT = TILES * TILE,
        GRAD_AT = WEIGHT_AT + WEIGHT_BYTES, // two boxes: one is being stored
        ONES_AT = GRAD_AT + 2 * BOX,
        BYTES = ONES_AT + HOPPER_ROWS_BYTES,
        THREADS = 2 * HOPPER_WARPGROUP, // data, then weight
        COPIER = HOPPER_WARPGROUP,      // the thread that has tiles copied
        RESIDENT = 2,
    };
    static_assert(sizeof(element) == 2, "a pixel is one box");
    static_assert(RESIDENT * (BYTES + 3 * 1024) <= 228 * 1024, "more than an SM has");
};

// grad_hidden (n, 128), winner2 and grad_pooled2 (n, 49 * 64), weight (128, 49 * 64).
struct cnn_hidden_winners_maps {
    CUtensorMap hidden, winners, grad, weight;
};

// Batchnorm 2, as the roles need it. A winner passes relu if it is larger than a threshold, both with their signs
// flipped if the scale is negative.
struct cnn_hidden_winners_norm {
    uint16_t limits[CNN_CHANNELS2 / 2][4]; // of two channels the thresholds, then what turns signs
    float scale[CNN_CHANNELS2], shift[CNN_CHANNELS2], mean[CNN_CHANNELS2], inverse_std[CNN_CHANNELS2];
};

// The work of a block: tiles [first, end) of the batch's, of pixel `pixel`.
template <typename Arithmetic> struct cnn_hidden_winners_work {
    int pixel, split, first, end;
    char *memory;
    uint64_t *weight, *full, *empty; // barriers; each phase of a place's is one tile
};

CNN_DEVICE uint16_t cnn_hidden_winners_below(__half, float value)
{
    return __half_as_ushort(__float2half_rd(value));
}
CNN_DEVICE uint16_t cnn_hidden_winners_below(__nv_bfloat16, float value)
{
    return __bfloat16_as_ushort(__float2bfloat16_rd(value));
}

template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hidden_winners_load_norm(cnn_hidden_winners_norm *norm, const Arguments &arguments)
{
    const int channel = threadIdx.x;
    if (channel >= CNN_CHANNELS2)
        return;
    const float mean = arguments.workspace.statistics2->mean[channel];
    const float inverse_std = arguments.workspace.statistics2->inverse_std[channel];
    const float scale = arguments.operands.parameters.gamma2[channel] * inverse_std;
    const float shift = arguments.operands.parameters.beta2[channel] - mean * scale;
    norm->mean[channel] = mean, norm->inverse_std[channel] = inverse_std;
    norm->scale[channel] = scale, norm->shift[channel] = shift;
    // Rounded down, twice, so that the same representable numbers are larger.
    const float threshold = scale != 0.0f ? __fdiv_rd(-shift, fabsf(scale)) : shift > 0.0f ? -INFINITY : INFINITY;
    norm->limits[channel / 2][channel % 2] = cnn_hidden_winners_below(typename Arithmetic::operand(), threshold);
    norm->limits[channel / 2][2 + channel % 2] = scale < 0.0f ? 0x8000 : 0;
}

// --- copies ----------------------------------------------------------------------------------------------------------

template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_winners_copy_winners(const cnn_hidden_winners_work<Arithmetic> &work,
                                                const cnn_hidden_winners_maps &maps, int which)
{
    typedef cnn_hidden_winners<Arithmetic> plan;
    const int place = which % plan::TILES;
    mbarrier_arrive_expect(work.full + place, plan::TILE);
    tma_load(work.memory + place * plan::TILE + plan::WINNERS_AT, &maps.winners, work.pixel * CNN_CHANNELS2,
             (work.first + which) * plan::ROWS, work.full + place);
}

template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_winners_copy_hidden(const cnn_hidden_winners_work<Arithmetic> &work,
                                               const cnn_hidden_winners_maps &maps, int which)
{
    typedef cnn_hidden_winners<Arithmetic> plan;
    const int place = which % plan::TILES;
#pragma unroll
    for (int i = 0; i < CNN_HIDDEN / CNN_CHANNELS2; i++)
        tma_load(work.memory + place * plan::TILE + i * plan::BOX, &maps.hidden, i * CNN_CHANNELS2,
                 (work.first + which) * plan::ROWS, work.full + place);
}

// Before the wait: barriers, the weight, and winner2 of the first tiles.
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_winners_copy_first(const cnn_hidden_winners_work<Arithmetic> &work,
                                              const cnn_hidden_winners_maps &maps)
{
    typedef cnn_hidden_winners<Arithmetic> plan;
    mbarrier_init(work.weight, 1);
    for (int i = 0; i < plan::TILES; i++) {
        mbarrier_init(work.full + i, 1);
        mbarrier_init(work.empty + i, plan::THREADS / 32);
    }
    mbarrier_init_fence();
    for (int which = 0; which < plan::TILES && work.first + which < work.end; which++)
        cnn_hidden_winners_copy_winners(work, maps, which);
    mbarrier_arrive_expect(work.weight, plan::WEIGHT_BYTES);
    tma_load(work.memory + plan::WEIGHT_AT, &maps.weight, work.pixel * CNN_CHANNELS2, 0, work.weight);
}

// A warp is done with tile `which`. The copier then refills the place of the one before it: the others are done with
// that by now, or nearly.
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_winners_give_back(const cnn_hidden_winners_work<Arithmetic> &work,
                                             const cnn_hidden_winners_maps &maps, int which)
{
    typedef cnn_hidden_winners<Arithmetic> plan;
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        mbarrier_arrive(work.empty + which % plan::TILES);
    const int next = which - 1 + plan::TILES;
    if (threadIdx.x == plan::COPIER && which > 0 && work.first + next < work.end) {
        mbarrier_wait(work.empty + next % plan::TILES, (next / plan::TILES - 1) & 1);
        cnn_hidden_winners_copy_winners(work, maps, next);
        cnn_hidden_winners_copy_hidden(work, maps, next);
    }
    __syncwarp();
}

// --- weight role -----------------------------------------------------------------------------------------------------

template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hidden_winners_weight_role(const cnn_hidden_winners_work<Arithmetic> &work,
                                               const cnn_hidden_winners_maps &maps, const Arguments &arguments,
                                               const cnn_hidden_winners_norm *norm, int warp, int lane)
{
    typedef cnn_hidden_winners<Arithmetic> plan;
    typedef typename plan::element element;
    float total[2 * CNN_HIDDEN_HOPPER_SUMS] = {}, scale[2], shift[2];
#pragma unroll
    for (int i = 0; i < 2; i++) { // a thread has two channels
        scale[i] = norm->scale[warp * 16 + i * 8 + lane / 4];
        shift[i] = norm->shift[warp * 16 + i * 8 + lane / 4];
    }
    // ldmatrix's rows: eight samples of eight channels, of the next eight channels, then the next eight samples.
    const int row = (lane % 8 + lane / 16 * 8) * HOPPER_ROW_BYTES + ((warp * 2 + lane / 8 % 2) ^ lane % 8) * 16;
#pragma unroll 1
    for (int which = 0; work.first + which < work.end; which++) {
        const char *tile = work.memory + which % plan::TILES * plan::TILE;
        const char *winners = tile + plan::WINNERS_AT + row;
        const uint64_t b = wgmma_descriptor(tile, plan::BOX);
        mbarrier_wait(work.full + which % plan::TILES, which / plan::TILES & 1);
        uint32_t a[plan::ROWS / 16][4];
#pragma unroll
        for (int step = 0; step < plan::ROWS / 16; step++) {
            ldmatrix_x4_transposed(a[step], winners + step * CNN_HIDDEN_HOPPER_DOWN);
#pragma unroll
            for (int i = 0; i < 4; i++) { // two samples of a channel
                const float2 pair = cnn_hidden_floats_of(cnn_hidden_pair_of<element>(a[step][i]));
                cnn_hidden_relu<Arithmetic>(&a[step][i], fmaf(pair.x, scale[i % 2], shift[i % 2]),
                                            fmaf(pair.y, scale[i % 2], shift[i % 2]), element());
            }
        }
        wgmma_settle(total);
        wgmma_fence();
#pragma unroll
        for (int step = 0; step < plan::ROWS / 16; step++)
            cnn_hidden_hopper_product_registers<1>(element(), total, a[step],
                                                   wgmma_descriptor_at(b, step * CNN_HIDDEN_HOPPER_DOWN), true);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_settle(total);
        cnn_hidden_winners_give_back(work, maps, which);
    }
    float *gradient = arguments.workspace.grad_hidden_partial +
                      ((size_t)work.split * CNN_HIDDEN + lane % 4 * 2) * CNN_FEATURES + work.pixel * CNN_CHANNELS2 +
                      warp * 16 + lane / 4;
#pragma unroll
    for (int i = 0; i < 2 * CNN_HIDDEN_HOPPER_SUMS; i++) // [eight hidden][lower or upper channels][of a pair]
        __stcg(gradient + (size_t)(i / 4 * 8 + i % 2) * CNN_FEATURES + i / 2 % 2 * 8, total[i]);
}

// --- data role -------------------------------------------------------------------------------------------------------

// While a tile's products run: 0xffff for each of a thread's numbers that passed relu, [lower samples][channels].
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_winners_open(uint32_t open[2][8], const char *winners, const cnn_hidden_winners_norm *norm,
                                        int warp, int lane)
{
    typedef typename Arithmetic::operand element;
    winners += (warp * 16 + lane / 4) * HOPPER_ROW_BYTES + lane % 4 * 4;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const uint2 limits = *(const uint2 *)norm->limits[j * 4 + lane % 4];
#pragma unroll
        for (int lower = 0; lower < 2; lower++) { // the swizzle: sample % 8 is lane / 4
            const uint32_t pair =
                *(const uint32_t *)(winners + lower * HOPPER_ROWS_BYTES + (j ^ lane / 4) * 16) ^ limits.y;
            open[lower][j] = __hgt2_mask(cnn_hidden_pair_of<element>(pair), cnn_hidden_pair_of<element>(limits.x));
        }
    }
}

// Stores a tile's gradient, masked, in its box.
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_winners_leave(char *box, const float (&sum)[CNN_HIDDEN_HOPPER_SUMS],
                                         const uint32_t open[2][8], int warp, int lane)
{
    // stmatrix's rows: of eight channels the upper eight samples, the lower ones, then the next eight channels.
    box += (warp * 16 + lane % 16) * HOPPER_ROW_BYTES;
#pragma unroll
    for (int j = 0; j < 8; j += 2) {
        uint32_t pairs[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int at = (j + i / 2) * 4 + i % 2 * 2;
            pairs[i] = cnn_pair(typename Arithmetic::operand(), sum[at], sum[at + 1]) & open[i % 2][j + i / 2];
        }
        stmatrix_x4(box + ((j + lane / 16) ^ lane % 8) * 16, pairs[0], pairs[1], pairs[2], pairs[3]);
    }
}

// The row of sums2_partial: `products` (channel, channel) of the gradient and winner2, `totals` (channel, 8) of the
// gradient and 1.
CNN_DEVICE void cnn_hidden_winners_store_sums(float *partial, const float (&products)[CNN_HIDDEN_HOPPER_SUMS],
                                              const float (&totals)[4], const cnn_hidden_winners_norm *norm, int warp,
                                              int lane)
{
#pragma unroll
    for (int lower = 0; lower < 2; lower++) {
        const int channel = warp * 16 + lower * 8 + lane / 4;
        uint32_t bits = 0; // of what is on the diagonal
#pragma unroll
        for (int j = lower; j < 8; j += 2) {
            const float own = lane / 4 % 2 ? products[j * 4 + lower * 2 + 1] : products[j * 4 + lower * 2];
            bits |= j == channel / 8 ? __float_as_uint(own) : 0;
        }
        if (lane % 4 != lane / 8)
            continue;
        partial[channel] = totals[lower * 2];
        partial[CNN_CHANNELS2 + channel] =
            (__uint_as_float(bits) - totals[lower * 2] * norm->mean[channel]) * norm->inverse_std[channel];
    }
}

// grad_pooled2 of a tile, before relu: issued here, and not waited for.
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_winners_multiply(float (&sum)[CNN_HIDDEN_HOPPER_SUMS], uint64_t hidden, uint64_t weight)
{
    typedef cnn_hidden_winners<Arithmetic> plan;
    wgmma_settle(sum);
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < CNN_HIDDEN / 16; step++)
        cnn_hidden_hopper_product<0>(
            typename plan::element(), sum,
            wgmma_descriptor_at(hidden, step / 4 * plan::BOX + step % 4 * CNN_HIDDEN_HOPPER_ALONG),
            wgmma_descriptor_at(weight, step * CNN_HIDDEN_HOPPER_DOWN), step > 0);
    wgmma_commit();
}

// What a tile adds to batchnorm 2's sums.
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_winners_add(float (&products)[CNN_HIDDEN_HOPPER_SUMS], float (&totals)[4], const char *box,
                                       const char *winners, uint64_t ones)
{
    typedef cnn_hidden_winners<Arithmetic> plan;
    typedef typename plan::element element;
    wgmma_settle(products);
    wgmma_settle(totals);
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < plan::ROWS / 16; step++) {
        const uint64_t a = wgmma_descriptor_at(wgmma_descriptor(box, 0), step * CNN_HIDDEN_HOPPER_DOWN);
        cnn_hidden_hopper_product<1>(element(), products, a,
                                     wgmma_descriptor_at(wgmma_descriptor(winners, 0), step * CNN_HIDDEN_HOPPER_DOWN),
                                     true);
        cnn_hidden_hopper_product_ones(element(), totals, a, ones);
    }
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_settle(products);
    wgmma_settle(totals);
}

template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hidden_winners_data_role(const cnn_hidden_winners_work<Arithmetic> &work,
                                             const cnn_hidden_winners_maps &maps, const Arguments &arguments,
                                             const cnn_hidden_winners_norm *norm, int warp, int lane)
{
    typedef cnn_hidden_winners<Arithmetic> plan;
    const uint64_t weight = wgmma_descriptor(work.memory + plan::WEIGHT_AT, 0);
    const uint64_t ones = wgmma_descriptor(work.memory + plan::ONES_AT, 0);
    float products[CNN_HIDDEN_HOPPER_SUMS] = {}, totals[4] = {};
    mbarrier_wait(work.weight, 0);
#pragma unroll 1
    for (int which = 0; work.first + which < work.end; which++) {
        const char *tile = work.memory + which % plan::TILES * plan::TILE;
        const char *winners = tile + plan::WINNERS_AT;
        char *box = work.memory + plan::GRAD_AT + which % 2 * plan::BOX;
        const uint64_t hidden = wgmma_descriptor(tile, 0);
        float sum[CNN_HIDDEN_HOPPER_SUMS];
        mbarrier_wait(work.full + which % plan::TILES, which / plan::TILES & 1);
        cnn_hidden_winners_multiply<Arithmetic>(sum, hidden, weight);
        uint32_t open[2][8];
        cnn_hidden_winners_open<Arithmetic>(open, winners, norm, warp, lane);
        wgmma_wait<0>();
        wgmma_settle(sum);
        cnn_hidden_winners_leave<Arithmetic>(box, sum, open, warp, lane);
        if (threadIdx.x == 0)
            tma_store_wait_read<0>(); // the other box is free from here on
        tma_fence_written();
        warpgroup_sync(1);
        if (threadIdx.x == 0) {
            tma_store(&maps.grad, box, work.pixel * CNN_CHANNELS2, (work.first + which) * plan::ROWS);
            tma_store_commit();
        }
        __syncwarp();
        cnn_hidden_winners_add<Arithmetic>(products, totals, box, winners, ones);
        cnn_hidden_winners_give_back(work, maps, which);
    }
    cnn_hidden_winners_store_sums(arguments.workspace.sums2_partial + (size_t)blockIdx.x * 2 * CNN_CHANNELS2, products,
                                  totals, norm, warp, lane);
    if (threadIdx.x == 0)
        tma_store_wait_read<0>();
}

// --- the kernel ------------------------------------------------------------------------------------------------------

template <typename Arithmetic>
static __global__ void __launch_bounds__(cnn_hidden_winners<Arithmetic>::THREADS,
                                         cnn_hidden_winners<Arithmetic>::RESIDENT)
    cnn_hidden_backward_winners(
        const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments,
        const cnn_cuts cuts, const __grid_constant__ cnn_hidden_winners_maps maps)
{
    typedef cnn_hidden_winners<Arithmetic> plan;
    extern __shared__ __align__(HOPPER_ROWS_BYTES) char cnn_hidden_winners_memory[];
    __shared__ __align__(16) cnn_hidden_winners_norm norm;
    __shared__ uint64_t barriers[1 + 2 * plan::TILES];
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    cnn_hidden_winners_work<Arithmetic> work;
    work.pixel = blockIdx.x % CNN_PIXELS2, work.split = blockIdx.x / CNN_PIXELS2;
    work.first = work.split * cuts.tiles / cuts.backward_splits;
    work.end = (work.split + 1) * cuts.tiles / cuts.backward_splits;
    work.memory = cnn_hidden_winners_memory;
    work.weight = barriers, work.full = barriers + 1, work.empty = barriers + 1 + plan::TILES;
    // All kernels before the previous one have ended: parameters, the packed weight, winner2 and its statistics are
    // ready.
    if (threadIdx.x == plan::COPIER)
        cnn_hidden_winners_copy_first(work, maps);
    cnn_hidden_winners_load_norm<Arithmetic>(&norm, arguments);
    if (threadIdx.x < HOPPER_ROWS_BYTES / 16) {
        const uint32_t one = cnn_pair(typename plan::element(), 1.0f, 1.0f);
        ((uint4 *)(work.memory + plan::ONES_AT))[threadIdx.x] = make_uint4(one, one, one, one);
    }
    tma_fence_written();
    __syncthreads();
    heddle_wait_for_previous();
    heddle_release_next();
    if (threadIdx.x == plan::COPIER)
        for (int which = 0; which < plan::TILES && work.first + which < work.end; which++)
            cnn_hidden_winners_copy_hidden(work, maps, which);
    __syncwarp();
    if (threadIdx.x < HOPPER_WARPGROUP)
        cnn_hidden_winners_data_role(work, maps, arguments, &norm, warp, lane);
    else
        cnn_hidden_winners_weight_role(work, maps, arguments, &norm, warp, lane);
}

template <typename Arithmetic>
static cudaError_t cnn_launch_hidden_backward_winners(
    const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments, cudaStream_t stream)
{
    typedef cnn_hidden_winners<Arithmetic> plan;
    typedef typename plan::element element;
    const auto &workspace = arguments.workspace;
    const int n = arguments.n;
    cnn_hidden_winners_maps maps = {};
    if (cnn_hidden_wgmma_map(&maps.hidden, workspace.grad_hidden, n, CNN_HIDDEN, plan::ROWS) != HEDDLE_OK ||
        cnn_hidden_wgmma_map(&maps.winners, (const element *)workspace.winner2, n, CNN_FEATURES, plan::ROWS) !=
            HEDDLE_OK ||
        cnn_hidden_wgmma_map(&maps.grad, workspace.grad_pooled2, n, CNN_FEATURES, plan::ROWS) != HEDDLE_OK ||
        cnn_hidden_wgmma_map(&maps.weight, workspace.hidden, CNN_HIDDEN, CNN_FEATURES, CNN_HIDDEN) != HEDDLE_OK)
        return CNN_NO_MAP;
    const cnn_cuts cuts = cnn_cuts_for<Arithmetic>(arguments.n);
    const cudaError_t error = cudaFuncSetAttribute(cnn_hidden_backward_winners<Arithmetic>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, plan::BYTES);
    if (error != cudaSuccess)
        return error;
    return heddle_cuda_launch_dependent(cnn_hidden_backward_winners<Arithmetic>,
                                        dim3(CNN_PIXELS2 * cuts.backward_splits), dim3(plan::THREADS), plan::BYTES,
                                        stream, arguments, cuts, maps);
}
