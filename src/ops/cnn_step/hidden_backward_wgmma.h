// hidden_backward.h for Hopper, for the arithmetics of floats: both products by wgmma, from tiles of 64 samples in
// shared memory. Operands of 16 bits gain nothing by it: hidden_backward.h copies them while it multiplies.
//
// Reads and writes what hidden_backward.h does, but for pooled2, which it makes anew of winner2; cut in the same way: a
// block has one pooled pixel and a part of the batch. Its warpgroups have roles, which hand each other tiles in a ring
// by barriers in shared memory:
//
//   data    grad_pooled2 (64 samples, 64) = grad_hidden (64 samples, 128) * weight (128, 64); relu's mask,
//           batchnorm 2's sums, and out
//   weight  gradient of weight (128, 64) += grad_hidden (64 samples, 128) transposed * pooled2 (64 samples, 64), in
//           registers until the end
//   stage   two warpgroups, tiles by turns: grad_hidden and pooled2 into the ring; floats become scaled halves on the
//           way, one or two each (backward_wgmma_stage.h says how, and why that is as good)
//
// A tile is in chunks of 16 bytes: chunk c of all samples, then chunk c + 1. grad_hidden is read from it both ways: as
// it is, and transposed.
//
// Limited by: latency of the first tile; after it by the way of a tile from L2.
#ifndef HEDDLE_OPS_CNN_STEP_HIDDEN_BACKWARD_WGMMA_H
#define HEDDLE_OPS_CNN_STEP_HIDDEN_BACKWARD_WGMMA_H

#include "ops/cnn_step/backward_wgmma_products.h"
#include "ops/cnn_step/backward_wgmma_stage.h"
#include "ops/cnn_step/hidden.h"
#include "ops/cnn_step/hidden_backward.h"

template <typename Arithmetic> struct cnn_hidden_hopper {
    typedef cnn_hopper_kind<Arithmetic> kind;
    typedef typename kind::element element;
    enum : int {
        ROWS = CNN_HIDDEN_TILE, // samples of a tile
        PARTS = kind::parts,
        CHUNK = (ROWS + 1) * CNN_PART, // from a chunk to the next: the chunks of a sample are in different banks
        HIDDEN_CHUNKS = CNN_HIDDEN / CNN_HOPPER_CHUNK,
        HIDDEN_PART = HIDDEN_CHUNKS * CHUNK,
        POOLED_PART = CNN_HOPPER_CHUNKS2 * CHUNK,
        POOLED_AT = PARTS * HIDDEN_PART, // in a tile
        TILE = POOLED_AT + PARTS * POOLED_PART,
        TILES = PARTS == 1 ? 4 : 3,
        WEIGHT_CHUNK = (CNN_HIDDEN + 1) * CNN_PART,
        WEIGHT_PART = CNN_HOPPER_CHUNKS2 * WEIGHT_CHUNK,

        WEIGHT_AT = TILES * TILE,
        BARRIERS_AT = WEIGHT_AT + PARTS * WEIGHT_PART,
        BYTES = BARRIERS_AT + 2 * TILES * sizeof(uint64_t),
        STAGE_GROUPS = 2,
        THREADS = (2 + STAGE_GROUPS) * HOPPER_WARPGROUP,
        REGISTERS = 65536 / THREADS / 8 * 8,
        // Of weight, data and stage threads. Two parts have a second set of sums (cnn_hidden_hopper_weight_role).
        WEIGHT_REGISTERS = PARTS == 1 ? (int)REGISTERS : 168,
        DATA_REGISTERS = REGISTERS,
        STAGE_REGISTERS = PARTS == 1 ? (int)REGISTERS : 104,
    };
    static_assert(kind::scaled, "operands are floats");
    static_assert(BYTES + 4096 <= 227 * 1024, "more than a block can have, with what it has besides");
};

enum { CNN_HIDDEN_HOPPER_SUMS = 64 * 64 / HOPPER_WARPGROUP }; // a thread's, of a product

