// forward.h for Hopper: conv1 and conv2 by wgmma, products issued by four warps together with operands in shared
// memory. Only these use an SM's tensor cores at their full rate, and no thread waits for fragments.
//
// It reads and writes the same as forward.h, except for conv2_parts instead of conv2_forward, and pooled1 as the halves
// that products take if operands are floats; it also writes winner2 and code2. conv1 is in forward_wgmma_stem.h, the
// products in forward_wgmma_products.h, the epilogue of conv2 in forward_wgmma_output.h.
//
// A product is 64 channels by 8 rows of an image or by the 6 others, 16 pixels of which two are unused, by 16 input
// channels; all taps are 18 products, three times as many for nearly fp32, issued at once.
//
// As in forward.h, there is one persistent block per SM. Two parts compute pooled images, even and odd ones, in a few
// tiles used in turn; two multiply them, half an image each: while one rounds, compares and stores its results, the
// tensor cores work for the other. Tiles are handed over by barriers at which only the part that needs a tile waits.
// Few images have two blocks each.
//
// Limited by: with many images, the chain of each multiplying group: its products wait until the row before has been
// summed, pooled and handed on, while its warps share the schedulers with those that compute images; then by the bytes
// stored. By a clock in the kernel, half an image takes a group 4,600 cycles: 1,250 of products, 1,100 to round,
// compare and sum, 1,000 at barriers and fences around that, 450 to store; the parts that compute images wait for half
// of the time. A third group does not help: it has no registers, or takes those of another part. Shared memory is busy,
// too: an image's products read 198 KB of it and all else is 140 KB, 2,700 of its cycles; but with half of the weight
// in registers, 32 KB less, it was no faster. At the beginning, when nothing can be multiplied before the moments are
// ready, by latency.
#pragma once

#include <type_traits>

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/forward_statistics.h"
#include "ops/cnn_step/forward_stem.h"
#include "ops/cnn_step/forward_wgmma_output.h"
#include "ops/cnn_step/forward_wgmma_products.h"
#include "ops/cnn_step/forward_wgmma_stem.h"
#include "ops/cnn_step/layout.h"
#include "ops/cnn_step/prepare.h"
#include "ops/cuda/dependent.h"
#include "ops/cuda/hopper.h"

// The type of product operands, the number of parts, and whether they are scaled (see prepare.h); the number of tiles
// per block, and of parts that compute images and that multiply; the registers of these two, if one gives some to the
// other. `pipelined`: the registers suffice to multiply for one turn of conv1 while the one before is pooled. `by_all`:
// first images that all parts compute together, as many as are needed before a single part has computed the next.
template <typename Arithmetic> struct cnn_wgmma_kind {
    typedef typename Arithmetic::operand element;
    static const int parts = 1, scaled = 0, tiles = 4, pipelined = 1, by_all = 1;
    static const int makers = 2, multipliers = 2, threads = (makers + multipliers) * HOPPER_WARPGROUP;
    static const int maker_registers = 0, multiplier_registers = 0; // as they are
};
template <> struct cnn_wgmma_kind<cnn_tf32> : cnn_wgmma_kind<cnn_fp16> {
    static const int scaled = 1;
};
// Nearly fp32: two halves are 22 bits of a float, and three of their four products are enough.
template <> struct cnn_wgmma_kind<cnn_tf32x3> {
    typedef __half element;
    static const int parts = 2, scaled = 1, tiles = 3, pipelined = 0, by_all = 2;
    static const int makers = 2, multipliers = 2, threads = (makers + multipliers) * HOPPER_WARPGROUP;
    static const int maker_registers = 80, multiplier_registers = 176; // of 128
};

enum { CNN_WGMMA_MAKER_THREADS = HOPPER_WARPGROUP };

// Tiles tiles, and places for Stems images of conv1.
template <typename Arithmetic, int Tiles = cnn_wgmma_kind<Arithmetic>::tiles,
          int Stems = cnn_wgmma_kind<Arithmetic>::makers * 2>
