// hidden.h for Hopper if operands have 16 bits, after forward_wgmma.h: products by wgmma, with operands loaded by TMA.
//
// Reads winner2, statistics2_partial, gamma2, beta2 and the packed hidden weight; writes statistics2 and
// hidden_partial, which head.h adds, split as in hidden.h. pooled2 is not stored: hidden_backward_winners.h recomputes
// it from winner2. A block has CNN_HIDDEN_TILE samples and a range of the pooled pixels, which its two warpgroups take
// alternately. A pixel's winners go through registers, where batchnorm and relu turn them into the left factor, (64
// samples, 64 channels); the right one, (64 channels, 128 outputs), is in shared memory. At the end each warpgroup adds
// half of both warpgroups' sums.
//
// Limited by: latency: of the statistics, which take a third of the time, and of the winners after them.
#pragma once

#include "ops/cnn_step/forward_statistics.h"
#include "ops/cnn_step/hidden.h"
#include "ops/cnn_step/hidden_wgmma_products.h"

enum {
    CNN_HIDDEN_WGMMA_GROUPS = 2, // warpgroups
    CNN_HIDDEN_WGMMA_THREADS = CNN_HIDDEN_WGMMA_GROUPS * HOPPER_WARPGROUP,
    // Limits registers so that an SM holds this many blocks: not for a second one, but for the first of head.h's.
    CNN_HIDDEN_WGMMA_RESIDENT = 2,
    CNN_HIDDEN_WGMMA_RING = 3, // pixels of a warpgroup in flight: with 1024 samples, all that it has
    CNN_HIDDEN_WGMMA_WINNERS = CNN_HIDDEN_TILE * HOPPER_ROW_BYTES,
    CNN_HIDDEN_WGMMA_PIXEL = CNN_HIDDEN_WGMMA_WINNERS + CNN_HIDDEN * HOPPER_ROW_BYTES, // and its weight
    CNN_HIDDEN_WGMMA_BYTES = CNN_HIDDEN_WGMMA_GROUPS * CNN_HIDDEN_WGMMA_RING * CNN_HIDDEN_WGMMA_PIXEL,
    CNN_HIDDEN_WGMMA_SUMS = CNN_HIDDEN_TILE * CNN_HIDDEN / HOPPER_WARPGROUP, // a thread's
};

// winner2 (n, 49 * 64) and the weight (128, 49 * 64).
struct cnn_hidden_wgmma_maps {
    CUtensorMap winners, weight;
};

// The work of a warpgroup: every second pixel of [first, end). One of its threads copies.
struct cnn_hidden_wgmma_work {
    int tile, first, end;
    char *ring;
    uint64_t *full, *empty; // barriers of the ring; each phase is one pixel
    bool copier;
};

CNN_DEVICE bool cnn_hidden_wgmma_there(const cnn_hidden_wgmma_work &work, int which)
{
    return work.first + which * CNN_HIDDEN_WGMMA_GROUPS < work.end;
}

// Of the warpgroup's pixel number `which`, if there is one: the weight, or the winners.
CNN_DEVICE void cnn_hidden_wgmma_copy_weight(const cnn_hidden_wgmma_work &work, const cnn_hidden_wgmma_maps &maps,
                                             int which)
{
    const int place = which % CNN_HIDDEN_WGMMA_RING, pixel = work.first + which * CNN_HIDDEN_WGMMA_GROUPS;
    if (!cnn_hidden_wgmma_there(work, which))
        return;
    mbarrier_arrive_expect(work.full + place, CNN_HIDDEN_WGMMA_PIXEL);
    tma_load(work.ring + place * CNN_HIDDEN_WGMMA_PIXEL + CNN_HIDDEN_WGMMA_WINNERS, &maps.weight, pixel * CNN_CHANNELS2,
             0, work.full + place);
}
CNN_DEVICE void cnn_hidden_wgmma_copy_winners(const cnn_hidden_wgmma_work &work, const cnn_hidden_wgmma_maps &maps,
                                              int which)
{
    const int place = which % CNN_HIDDEN_WGMMA_RING, pixel = work.first + which * CNN_HIDDEN_WGMMA_GROUPS;
    if (cnn_hidden_wgmma_there(work, which))
        tma_load(work.ring + place * CNN_HIDDEN_WGMMA_PIXEL, &maps.winners, pixel * CNN_CHANNELS2,
                 work.tile * CNN_HIDDEN_TILE, work.full + place);
}

// A warp is done with pixel `which`; when all are, the copier refills its place.
CNN_DEVICE void cnn_hidden_wgmma_give_back(const cnn_hidden_wgmma_work &work, const cnn_hidden_wgmma_maps &maps,
                                           int which)
{
    const int place = which % CNN_HIDDEN_WGMMA_RING, next = which + CNN_HIDDEN_WGMMA_RING;
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        mbarrier_arrive(work.empty + place);
    if (work.copier && cnn_hidden_wgmma_there(work, next)) {
        mbarrier_wait(work.empty + place, which / CNN_HIDDEN_WGMMA_RING & 1);
        cnn_hidden_wgmma_copy_weight(work, maps, next);
        cnn_hidden_wgmma_copy_winners(work, maps, next);
    }
    __syncwarp();
}