#define CNN_HIDDEN_HOPPER_PRODUCT(element, instruction)                                                                \
    template <int TransposedA>                                                                                         \
    CNN_DEVICE void cnn_hidden_hopper_product(element, float(&d)[CNN_HIDDEN_HOPPER_SUMS], uint64_t a, uint64_t b,      \
                                              int add)                                                                 \
    {                                                                                                                  \
        asm volatile("{\n\t"                                                                                           \
                     ".reg .pred add;\n\t"                                                                             \
                     "setp.ne.b32 add, %34, 0;\n\t"                                                                    \
                     "wgmma.mma_async.sync.aligned.m64n64k16.f32." instruction " " HOPPER_D32_NAMES                    \
                     ", %32, %33, add, 1, 1, %35, 1;\n\t"                                                              \
                     "}"                                                                                               \
                     : HOPPER_D32(d, 0)                                                                                \
                     : "l"(a), "l"(b), "r"(add), "n"(TransposedA));                                                    \
    }
// d = a (64, 16; M-major if said so) * b (16, 64; N-major) + (add ? d : 0)
CNN_HIDDEN_HOPPER_PRODUCT(__half, "f16.f16")
CNN_HIDDEN_HOPPER_PRODUCT(__nv_bfloat16, "bf16.bf16")
#undef CNN_HIDDEN_HOPPER_PRODUCT

// What operands were multiplied by.
struct cnn_hidden_hopper_scales {
    float hidden, pooled, weight;
};

// The largest of all threads' numbers.
template <int Threads> CNN_DEVICE float cnn_hidden_hopper_most(float most, float *scratch)
{
    most = cnn_hopper_warp_most(most);
    if (threadIdx.x % 32 == 0)
        scratch[threadIdx.x / 32] = most;
    __syncthreads();
    most = cnn_hopper_warp_most(scratch[threadIdx.x % (Threads / 32)]);
    __syncthreads();
    return most;
}

// grad_hidden is the gradient of a loss by its logits, whose sizes add up to 2 at most, times output_weight; pooled2 is
// bounded as pooled1 is (cnn_hopper_pooled_scale).
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hidden_hopper_scale(cnn_hidden_hopper_scales *scales, const Arguments &arguments, float *scratch)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    const heddle_cnn_step_parameters &parameters = arguments.operands.parameters;
    const float furthest = sqrtf((float)arguments.n * CNN_PIXELS1);
    float most = 0.0f, pooled = 0.0f;
    for (int i = threadIdx.x; i < arguments.classes * CNN_HIDDEN; i += plan::THREADS)
        most = fmaxf(most, fabsf(parameters.output_weight[i]));
    scales->hidden = cnn_half_scale(2.0f * cnn_hidden_hopper_most<plan::THREADS>(most, scratch));
#pragma unroll
    for (int channel = threadIdx.x % 32; channel < CNN_CHANNELS2; channel += 32)
        pooled = fmaxf(pooled, fabsf(parameters.gamma2[channel]) * furthest + fabsf(parameters.beta2[channel]));
    scales->pooled = cnn_half_scale(cnn_hopper_warp_most(pooled));
}

// --- the weight ------------------------------------------------------------------------------------------------------

// The pixel's weight (128, 64) into shared memory. Columns are in such an order that a thread of the data role has
// chunks t = lane % 4 and t + 4: column 8 (4 q + j) + 2 t + e is channel 8 (t + 4 q) + 2 j + e.
template <typename Arithmetic>
CNN_DEVICE float cnn_hidden_hopper_load_weight(const float *weight, char *shared, float *scratch)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    typedef typename cnn_hopper_arithmetic<typename plan::element>::type rounding;
    enum { PAIRS = CNN_HIDDEN * CNN_CHANNELS2 / 2, OWN = (PAIRS + plan::THREADS - 1) / plan::THREADS };
    float2 pair[OWN];
    float most = 0.0f;
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const int at = i * plan::THREADS + threadIdx.x;
        pair[i] = make_float2(0.0f, 0.0f);
        if (at < PAIRS)
            pair[i] = *(const float2 *)(weight + (size_t)(at / 32) * CNN_FEATURES + at % 32 * 2);
        most = fmaxf(most, fmaxf(fabsf(pair[i].x), fabsf(pair[i].y)));
    }
    const float scale = cnn_half_scale(cnn_hidden_hopper_most<plan::THREADS>(most, scratch));
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const int at = i * plan::THREADS + threadIdx.x, hidden = at / 32, j = at % 4, t = at / 4 % 4, q = at / 16 % 2;
        float first = pair[i].x * scale, second = pair[i].y * scale;
        char *to = shared + plan::WEIGHT_AT + (4 * q + j) * plan::WEIGHT_CHUNK + hidden * CNN_PART + t * 4;
        if (at < PAIRS)