struct cnn_wgmma_shared {
    typedef cnn_wgmma_kind<Arithmetic> kind;
    typedef typename kind::element operand;
    enum { STEM_PARTS = cnn_stem_parts<Arithmetic>::count, TILES = Tiles, STEMS = Stems };
    cnn_wgmma_stage<typename Arithmetic::convolution> stage[kind::multipliers];
    __align__(16) operand weight[kind::parts * CNN_CHANNELS2 * CNN_PATCH]; // as in conv2_parts
    operand tile[Tiles][kind::parts * cnn_tile<operand>::size];
    __align__(16) __nv_bfloat16 stem_operand[STEM_PARTS * CNN_STEM_OPERAND];
    uint32_t stem[Stems * CNN_STEM_WORDS];                // of each part that makes, two images
    float4 sums[kind::multipliers][2 * HOPPER_WARPGROUP]; // scratch, and at the end the blocks' sums
    double moments[CNN_MOMENTS];
    uint64_t loaded, turn[kind::multipliers], made[Tiles], read[Tiles]; // barriers: weight, products, tiles
    float stem_weight[CNN_CHANNELS1][CNN_TAPS], stem_scale[CNN_CHANNELS1], stem_bias[CNN_CHANNELS1]; // as in forward.h
};

// TMA loads the weight; `loaded` counts the bytes.
template <typename Arguments, typename Shared>
CNN_DEVICE void cnn_wgmma_load_weight(const Arguments &arguments, Shared *shared)
{
    const unsigned bytes = sizeof shared->weight;
    mbarrier_arrive_expect(&shared->loaded, bytes);
    bulk_load(shared->weight, arguments.workspace.conv2_parts, bytes, &shared->loaded);
}

// --- the kernel ------------------------------------------------------------------------------------------------------

// Where image i of the block lies for conv1: each part that computes images has two places.
template <typename Shared> CNN_DEVICE uint32_t *cnn_wgmma_stem(Shared *shared, int i)
{
    typedef typename Shared::kind kind;
    return shared->stem + (i % kind::makers * 2 + i / kind::makers % 2) * CNN_STEM_WORDS;
}

// Part `maker` of those that compute pooled images: every n-th of the block's images, except for the first ones, which
// all compute together. An image's bytes are read and unpacked while the image before is computed.
template <typename Arithmetic, typename Arguments, typename Shared, typename Weight>
CNN_DEVICE void cnn_wgmma_make(const Arguments &arguments, Shared *shared, const Weight &weight, int maker, int count)
{
    typedef typename Shared::kind kind;
    enum { FIRST_NAME = 1, THREADS = CNN_WGMMA_MAKER_THREADS, WORDS = (CNN_IMAGE_WORDS + THREADS - 1) / THREADS };
    const int thread = threadIdx.x % THREADS;
    const uint8_t *ahead = cnn_own_pixels(arguments, maker + kind::makers, count); // a chain of loads: an image before
    for (int i = maker; i < count; i += kind::makers) {
        const int tile = i % kind::tiles, use = i / kind::tiles, next = i + kind::makers;
        uint32_t *stem_now = cnn_wgmma_stem(shared, i), *stem_next = cnn_wgmma_stem(shared, next);
        const bool unpack = next >= 2 && next < count;
        uint32_t bytes[WORDS] = {0};
        if (unpack) {
#pragma unroll
            for (int word = 0; word < WORDS; word++)
                if (word * THREADS + thread < CNN_IMAGE_WORDS)
                    bytes[word] = cnn_pixels4(ahead + (word * THREADS + thread) * 4);
        }
        ahead = cnn_own_pixels(arguments, next + kind::makers, count);
        if (i >= kind::by_all) {
            if (use > 0)
                mbarrier_wait(&shared->read[tile], (use - 1) & 1);
            if constexpr (kind::pipelined)
                cnn_wgmma_stem_forward<Arithmetic>(arguments, blockIdx.x + i * gridDim.x, stem_now, shared->tile[tile],
                                                   weight, thread / 32);
            else
                cnn_stem_forward<Arithmetic, THREADS / 32>(arguments, blockIdx.x + i * gridDim.x, stem_now,
                                                           shared->tile[tile], weight, thread / 32);
            tma_fence_written();
            __syncwarp();
            cnn_wgmma_arrive(&shared->made[tile]);
        }
        if (unpack)
#pragma unroll
            for (int word = 0; word < WORDS; word++)
                if (word * THREADS + thread < CNN_IMAGE_WORDS)
                    cnn_stem_unpack(stem_next, word * THREADS + thread, bytes[word]);
        __barrier_sync_count(FIRST_NAME + maker, THREADS);
    }
}