// Batchnorm and relu of a thread's part of a pixel, 16 samples per warp by 64 channels, in the layout of the left
// factor. affine: of two channels scale, then shift
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_wgmma_normalise(uint32_t a[][4], const char *winners, const float4 *affine, int warp,
                                           int lane)
{
    typedef typename Arithmetic::operand operand;
    winners += (warp * 16 + lane % 16) * HOPPER_ROW_BYTES;
#pragma unroll
    for (int step = 0; step < CNN_CHANNELS2 / 16; step++) {
        ldmatrix_x4(a[step], winners + ((step * 2 + lane / 16) ^ lane % 8) * 16);
#pragma unroll
        for (int i = 0; i < 4; i++) { // [upper channels][lower samples]
            const float4 both = affine[step * 8 + i / 2 * 4 + lane % 4];
            const float2 pair = cnn_hidden_floats_of(cnn_hidden_pair_of<operand>(a[step][i]));
            cnn_hidden_relu<Arithmetic>(&a[step][i], fmaf(pair.x, both.x, both.z), fmaf(pair.y, both.y, both.w),
                                        operand());
        }
    }
}

// sum (64 samples, 128) += over the warpgroup's pixels
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_wgmma_multiply(float (&sum)[CNN_HIDDEN_WGMMA_SUMS], const cnn_hidden_wgmma_work &work,
                                          const cnn_hidden_wgmma_maps &maps, const float4 *affine, int warp, int lane)
{
#pragma unroll 1
    for (int which = 0; cnn_hidden_wgmma_there(work, which); which++) {
        const int place = which % CNN_HIDDEN_WGMMA_RING;
        const char *winners = work.ring + place * CNN_HIDDEN_WGMMA_PIXEL;
        const uint64_t b = wgmma_descriptor(winners + CNN_HIDDEN_WGMMA_WINNERS, 0);
        uint32_t a[CNN_CHANNELS2 / 16][4];
        mbarrier_wait(work.full + place, which / CNN_HIDDEN_WGMMA_RING & 1);
        cnn_hidden_wgmma_normalise<Arithmetic>(a, winners, affine, warp, lane);
        wgmma_settle(sum);
        wgmma_fence();
#pragma unroll
        for (int step = 0; step < CNN_CHANNELS2 / 16; step++)
            cnn_hidden_hopper_product_registers<0>(typename Arithmetic::operand(), sum, a[step],
                                                   wgmma_descriptor_at(b, step * CNN_HIDDEN_HOPPER_ALONG), true);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_settle(sum);
        cnn_hidden_wgmma_give_back(work, maps, which);
    }
}

// Each warpgroup gives the other its sums of 64 outputs, and stores its own 64 with what it was given. exchange:
// [warpgroup][sum][thread]; partial: rows of 128, at the block's first
CNN_DEVICE void cnn_hidden_wgmma_store(float *partial, const float (&sum)[CNN_HIDDEN_WGMMA_SUMS], float *exchange,
                                       int group, int warp, int lane)
{
    enum { HALF = CNN_HIDDEN_WGMMA_SUMS / 2 };
    const int thread = threadIdx.x % HOPPER_WARPGROUP;
#pragma unroll
    for (int i = 0; i < HALF; i++)
        exchange[(group * HALF + i) * HOPPER_WARPGROUP + thread] = group == 0 ? sum[HALF + i] : sum[i];
    __syncthreads();
    exchange += (1 - group) * HALF * HOPPER_WARPGROUP + thread;
    partial += (warp * 16 + lane / 4) * CNN_HIDDEN + group * CNN_HIDDEN / 2 + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < HALF; i += 2) { // [eight outputs][lower or upper samples][pair]
        const float first = group == 0 ? sum[i] : sum[HALF + i], second = group == 0 ? sum[i + 1] : sum[HALF + i + 1];
        __stcg((float2 *)(partial + i / 2 % 2 * 8 * CNN_HIDDEN + i / 4 * 8),
               make_float2(first + exchange[i * HOPPER_WARPGROUP], second + exchange[(i + 1) * HOPPER_WARPGROUP]));
    }
}