#pragma unroll
            for (int part = 0; part < plan::PARTS; part++) {
                const typename plan::element left = cnn_round<rounding>(first), right = cnn_round<rounding>(second);
                cnn_store2((typename plan::element *)(to + part * plan::WEIGHT_PART), left, right);
                first -= cnn_float(left), second -= cnn_float(right);
            }
    }
    return scale;
}

// --- stage role ------------------------------------------------------------------------------------------------------

// What a stage thread takes of a tile, a chunk at a time: HIDDEN rows of grad_hidden, then of winner2, of which pooled2
// is made anew.
enum { CNN_HIDDEN_HOPPER_HIDDEN = 8, CNN_HIDDEN_HOPPER_ITEMS = 12 };

// Batchnorm 2 as a winner * scale + shift, by channel.
struct cnn_hidden_hopper_batchnorm {
    float scale[CNN_CHANNELS2], shift[CNN_CHANNELS2];
};

// As hidden.h has them.
template <typename Arguments>
CNN_DEVICE void cnn_hidden_hopper_load_batchnorm(cnn_hidden_hopper_batchnorm *batchnorm, const Arguments &arguments)
{
    const cnn_statistics *statistics = arguments.workspace.statistics2;
    const int channel = threadIdx.x;
    if (channel < CNN_CHANNELS2) {
        const float scale = arguments.operands.parameters.gamma2[channel] * statistics->inverse_std[channel];
        float shift = arguments.operands.parameters.beta2[channel];
        shift -= statistics->mean[channel] * scale;
        batchnorm->scale[channel] = scale;
        batchnorm->shift[channel] = shift;
    }
}

// Where item i goes to, in a tile.
template <typename Arithmetic> CNN_DEVICE int cnn_hidden_hopper_place(int i, int thread)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    if (i < CNN_HIDDEN_HOPPER_HIDDEN)
        return thread % plan::HIDDEN_CHUNKS * plan::CHUNK + (thread / plan::HIDDEN_CHUNKS + i * 8) * CNN_PART;
    return plan::POOLED_AT + thread % CNN_HOPPER_CHUNKS2 * plan::CHUNK +
           (thread / CNN_HOPPER_CHUNKS2 + (i - CNN_HIDDEN_HOPPER_HIDDEN) * 16) * CNN_PART;
}

// Loads item i: eight floats of grad_hidden, or eight winners as they are kept. Rows past the batch have no winners.
template <typename Arithmetic>
CNN_DEVICE void
cnn_hidden_hopper_load(uint32_t words[8],
                       const cnn_workspace<typename Arithmetic::operand, typename Arithmetic::convolution> &workspace,
                       int i, int thread, int from, int pixel, int n)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    enum { WINNERS = CNN_HOPPER_CHUNK * sizeof(typename Arithmetic::convolution) / 16 }; // words of 16 bytes
    const bool hidden = i < CNN_HIDDEN_HOPPER_HIDDEN;
    const int row = hidden ? thread / plan::HIDDEN_CHUNKS + i * 8
                           : thread / CNN_HOPPER_CHUNKS2 + (i - CNN_HIDDEN_HOPPER_HIDDEN) * 16;
    const uint4 *source =
        hidden ? (const uint4 *)(workspace.grad_hidden + (size_t)(from + row) * CNN_HIDDEN +
                                 thread % plan::HIDDEN_CHUNKS * CNN_HOPPER_CHUNK)
               : (const uint4 *)(workspace.winner2 + ((size_t)(from + row) * CNN_PIXELS2 + pixel) * CNN_CHANNELS2 +
                                 thread % CNN_HOPPER_CHUNKS2 * CNN_HOPPER_CHUNK);
#pragma unroll
    for (int j = 0; j < (hidden ? 2 : WINNERS + 0); j++) {
        const uint4 four = hidden || from + row < n ? source[j] : make_uint4(0, 0, 0, 0);
        words[4 * j] = four.x, words[4 * j + 1] = four.y, words[4 * j + 2] = four.z, words[4 * j + 3] = four.w;
    }
}