// The scale of pooled images: relu of gamma * normalised + beta, where none of `count` values is further than
// sqrt(count) standard deviations from their mean. By whole warps, one channel per lane.
template <typename Arguments>
CNN_DEVICE float cnn_wgmma_pooled_scale(const Arguments &arguments, float gamma, float beta)
{
    const float furthest = sqrtf((float)arguments.n * CNN_PIXELS);
    float most = fabsf(gamma) * furthest + fabsf(beta);
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, distance));
    return cnn_half_scale(most);
}

// conv2's output as TMA stores it: the upper rows of an image, or the lower ones.
struct cnn_wgmma_maps {
    CUtensorMap upper, lower;
};

// What a multiplying thread knows about its two channels. It is loaded beside everything else that the first products
// wait for, and converted to what the names say when they are done.
struct cnn_wgmma_channels {
    cnn_wgmma_sign sign; // at first gamma
    float inverse[2];    // of the scales; at first the weight's scale itself
    cnn_wgmma_totals totals;
};

template <typename Arguments>
CNN_DEVICE cnn_wgmma_channels cnn_wgmma_channels_of(const Arguments &arguments, bool scaled)
{
    const int channel = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4; // and eight further on
    cnn_wgmma_channels channels = {};
#pragma unroll
    for (int i = 0; i < 2; i++) {
        channels.sign.factor[i] = arguments.operands.parameters.gamma2[channel + 8 * i];
        channels.inverse[i] = scaled ? arguments.workspace.conv2_scale[channel + 8 * i] : 1;
    }
    return channels;
}
// `scale`: of the pooled image.
CNN_DEVICE void cnn_wgmma_channels_ready(cnn_wgmma_channels *channels, float scale)
{
    channels->sign = cnn_wgmma_signs(channels->sign.factor[0], channels->sign.factor[1]);
#pragma unroll
    for (int i = 0; i < 2; i++)
        channels->inverse[i] = 1 / channels->inverse[i] / scale;
}

// Rows rows of an image, the upper ones or the lower ones: unit `unit` of the block's work. Before their products those
// of the unit before have to be done; otherwise all parts would multiply at the same time, and then all store.
template <typename Arithmetic, int Rows, typename Arguments, typename Shared>
CNN_DEVICE void cnn_wgmma_rows(const Arguments &arguments, const cnn_wgmma_maps &maps, Shared *shared, int unit,
                               cnn_wgmma_channels *channels)
{
    typedef typename Shared::kind kind;
    enum { FIRST_NAME = 6 };
    const bool upper = Rows == CNN_WGMMA_UPPER;
    const int i = unit / 2, tile = i % kind::tiles, use = i / kind::tiles, before = unit - 1;
    const int part = unit % kind::multipliers;
    float sum[Rows * 8];
    if (i >= kind::by_all) // those computed by all were ready before the parts separated: that was no phase
        mbarrier_wait(&shared->made[tile], (use - (tile < kind::by_all)) & 1);
    if (before >= 0)
        mbarrier_wait(&shared->turn[before % kind::multipliers], before / kind::multipliers & 1);
    cnn_wgmma_conv2(Arithmetic(), sum, shared->weight, shared->tile[tile], upper ? 0 : CNN_WGMMA_UPPER * CNN_TILE_SIDE,
                    &shared->turn[part]);
    cnn_wgmma_arrive(&shared->read[tile]);
#pragma unroll
    for (int j = 0; kind::scaled && j < Rows * 8; j++)
        sum[j] *= channels->inverse[j / 2 % 2];
    cnn_wgmma_finish<Rows>(arguments, upper ? &maps.upper : &maps.lower, shared->stage + part, FIRST_NAME + part,
                           blockIdx.x + i * gridDim.x, upper ? 0 : CNN_WGMMA_UPPER, sum, channels->sign,
                           &channels->totals);
}