template <typename Arithmetic>
static __global__ void __launch_bounds__(CNN_HIDDEN_WGMMA_THREADS, CNN_HIDDEN_WGMMA_RESIDENT)
    cnn_hidden_wgmma(const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments,
                     const cnn_cuts cuts, const __grid_constant__ cnn_hidden_wgmma_maps maps)
{
    extern __shared__ __align__(HOPPER_ROWS_BYTES) char cnn_hidden_wgmma_memory[];
    __shared__ __align__(16) float4 scratch[CNN_HIDDEN_WGMMA_THREADS], affine[CNN_CHANNELS2 / 2];
    __shared__ cnn_statistics statistics;
    __shared__ uint64_t barriers[CNN_HIDDEN_WGMMA_GROUPS][2][CNN_HIDDEN_WGMMA_RING];
    const int group = threadIdx.x / HOPPER_WARPGROUP, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    const int split = blockIdx.x % cuts.hidden_splits, channel = threadIdx.x % CNN_CHANNELS2;
    cnn_hidden_wgmma_work work;
    work.tile = blockIdx.x / cuts.hidden_splits;
    work.first = split * CNN_PIXELS2 / cuts.hidden_splits + group;
    work.end = (split + 1) * CNN_PIXELS2 / cuts.hidden_splits;
    work.ring = cnn_hidden_wgmma_memory + group * CNN_HIDDEN_WGMMA_RING * CNN_HIDDEN_WGMMA_PIXEL;
    work.full = barriers[group][0], work.empty = barriers[group][1];
    work.copier = threadIdx.x % HOPPER_WARPGROUP == 0;
    if (work.copier) {
        for (int i = 0; i < CNN_HIDDEN_WGMMA_RING; i++) {
            mbarrier_init(work.full + i, 1);
            mbarrier_init(work.empty + i, HOPPER_WARPGROUP / 32);
        }
        mbarrier_init_fence();
        for (int which = 0; which < CNN_HIDDEN_WGMMA_RING; which++)
            cnn_hidden_wgmma_copy_weight(work, maps, which);
    }
    const float gamma = arguments.operands.parameters.gamma2[channel];
    const float beta = arguments.operands.parameters.beta2[channel];
    heddle_wait_for_previous();
    heddle_release_next();
    if (work.copier) // the statistics would queue behind the others
        cnn_hidden_wgmma_copy_winners(work, maps, 0);
    __syncwarp();
    cnn_statistics_add<CNN_HIDDEN_WGMMA_THREADS>(arguments, scratch, &statistics);
    for (int which = 1; work.copier && which < CNN_HIDDEN_WGMMA_RING; which++)
        cnn_hidden_wgmma_copy_winners(work, maps, which);
    if (threadIdx.x < CNN_CHANNELS2) {
        const float scale = gamma * statistics.inverse_std[channel];
        float *to = (float *)(affine + channel / 2) + channel % 2;
        to[0] = scale, to[2] = beta - statistics.mean[channel] * scale;
    }
    __syncthreads();

    float sum[CNN_HIDDEN_WGMMA_SUMS] = {};
    cnn_hidden_wgmma_multiply<Arithmetic>(sum, work, maps, affine, warp, lane);
    __syncthreads(); // the ring is free
    static_assert(CNN_HIDDEN_WGMMA_SUMS * CNN_HIDDEN_WGMMA_THREADS / 2 * sizeof(float) <= CNN_HIDDEN_WGMMA_BYTES,
                  "room for what is exchanged");
    cnn_hidden_wgmma_store(arguments.workspace.hidden_partial +
                               (size_t)(split * cuts.tiles + work.tile) * CNN_HIDDEN_TILE * CNN_HIDDEN,
                           sum, (float *)cnn_hidden_wgmma_memory, group, warp, lane);
}

template <typename Arithmetic>
static cudaError_t
cnn_launch_hidden_wgmma(const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments,
                        cudaStream_t stream)
{
    typedef typename Arithmetic::operand operand;
    static_assert(sizeof(operand) == 2 && sizeof(typename Arithmetic::convolution) == 2, "a pixel is one box");
    const cnn_cuts cuts = cnn_cuts_of(arguments.n);
    cnn_hidden_wgmma_maps maps = {};
    if (cnn_hidden_wgmma_map(&maps.winners, (const operand *)arguments.workspace.winner2, arguments.n, CNN_FEATURES,
                             CNN_HIDDEN_TILE) != HEDDLE_OK ||
        cnn_hidden_wgmma_map(&maps.weight, (const operand *)arguments.workspace.hidden, CNN_HIDDEN, CNN_FEATURES,
                             CNN_HIDDEN) != HEDDLE_OK)
        return CNN_NO_MAP;
    const cudaError_t error = cudaFuncSetAttribute(cnn_hidden_wgmma<Arithmetic>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, CNN_HIDDEN_WGMMA_BYTES);
    if (error != cudaSuccess)
        return error;
    cnn_arguments<operand, typename Arithmetic::convolution> own = arguments;
    own.forward_blocks = cnn_wgmma_blocks(arguments.n, arguments.multiprocessors);
    return heddle_cuda_launch_dependent(cnn_hidden_wgmma<Arithmetic>, dim3(cuts.tiles * cuts.hidden_splits),
                                        dim3(CNN_HIDDEN_WGMMA_THREADS), CNN_HIDDEN_WGMMA_BYTES, stream, own, cuts,
                                        maps);
}