// The item's eight numbers as products take them, but for their scale.
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_hopper_value(float value[8], const uint32_t words[8],
                                        const cnn_hidden_hopper_batchnorm *batchnorm, int i, int thread, bool inside)
{
    typedef typename Arithmetic::convolution convolution;
    if (i < CNN_HIDDEN_HOPPER_HIDDEN) {
#pragma unroll
        for (int j = 0; j < 8; j++)
            value[j] = __uint_as_float(words[j]);
        return;
    }
    const int channel = thread % CNN_HOPPER_CHUNKS2 * CNN_HOPPER_CHUNK;
#pragma unroll
    for (int j = 0; j < 8; j += 4) {
        float winner[4], scale[4], shift[4];
        cnn_load4(winner, (const convolution *)words + j);
        cnn_load4(scale, batchnorm->scale + channel + j);
        cnn_load4(shift, batchnorm->shift + channel + j);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const float pooled = fmaf(winner[k], scale[k], shift[k]);
            value[j + k] = !inside || pooled <= 0.0f ? 0.0f : cnn_round<Arithmetic>(pooled); // NaN stays
        }
    }
}

// Tiles of a block: [first, end) of the batch's, of pixel `pixel`.
struct cnn_hidden_hopper_work {
    int pixel, split, first, end;
    char *shared;
    uint64_t *full, *empty;
};

template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_hopper_wait_empty(const cnn_hidden_hopper_work &work, int tile)
{
    enum { TILES = cnn_hidden_hopper<Arithmetic>::TILES };
    const int which = tile - work.first;
    if (which >= TILES)
        mbarrier_wait(work.empty + which % TILES, (which / TILES - 1) & 1);
}

// Floats become halves on the way. Every second tile is this warpgroup's.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hidden_hopper_stage_role(const cnn_hidden_hopper_work &work, const Arguments &arguments,
                                             const cnn_hidden_hopper_scales &scales,
                                             const cnn_hidden_hopper_batchnorm *batchnorm, int group, int thread)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    enum { BATCH = plan::PARTS == 1 ? CNN_HIDDEN_HOPPER_ITEMS : CNN_HIDDEN_HOPPER_ITEMS / 2 }; // loads at once
    for (int tile = work.first + group; tile < work.end; tile += plan::STAGE_GROUPS) {
        char *ring = work.shared + (tile - work.first) % plan::TILES * plan::TILE;
#pragma unroll
        for (int first = 0; first < CNN_HIDDEN_HOPPER_ITEMS; first += BATCH) {
            __align__(16) uint32_t words[BATCH][8];
#pragma unroll
            for (int i = 0; i < BATCH; i++)
                cnn_hidden_hopper_load<Arithmetic>(words[i], arguments.workspace, first + i, thread, tile * plan::ROWS,
                                                   work.pixel, arguments.n);
            if (first == 0)
                cnn_hidden_hopper_wait_empty<Arithmetic>(work, tile);
#pragma unroll
            for (int i = 0; i < BATCH; i++) {
                const bool hidden = first + i < CNN_HIDDEN_HOPPER_HIDDEN;
                const int row = thread / CNN_HOPPER_CHUNKS2 + (first + i - CNN_HIDDEN_HOPPER_HIDDEN) * 16; // of winners
                char *to = ring + cnn_hidden_hopper_place<Arithmetic>(first + i, thread);
                float value[8];
                cnn_hidden_hopper_value<Arithmetic>(value, words[i], batchnorm, first + i, thread,
                                                    tile * plan::ROWS + row < arguments.n);
#pragma unroll
                for (int j = 0; j < 8; j++)
                    value[j] *= hidden ? scales.hidden : scales.pooled;
#pragma unroll
                for (int part = 0; part < plan::PARTS; part++) {
                    __align__(16) uint32_t packed[4];
#pragma unroll
                    for (int j = 0; j < 2; j++)
                        cnn_hopper_pack<typename plan::element>(packed + 2 * j, value + 4 * j, part + 1 < plan::PARTS);
                    cnn_copy_words<4>(to + part * (hidden ? plan::HIDDEN_PART + 0 : plan::POOLED_PART + 0), packed);
                }
            }
        }
        tma_fence_written();
        mbarrier_arrive(work.full + (tile - work.first) % plan::TILES);
    }
}

// --- weight role -----------------------------------------------------------------------------------------------------