// The multiplying parts: half an image each. The part that had an image's upper rows, which are more, has the lower
// ones of the next.
template <typename Arithmetic, typename Arguments, typename Shared>
CNN_DEVICE void cnn_wgmma_multiply(const Arguments &arguments, const cnn_wgmma_maps &maps, Shared *shared, int part,
                                   int count, cnn_wgmma_channels *channels)
{
    typedef typename Shared::kind kind;
    mbarrier_wait(&shared->loaded, 0);
#pragma unroll 1
    for (int unit = part; unit < 2 * count; unit += kind::multipliers)
        if (unit % 2 == unit / 2 % 2)
            cnn_wgmma_rows<Arithmetic, CNN_WGMMA_UPPER>(arguments, maps, shared, unit, channels);
        else
            cnn_wgmma_rows<Arithmetic, CNN_SIDE1 - CNN_WGMMA_UPPER>(arguments, maps, shared, unit, channels);
    cnn_wgmma_statistics<kind::multipliers>(arguments, shared, part, &channels->totals);
    if (threadIdx.x % HOPPER_WARPGROUP == 0)
        cnn_wgmma_left();
}

// By one thread.
template <typename Shared> CNN_DEVICE void cnn_wgmma_init(Shared *shared)
{
    typedef typename Shared::kind kind;
    mbarrier_init(&shared->loaded, 1);
    for (int i = 0; i < kind::multipliers; i++)
        mbarrier_init(&shared->turn[i], HOPPER_WARPGROUP / 32);
    for (int i = 0; i < Shared::TILES; i++) {
        mbarrier_init(&shared->made[i], CNN_WGMMA_MAKER_THREADS / 32);
        mbarrier_init(&shared->read[i], 2 * HOPPER_WARPGROUP / 32);
    }
    mbarrier_init_fence();
}

// Stores conv1's weight in shared memory: as the step before left it, or from prepare.h's moments. Returns the scale of
// its results. By all threads.
template <typename Arguments, typename Shared>
CNN_DEVICE float cnn_wgmma_fold(const Arguments &arguments, Shared *shared, double inverse)
{
    enum { THREADS = Shared::kind::threads, ADDING = THREADS - CNN_UNPACK_THREADS };
    const int channel = threadIdx.x % CNN_CHANNELS1, scaled = Shared::kind::scaled;
    const float gamma = scaled ? arguments.operands.parameters.gamma1[channel] : 0;
    const float beta = scaled ? arguments.operands.parameters.beta1[channel] : 0;
    if (cnn_stem_is_folded(arguments)) {
        cnn_wgmma_stem_weight<Shared::STEM_PARTS>(shared->stem_operand,
                                                  cnn_wgmma_folded_before{arguments.workspace.folded});
        cnn_stem_keep_folded(arguments, CNN_STEM_OPERAND / 2); // by others
    } else {
        static_assert(cnn_moment_parts<ADDING>::PARTS * CNN_MOMENTS * 8 <= sizeof shared->sums, "no room");
        if (threadIdx.x >= CNN_UNPACK_THREADS)
            cnn_stem_add_moments<ADDING>(arguments, shared->sums, threadIdx.x - CNN_UNPACK_THREADS);
        else
            cnn_stem_load_parameters(arguments, shared, threadIdx.x, CNN_UNPACK_THREADS);
        __syncthreads();
        cnn_stem_end_moments<ADDING>(shared->sums, shared->moments,
                                     blockIdx.x == 0 ? arguments.workspace.stem_moments : NULL);
        __syncthreads();
        cnn_stem_fold(arguments, shared, inverse);
        __syncthreads();
        cnn_wgmma_stem_weight<Shared::STEM_PARTS>(shared->stem_operand, cnn_wgmma_folded_here<Shared>{shared});
    }
    const float scale = scaled ? cnn_wgmma_pooled_scale(arguments, gamma, beta) : 1;
    tma_fence_written();
    __syncthreads();
    return scale;
}

template <typename Arithmetic>
static __global__ void __launch_bounds__(cnn_wgmma_kind<Arithmetic>::threads, 1)
    cnn_forward_wgmma(const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments,
                      const __grid_constant__ cnn_wgmma_maps maps)
{
    extern __shared__ __align__(HOPPER_ROWS_BYTES) char cnn_forward_wgmma_memory[];
    typedef cnn_wgmma_shared<Arithmetic> shared_type;
    typedef cnn_wgmma_kind<Arithmetic> kind;
    shared_type *shared = (shared_type *)cnn_forward_wgmma_memory;
    const int count = (arguments.n - 1 - (int)blockIdx.x) / (int)gridDim.x + 1;
    // Before the wait: images, order and the cursor. The first step's cursor is ready because cnn_prepare releases this
    // kernel only after its own wait; the later ones', which finish may release before its wait, because cnn_prepare
    // wrote them all and the first step's kernels have waited for it.
    uint32_t bytes[2] = {0, 0}; // of the first two: in flight from here on
#pragma unroll
    for (int i = 0; i < 2; i++)
        if (threadIdx.x < CNN_IMAGE_WORDS)
            bytes[i] = cnn_pixels4(cnn_own_pixels(arguments, i, count) + threadIdx.x * 4);
    cnn_tile_clear(shared->tile[0], kind::tiles * kind::parts, kind::threads);
    cnn_stem_clear(shared->stem, shared_type::STEMS, kind::threads);
    if (threadIdx.x == 0)
        cnn_wgmma_init(shared);
    const double inverse = 1 / ((double)arguments.n * CNN_PIXELS);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 2; i++)
        if (threadIdx.x < CNN_IMAGE_WORDS)
            cnn_stem_unpack(cnn_wgmma_stem(shared, i), threadIdx.x, bytes[i]);
    cnn_wgmma_channels channels;
    auto weight = cnn_wgmma_stem_multiplier<shared_type::STEM_PARTS>(shared->stem_operand);
#pragma unroll 1
    for (int i = 0; i < kind::by_all && i < count; i++) {
        if (i == 0) {
            heddle_wait_for_previous();
            heddle_release_next();
            if (threadIdx.x == 0)
                cnn_wgmma_load_weight(arguments, shared);
            channels = cnn_wgmma_channels_of(arguments, kind::scaled);
            weight.scale = cnn_wgmma_fold(arguments, shared, inverse);
        }
        cnn_stem_forward<Arithmetic, kind::threads / 32>(arguments, blockIdx.x + i * gridDim.x,
                                                         cnn_wgmma_stem(shared, i), shared->tile[i], weight,
                                                         threadIdx.x / 32);
    }
    cnn_wgmma_channels_ready(&channels, weight.scale);
    tma_fence_written();
    __syncthreads();

    const int part = threadIdx.x / HOPPER_WARPGROUP;
    if (part < kind::multipliers) {
        if constexpr (kind::multiplier_registers > 0)
            registers_take<kind::multiplier_registers>();
        cnn_wgmma_multiply<Arithmetic>(arguments, maps, shared, part, count, &channels);
    } else {
        if constexpr (kind::maker_registers > 0)
            registers_give_back<kind::maker_registers>();
        cnn_wgmma_make<Arithmetic>(arguments, shared, weight, part - kind::multipliers, count);
    }
}