// sum (64 of the 128 hidden, 64 channels) += over a tile's samples; the other half of the hidden in the second.
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_hopper_weight_tile(float (&sum)[2][CNN_HIDDEN_HOPPER_SUMS], const char *tile, bool add)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    typedef cnn_hopper_products<plan::PARTS> products;
    const uint64_t a = cnn_hopper_descriptor(tile, 8 * CNN_PART, plan::CHUNK);
    const uint64_t b = cnn_hopper_descriptor(tile + plan::POOLED_AT, 8 * CNN_PART, plan::CHUNK);
    cnn_hopper_settle(sum[0]);
    cnn_hopper_settle(sum[1]);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < products::count; i++)
#pragma unroll
        for (int sample = 0; sample < plan::ROWS; sample += 16)
#pragma unroll
            for (int half = 0; half < 2; half++)
                cnn_hidden_hopper_product<1>(
                    typename plan::element(), sum[half],
                    wgmma_descriptor_at(a, products::left(i) * plan::HIDDEN_PART +
                                               half * (plan::HIDDEN_CHUNKS / 2) * plan::CHUNK + sample * CNN_PART),
                    wgmma_descriptor_at(b, products::right(i) * plan::POOLED_PART + sample * CNN_PART),
                    add || i > 0 || sample > 0);
    wgmma_commit();
    wgmma_wait<0>();
    cnn_hopper_settle(sum[0]);
    cnn_hopper_settle(sum[1]);
}

template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hidden_hopper_weight_role(const cnn_hidden_hopper_work &work, const Arguments &arguments,
                                              const cnn_hidden_hopper_scales &scales, int warp, int lane)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    enum { BY_TILE = plan::PARTS > 1 }; // tensor cores' long sums are too small: where float is meant, added outside
    float total[2][CNN_HIDDEN_HOPPER_SUMS] = {};
#pragma unroll 1
    for (int tile = work.first; tile < work.end; tile++) {
        const int which = tile - work.first;
        const char *ring = work.shared + which % plan::TILES * plan::TILE;
        mbarrier_wait(work.full + which % plan::TILES, which / plan::TILES & 1);
        if constexpr (BY_TILE) {
            float sum[2][CNN_HIDDEN_HOPPER_SUMS];
            cnn_hidden_hopper_weight_tile<Arithmetic>(sum, ring, false);
#pragma unroll
            for (int i = 0; i < 2 * CNN_HIDDEN_HOPPER_SUMS; i++)
                total[i / CNN_HIDDEN_HOPPER_SUMS][i % CNN_HIDDEN_HOPPER_SUMS] +=
                    sum[i / CNN_HIDDEN_HOPPER_SUMS][i % CNN_HIDDEN_HOPPER_SUMS];
        } else {
            cnn_hidden_hopper_weight_tile<Arithmetic>(total, ring, true);
        }
        mbarrier_arrive(work.empty + which % plan::TILES);
    }
    const float inverse = 1.0f / scales.hidden / scales.pooled;
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

// Eight channels of a sample, added up from their parts.
template <typename Arithmetic> CNN_DEVICE void cnn_hidden_hopper_values(float value[8], const char *chunk)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
#pragma unroll
    for (int part = 0; part < plan::PARTS; part++) {
        __align__(16) uint32_t bits[4];
        cnn_copy_words<4>(bits, chunk + part * plan::POOLED_PART);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float four[4];
            cnn_load4(four, (const typename plan::element *)(bits + 2 * i));
#pragma unroll
            for (int j = 0; j < 4; j++)
                value[4 * i + j] = part == 0 ? four[j] : value[4 * i + j] + four[j];
        }
    }
}

// Of a thread's 16 channels, chunks lane % 4 and lane % 4 + 4.
struct cnn_hidden_hopper_sums {
    float gradient[16], product[16], most;
};

// Relu's mask, the sums, and out: two samples of a thread, 16 channels each.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hidden_hopper_data_end(cnn_hidden_hopper_sums *sums, const float (&sum)[CNN_HIDDEN_HOPPER_SUMS],
                                           const cnn_hidden_backward_channels *channels, const char *pooled,
                                           const Arguments &arguments, int from, int pixel, float inverse,
                                           float inverse_pooled, int warp, int lane)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
#pragma unroll
    for (int lower = 0; lower < 2; lower++)