// --- few images ------------------------------------------------------------------------------------------------------

// No more than one image needs: the block then starts while the last blocks of finish.h are still running.
template <typename Arithmetic> using cnn_wgmma_half_shared = cnn_wgmma_shared<Arithmetic, 1, 1>;

// If there are two SMs per image, two blocks share it: the upper rows of conv2's output and the lower ones, each with
// the pooled rows it needs, one more than its own. The multiplying parts take four rows each, at a time.
template <typename Arithmetic, typename Arguments, typename Shared>
CNN_DEVICE void cnn_wgmma_half(const Arguments &arguments, Shared *shared, int part, cnn_wgmma_channels *channels)
{
    typedef typename Shared::kind kind;
    enum { FIRST_NAME = 6, LAST = (CNN_SIDE1 - CNN_WGMMA_UPPER) % CNN_WGMMA_QUARTER };
    const int image = blockIdx.x / 2, first = blockIdx.x % 2 * CNN_WGMMA_UPPER + part * CNN_WGMMA_QUARTER;
    float sum[CNN_WGMMA_QUARTER * 8];
    mbarrier_wait(&shared->loaded, 0);
    cnn_wgmma_conv2(Arithmetic(), sum, shared->weight, shared->tile[0], first * CNN_TILE_SIDE, &shared->turn[part]);
#pragma unroll
    for (int j = 0; kind::scaled && j < CNN_WGMMA_QUARTER * 8; j++)
        sum[j] *= channels->inverse[j / 2 % 2];
    if (first + CNN_WGMMA_QUARTER <= CNN_SIDE1)
        cnn_wgmma_finish<CNN_WGMMA_QUARTER>(arguments, NULL, shared->stage + part, FIRST_NAME + part, image, first, sum,
                                            channels->sign, &channels->totals);
    else
        cnn_wgmma_finish<LAST>(arguments, NULL, shared->stage + part, FIRST_NAME + part, image, first,
                               (const float(&)[LAST * 8]) sum, channels->sign, &channels->totals);
    cnn_wgmma_statistics<kind::multipliers>(arguments, shared, part, &channels->totals);
}

template <typename Arithmetic>
static __global__ void __launch_bounds__(cnn_wgmma_kind<Arithmetic>::threads, 1)
    cnn_forward_halves(const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments)
{
    extern __shared__ __align__(HOPPER_ROWS_BYTES) char cnn_forward_wgmma_memory[];
    typedef cnn_wgmma_half_shared<Arithmetic> shared_type;
    typedef cnn_wgmma_kind<Arithmetic> kind;
    shared_type *shared = (shared_type *)cnn_forward_wgmma_memory;
    const int image = blockIdx.x / 2, upper = blockIdx.x % 2 == 0;
    const uint8_t *pixels = cnn_batch_pixels(arguments, *arguments.operands.cursor, image);
    const uint32_t bytes = threadIdx.x < CNN_IMAGE_WORDS ? cnn_pixels4(pixels + threadIdx.x * 4) : 0;
    cnn_tile_clear(shared->tile[0], kind::parts, kind::threads);
    cnn_stem_clear(shared->stem, 1, kind::threads);
    if (threadIdx.x == 0)
        cnn_wgmma_init(shared);
    const double inverse = 1 / ((double)arguments.n * CNN_PIXELS);
    __syncthreads();
    if (threadIdx.x < CNN_IMAGE_WORDS)
        cnn_stem_unpack(shared->stem, threadIdx.x, bytes);
    heddle_wait_for_previous();
    heddle_release_next();
    if (threadIdx.x == 0)
        cnn_wgmma_load_weight(arguments, shared);
    cnn_wgmma_channels channels = cnn_wgmma_channels_of(arguments, kind::scaled);
    auto weight = cnn_wgmma_stem_multiplier<shared_type::STEM_PARTS>(shared->stem_operand);
    weight.scale = cnn_wgmma_fold(arguments, shared, inverse);
    cnn_wgmma_channels_ready(&channels, weight.scale);
    static_assert((CNN_WGMMA_UPPER + 1) * CNN_SIDE1 <= kind::threads / 32 * 8, "one turn");
    cnn_wgmma_stem_some<Arithmetic>(arguments, image, shared->stem, shared->tile[0], weight,
                                    upper ? 0 : (CNN_WGMMA_UPPER - 1) * CNN_SIDE1,
                                    upper ? (CNN_WGMMA_UPPER + 1) * CNN_SIDE1 : CNN_PIXELS1);
    tma_fence_written();
    __syncthreads();
    const int part = threadIdx.x / HOPPER_WARPGROUP;
    if (part < kind::multipliers)
        cnn_wgmma_half<Arithmetic>(arguments, shared, part, &channels);
}