#pragma unroll
        for (int q = 0; q < 2; q++) {
            const int row = warp * 16 + lower * 8 + lane / 4, chunk = lane % 4 + 4 * q, sample = from + row;
            float value[8], grad[8];
            cnn_hidden_hopper_values<Arithmetic>(value, pooled + chunk * plan::CHUNK + row * CNN_PART);
#pragma unroll
            for (int i = 0; i < 8; i++) { // rows past the batch are zeros, and add none
                const int at = q * 8 + i;
                const float beta = channels->beta[chunk * 8 + i], slope = channels->inverse_gamma[chunk * 8 + i];
                grad[i] = value[i] > 0.0f ? sum[(4 * q + i / 2) * 4 + lower * 2 + i % 2] * inverse : 0.0f;
                sums->gradient[at] += grad[i];
                sums->product[at] += grad[i] * ((value[i] * inverse_pooled - beta) * slope);
                sums->most = fmaxf(sums->most, fabsf(grad[i]));
            }
            if (sample < arguments.n) {
                auto *to = arguments.workspace.grad_pooled2 + ((size_t)sample * CNN_PIXELS2 + pixel) * CNN_CHANNELS2 +
                           chunk * CNN_HOPPER_CHUNK;
                cnn_store4_global<Arithmetic>(to, grad);
                cnn_store4_global<Arithmetic>(to + 4, grad + 4);
            }
        }
}

// sums2_partial's row of this block: of eight lanes, then of four warps by way of `shared`, [warp][kind][channel].
CNN_DEVICE void cnn_hidden_hopper_store_sums(float *partial, const cnn_hidden_hopper_sums *sums, float *shared,
                                             int warp, int lane)
{
#pragma unroll
    for (int i = 0; i < 16; i++) {
        float gradient = sums->gradient[i], product = sums->product[i];
#pragma unroll
        for (int distance = 4; distance < 32; distance *= 2) {
            gradient += __shfl_xor_sync(0xffffffffu, gradient, distance);
            product += __shfl_xor_sync(0xffffffffu, product, distance);
        }
        const int channel = (lane % 4 + i / 8 * 4) * CNN_HOPPER_CHUNK + i % 8;
        if (lane < 4) {
            shared[warp * 2 * CNN_CHANNELS2 + channel] = gradient;
            shared[warp * 2 * CNN_CHANNELS2 + CNN_CHANNELS2 + channel] = product;
        }
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
                                            const cnn_hidden_hopper_scales &scales,
                                            const cnn_hidden_backward_channels *channels, float *shared, int warp,
                                            int lane)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    typedef cnn_hopper_products<plan::PARTS> products;
    const float inverse = 1.0f / scales.hidden / scales.weight, inverse_pooled = 1.0f / scales.pooled;
    const uint64_t b = cnn_hopper_descriptor(work.shared + plan::WEIGHT_AT, 8 * CNN_PART, plan::WEIGHT_CHUNK);
    cnn_hidden_hopper_sums sums = {};
#pragma unroll 1
    for (int tile = work.first; tile < work.end; tile++) {
        const int which = tile - work.first;
        const char *ring = work.shared + which % plan::TILES * plan::TILE;
        const uint64_t a = cnn_hopper_descriptor(ring, plan::CHUNK, 8 * CNN_PART);
        float sum[CNN_HIDDEN_HOPPER_SUMS];
        mbarrier_wait(work.full + which % plan::TILES, which / plan::TILES & 1);
        cnn_hopper_settle(sum);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < products::count; i++)
#pragma unroll
            for (int hidden = 0; hidden < CNN_HIDDEN; hidden += 16)
                cnn_hidden_hopper_product<0>(
                    typename plan::element(), sum,
                    wgmma_descriptor_at(a, products::left(i) * plan::HIDDEN_PART + hidden / 8 * plan::CHUNK),
                    wgmma_descriptor_at(b, products::right(i) * plan::WEIGHT_PART + hidden * CNN_PART),
                    i > 0 || hidden > 0);
        wgmma_commit();
        wgmma_wait<0>();
        cnn_hopper_settle(sum);
        cnn_hidden_hopper_data_end<Arithmetic>(&sums, sum, channels, ring + plan::POOLED_AT, arguments,
                                               tile * plan::ROWS, work.pixel, inverse, inverse_pooled, warp, lane);
        mbarrier_arrive(work.empty + which % plan::TILES);
    }
    const auto &workspace = arguments.workspace;
    cnn_hidden_hopper_store_sums(workspace.sums2_partial + (size_t)blockIdx.x * 2 * CNN_CHANNELS2, &sums, shared, warp,
                                 lane);
    cnn_hidden_backward_store_most(workspace.counters, sums.most);
    cnn_hidden_backward_finish_sums<Arithmetic>(arguments, channels, work.first * plan::ROWS,
                                                min(work.end * plan::ROWS, arguments.n), work.pixel, shared);
}