// --- launches --------------------------------------------------------------------------------------------------------

template <typename Convolution>
static heddle_status cnn_wgmma_map(cnn_wgmma_maps *maps, const Convolution *output, int n, bool half)
{
    const CUtensorMapDataType type = half ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    const long long pixels = (long long)n * CNN_PIXELS1;
    heddle_status status =
        tma_map(&maps->upper, type, sizeof(Convolution), output, pixels, CNN_CHANNELS2, CNN_WGMMA_UPPER * CNN_SIDE1);
    if (status == HEDDLE_OK)
        status = tma_map(&maps->lower, type, sizeof(Convolution), output, pixels, CNN_CHANNELS2,
                         (CNN_SIDE1 - CNN_WGMMA_UPPER) * CNN_SIDE1);
    return status;
}
static inline heddle_status cnn_wgmma_map(cnn_wgmma_maps *, const float *, int, bool) // stored from registers
{
    return HEDDLE_OK;
}

template <typename Arithmetic>
static cudaError_t
cnn_launch_forward_wgmma(const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments,
                         cudaStream_t stream)
{
    typedef typename Arithmetic::convolution convolution;
    const int bytes = sizeof(cnn_wgmma_shared<Arithmetic>);
    static_assert(sizeof(cnn_wgmma_shared<Arithmetic>) <= 227 * 1024, "more than a block can have");
    const int blocks = cnn_wgmma_blocks(arguments.n, arguments.multiprocessors);
    if (blocks == 2 * arguments.n) {
        const int half_bytes = sizeof(cnn_wgmma_half_shared<Arithmetic>);
        const cudaError_t error = cudaFuncSetAttribute(cnn_forward_halves<Arithmetic>,
                                                       cudaFuncAttributeMaxDynamicSharedMemorySize, half_bytes);
        return error != cudaSuccess
                   ? error
                   : heddle_cuda_launch_dependent(cnn_forward_halves<Arithmetic>, blocks,
                                                  cnn_wgmma_kind<Arithmetic>::threads, half_bytes, stream, arguments);
    }
    cnn_wgmma_maps maps = {};
    if (cnn_wgmma_map(&maps, arguments.workspace.convolution2, arguments.n, std::is_same<convolution, __half>::value) !=
        HEDDLE_OK)
        return CNN_NO_MAP;
    const cudaError_t error =
        cudaFuncSetAttribute(cnn_forward_wgmma<Arithmetic>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess)
        return error;
    return heddle_cuda_launch_dependent(cnn_forward_wgmma<Arithmetic>, blocks, cnn_wgmma_kind<Arithmetic>::threads,
                                        bytes, stream, arguments, maps);
}