// --- the kernel ------------------------------------------------------------------------------------------------------

template <typename Arithmetic>
static __global__ void __launch_bounds__(cnn_hidden_hopper<Arithmetic>::THREADS, 1)
    cnn_hidden_backward_wgmma(cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments,
                              cnn_cuts cuts)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    extern __shared__ __align__(128) char cnn_shared[];
    __shared__ __align__(16) cnn_hidden_backward_channels channels;
    __shared__ __align__(16) cnn_hidden_hopper_batchnorm batchnorm;
    __shared__ __align__(16) float shared[4 * 2 * CNN_CHANNELS2];
    const int group = threadIdx.x / HOPPER_WARPGROUP, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    cnn_hidden_hopper_work work;
    work.pixel = blockIdx.x % CNN_PIXELS2, work.split = blockIdx.x / CNN_PIXELS2;
    work.first = work.split * cuts.tiles / cuts.backward_splits;
    work.end = (work.split + 1) * cuts.tiles / cuts.backward_splits;
    work.shared = cnn_shared;
    work.full = (uint64_t *)(cnn_shared + plan::BARRIERS_AT), work.empty = work.full + plan::TILES;
    if (threadIdx.x == 0) {
        for (int i = 0; i < plan::TILES; i++) {
            mbarrier_init(work.full + i, HOPPER_WARPGROUP);
            mbarrier_init(work.empty + i, 2 * HOPPER_WARPGROUP);
        }
        mbarrier_init_fence();
    }
    // Kernels before the one before have ended: parameters are there, and the packed weight.
    cnn_hidden_hopper_scales scales;
    cnn_hidden_hopper_scale<Arithmetic>(&scales, arguments, shared);
    scales.weight = cnn_hidden_hopper_load_weight<Arithmetic>(arguments.workspace.hidden + work.pixel * CNN_CHANNELS2,
                                                              cnn_shared, shared);
    cnn_hidden_backward_load_channels(&channels, &arguments.operands.parameters);
    cnn_hidden_hopper_load_batchnorm(&batchnorm, arguments);
    tma_fence_written();
    heddle_wait_for_previous();
    heddle_release_next();
    __syncthreads();
    if (group == 0) {
        cnn_hopper_registers<plan::DATA_REGISTERS, plan::REGISTERS>();
        cnn_hidden_hopper_data_role<Arithmetic>(work, arguments, scales, &channels, shared, warp, lane);
    } else if (group == 1) {
        cnn_hopper_registers<plan::WEIGHT_REGISTERS, plan::REGISTERS>();
        cnn_hidden_hopper_weight_role<Arithmetic>(work, arguments, scales, warp, lane);
    } else {
        cnn_hopper_registers<plan::STAGE_REGISTERS, plan::REGISTERS>();
        cnn_hidden_hopper_stage_role<Arithmetic>(work, arguments, scales, &batchnorm, group - 2,
                                                 threadIdx.x % HOPPER_WARPGROUP);
    }
}

template <typename Arithmetic>
static cudaError_t cnn_launch_hidden_backward_wgmma(
    const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments, cudaStream_t stream)
{
    typedef cnn_hidden_hopper<Arithmetic> plan;
    const cnn_cuts cuts = cnn_cuts_for<Arithmetic>(arguments.n);
    static_assert(plan::PARTS > 1 || +plan::TILES == +CNN_TILES_OF_WINNERS, "hidden.h leaves pooled2 otherwise");
    if (plan::PARTS == 1 && cuts.tiles < plan::TILES) // where the ring is never full, the other kernel is as fast
        return cnn_launch_hidden_backward<Arithmetic>(arguments, stream);
    const cudaError_t error = cudaFuncSetAttribute(cnn_hidden_backward_wgmma<Arithmetic>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, plan::BYTES);
    if (error != cudaSuccess)
        return error;
    return heddle_cuda_launch_dependent(cnn_hidden_backward_wgmma<Arithmetic>, dim3(CNN_PIXELS2 * cuts.backward_splits),
                                        dim3(plan::THREADS), plan::BYTES, stream, arguments, cuts);
}

#endif
