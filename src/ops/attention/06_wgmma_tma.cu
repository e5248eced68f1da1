// attention in 16 bits, rung 6: flash attention by wgmma and TMA, with the roles of a block divided, as
// FlashAttention-3 describes it. One thread loads, two warpgroups multiply, 64 queries each; they share every tile of k
// and v.
//
// Rung 5 loaded each fragment through registers, and its tensor cores waited while it computed exponentials. Here wgmma
// reads q, k and v from shared memory itself, and runs beside the other instructions: a warpgroup starts the scores of
// the next keys and the sums of the last ones, and computes the exponentials of the former while the tensor cores are
// at the latter. The weights are wgmma's left operand in registers, laid out as the scores came. The warpgroups take
// turns in starting products, so that one computes exponentials while the tensor cores work for the other. Without a
// diagonal there is one block per SM, which goes from one 128 queries to the next and loads for them while it ends the
// last.
//
// hopper.h describes the layout of tile and swizzle.
//
//     heddle bench attention_bf16_forward/06_wgmma_tma
//
// Limited by: exponentials, of which an SM computes 16 per clock, and with a diagonal by the start and end of each
// block: no other block fits beside it.

#include "ops/attention/attention_hopper.h"

typedef heddle_attention_shape attention_shape;

enum {
    QUERIES = CONSUMERS * WARPGROUP_ROWS, // of a block
    STAGES = 2,
    SLACK = 8, // see soften
};

template <int Size, int Keys> struct hopper_block {
    enum {
        SHARED_BYTES =
            hopper_tile<Size, QUERIES>::BYTES + 2 * STAGES * hopper_tile<Size, Keys>::BYTES + HOPPER_ROWS_BYTES
    };
};

// Barriers: full counts bytes, empty counts the consumers' warps.
struct pipeline {
    uint64_t full_q, empty_q;
    uint64_t full_k[STAGES], full_v[STAGES], empty_k[STAGES], empty_v[STAGES];
};

// A block's work: 128 queries of a head, and the tiles of keys that they see. Number `index` of all; the last queries
// see most keys and come first.
struct job {
    int head, first, tiles;
};

__device__ static __forceinline__ int count_jobs(const attention_shape &shape)
{
    return (shape.queries + QUERIES - 1) / QUERIES * shape.batch * shape.heads;
}

template <int Keys> __device__ static __forceinline__ job find_job(const attention_shape &shape, int index, int group)
{
    const int blocks = (shape.queries + QUERIES - 1) / QUERIES;
    const hopper_place at = place_block(index, shape.batch * shape.heads, blocks, group);
    const int first = (blocks - 1 - at.tile) * QUERIES;
    return {at.head, first, ((shape.causal ? min(shape.keys, first + QUERIES) : shape.keys) - 1) / Keys + 1};
}

// --- producer --------------------------------------------------------------------------------------------------------

// One thread fills places as they become free. The phase of a place's barrier changes every STAGES tiles.
template <int Size, int Keys>
__device__ static void produce(const attention_shape &shape, const CUtensorMap *map_q, const CUtensorMap *map_k,
                               const CUtensorMap *map_v, unsigned char *tile_q, unsigned char *tiles_k,
                               unsigned char *tiles_v, pipeline *barriers, int group)
{
    unsigned loaded = 0, phase = 0; // tiles so far; of q's barriers
    for (int index = blockIdx.x; index < count_jobs(shape); index += gridDim.x, phase ^= 1) {
        const job now = find_job<Keys>(shape, index, group);
        mbarrier_wait(&barriers->empty_q, phase ^ 1); // the first wait for a place returns at once
        load_tile<Size, QUERIES>(tile_q, map_q, now.first, now.head, &barriers->full_q);
        for (int number = 0; number < now.tiles; number++, loaded++) {
            const unsigned place = loaded % STAGES, before = (loaded / STAGES & 1) ^ 1;
            mbarrier_wait(&barriers->empty_k[place], before);
            load_tile<Size, Keys>(tiles_k + place * hopper_tile<Size, Keys>::BYTES, map_k, number * Keys, now.head,
                                  &barriers->full_k[place]);
            mbarrier_wait(&barriers->empty_v[place], before);
            load_tile<Size, Keys>(tiles_v + place * hopper_tile<Size, Keys>::BYTES, map_v, number * Keys, now.head,
                                  &barriers->full_v[place]);
        }
    }
}

// --- consumers -------------------------------------------------------------------------------------------------------

// A number near the largest scaled score of two rows and the sum of exponentials: of this thread's columns alone until
// the end.
struct row_state {
    float most[2], sum[2];
};

__device__ static __forceinline__ float row_largest(float value)
{
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 1));
    return fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 2));
}

// Scores that no query of this thread sees become minus infinity. query: that of the thread's first row.
template <int Keys>
__device__ static __forceinline__ void hide(float (&score)[Keys / 2], const attention_shape &shape, int query, int key)
{
#pragma unroll
    for (int i = 0; i < Keys / 2; i++) {
        const int column = key + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2, row = query + i / 2 % 2 * 8;
        if (column >= shape.keys || (shape.causal && column > row))
            score[i] = -INFINITY;
    }
}

// Scores become weights, 2 to the power of factor * score - most. correction: what everything before is to be
// multiplied by; the result says whether that changes anything in the warp. Any number near the largest score will do
// as `most`: it is left alone until weights would grow beyond 2 to the power of SLACK, which is seldom after the first
// keys.
template <int Keys>
__device__ static __forceinline__ bool soften(float (&score)[Keys / 2], row_state &state, float factor,
                                              float (&correction)[2])
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float largest = score[half * 2];
#pragma unroll
        for (int i = 0; i < Keys / 2; i += 4)
            largest = fmaxf(largest, fmaxf(score[i + half * 2], score[i + half * 2 + 1]));
        largest = factor * row_largest(largest); // of the first tile a number: every query sees key 0
        const float before = state.most[half], most = largest > before + SLACK ? largest : before;
        float added = 0;
#pragma unroll
        for (int i = 0; i < Keys / 2; i += 4)
#pragma unroll
            for (int e = half * 2; e < half * 2 + 2; e++)
                added += score[i + e] = power_of_two(fmaf(score[i + e], factor, -most));
        correction[half] = power_of_two(before - most);
        state.most[half] = most;
        state.sum[half] = state.sum[half] * correction[half] + added;
    }
    return __any_sync(0xffffffffu, correction[0] != 1 || correction[1] != 1);
}

// This warpgroup's 64 queries of a job; tile_q is its part of the tile. `done`: tiles of the jobs before; phase: of q's
// barriers.
template <typename Element, int Size, int Keys>
__device__ static __forceinline__ void consume(const attention_shape &shape, const unsigned char *tile_q,
                                               const unsigned char *tiles_k, const unsigned char *tiles_v,
                                               pipeline *barriers, int consumer, const job &now, unsigned done,
                                               unsigned phase, Element *output, float *log_sums)
{
    typedef rows_element<Element> element;
    const int bytes = hopper_tile<Size, Keys>::BYTES, first = now.first + consumer * WARPGROUP_ROWS;
    const int lane = threadIdx.x % 32, query = first + threadIdx.x / 32 % 4 * 16 + lane / 4, tiles = now.tiles;
    const float scale = rsqrtf((float)shape.size), log2_e = 1.44269504f, ln_2 = 0.693147181f, factor = scale * log2_e;
    float score[Keys / 2], sums[Size / 2], correction[2];
    uint32_t weights[Keys / STEP][4];
    row_state state = {{-INFINITY, -INFINITY}, {0, 0}};
    auto is_hidden = [&](int key) { return key + Keys > shape.keys || (shape.causal && key + Keys - 1 > first); };
    auto place_of = [&](int number) { return (done + number) % STAGES; };
    auto phase_of = [&](int number) { return (done + number) / STAGES & 1; };

    if (consumer == 1 && tiles > 1)
        hopper_turn_end(consumer); // the first turn
    mbarrier_wait(&barriers->full_q, phase);
    mbarrier_wait(&barriers->full_k[place_of(0)], phase_of(0));
    wgmma_fence();
    start_products<Element, Size, QUERIES, Keys>(score, tile_q, tiles_k + place_of(0) * bytes);
    wgmma_wait<0>();
    wgmma_settle(score);
    release(&barriers->empty_k[place_of(0)]);
    if (is_hidden(0))
        hide<Keys>(score, shape, query, 0);
    soften<Keys>(score, state, factor, correction);
    pack<Element, Keys>(weights, score);
    for (int number = 1; number < tiles; number++) {
        const int place = place_of(number), last = place_of(number - 1);
        mbarrier_wait(&barriers->full_k[place], phase_of(number));
        hopper_turn_begin(consumer);
        wgmma_fence();
        start_products<Element, Size, QUERIES, Keys>(score, tile_q, tiles_k + place * bytes);
        mbarrier_wait(&barriers->full_v[last], phase_of(number - 1));
        wgmma_fence();
        start_sums<Element, Size, Keys>(sums, weights, tiles_v + last * bytes, number > 1);
        if (consumer == 0 || number + 1 < tiles) // the first has no turn after the last tile
            hopper_turn_end(consumer);
        wgmma_wait<1>(); // the scores; the sums go on
        wgmma_settle(score);
        release(&barriers->empty_k[place]);
        if (is_hidden(number * Keys))
            hide<Keys>(score, shape, query, number * Keys);
        const bool corrected = soften<Keys>(score, state, factor, correction);
        wgmma_wait<0>();
        wgmma_settle(sums);
        release(&barriers->empty_v[last]);
        if (corrected)
#pragma unroll
            for (int i = 0; i < Size / 2; i++)
                sums[i] *= correction[i / 2 % 2];
        pack<Element, Keys>(weights, score);
    }
    release(&barriers->empty_q);
    const int last = place_of(tiles - 1);
    mbarrier_wait(&barriers->full_v[last], phase_of(tiles - 1));
    wgmma_fence();
    start_sums<Element, Size, Keys>(sums, weights, tiles_v + last * bytes, tiles > 1);
    wgmma_wait<0>();
    wgmma_settle(sums);
    release(&barriers->empty_v[last]);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float total = state.sum[half];
        total += __shfl_xor_sync(0xffffffffu, total, 1);
        total += __shfl_xor_sync(0xffffffffu, total, 2);
        const float factor_of_sums = 1 / total;
        const int row = query + half * 8;
        const size_t place = (size_t)now.head * shape.queries + row;
        if (row >= shape.queries)
            continue;
        Element *to = output + place * Size;
#pragma unroll
        for (int i = 0; i < Size / 2; i += 4)
            *(typename element::pair *)(to + i * 2 + lane % 4 * 2) =
                element::round(sums[i + half * 2] * factor_of_sums, sums[i + half * 2 + 1] * factor_of_sums);
        if (lane % 4 == 0)
            log_sums[place] = state.most[half] * ln_2 + logf(total);
    }
}

// q, output: (batch, heads, queries, Size); k, v: (batch, heads, keys, Size); log_sums: (batch, heads, queries)
template <typename Element, int Size, int Keys>
__global__ void __launch_bounds__(THREADS, 1)
    attention_forward_wgmma(const attention_shape shape, const __grid_constant__ CUtensorMap map_q,
                            const __grid_constant__ CUtensorMap map_k, const __grid_constant__ CUtensorMap map_v,
                            int group, Element *output, float *log_sums)
{
    extern __shared__ unsigned char shared[];
    __shared__ pipeline barriers;
    unsigned char *tile_q =
        shared + (HOPPER_ROWS_BYTES - hopper_shared(shared) % HOPPER_ROWS_BYTES) % HOPPER_ROWS_BYTES;
    unsigned char *tiles_k = tile_q + hopper_tile<Size, QUERIES>::BYTES;
    unsigned char *tiles_v = tiles_k + STAGES * hopper_tile<Size, Keys>::BYTES;
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / HOPPER_WARPGROUP, 0); // the same for the whole warp
    if (threadIdx.x == 0) {
        mbarrier_init(&barriers.full_q, 1);
        mbarrier_init(&barriers.empty_q, CONSUMER_WARPS);
        for (int i = 0; i < STAGES; i++) {
            mbarrier_init(&barriers.full_k[i], 1);
            mbarrier_init(&barriers.full_v[i], 1);
            mbarrier_init(&barriers.empty_k[i], CONSUMER_WARPS);
            mbarrier_init(&barriers.empty_v[i], CONSUMER_WARPS);
        }
        mbarrier_init_fence();
    }
    __syncthreads();
    if (warpgroup == 0) {
        registers_give_back<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0)
            produce<Size, Keys>(shape, &map_q, &map_k, &map_v, tile_q, tiles_k, tiles_v, &barriers, group);
    } else {
        registers_take<CONSUMER_REGISTERS>();
        const int consumer = warpgroup - 1;
        unsigned done = 0, phase = 0;
        for (int index = blockIdx.x; index < count_jobs(shape); index += gridDim.x, phase ^= 1) {
            const job now = find_job<Keys>(shape, index, group);
            consume<Element, Size, Keys>(shape, tile_q + consumer * WARPGROUP_ROWS * HOPPER_ROW_BYTES, tiles_k, tiles_v,
                                         &barriers, consumer, now, done, phase, output, log_sums);
            done += now.tiles;
        }
    }
}

// --- launch ----------------------------------------------------------------------------------------------------------

template <typename Element, int Size, int Keys> static heddle_status launch_size(const heddle_call *call)
{
    const attention_shape *shape = (const attention_shape *)call->shape;
    const long long heads = (long long)shape->batch * shape->heads;
    CUtensorMap q, k, v;
    HEDDLE_TRY((map_heads<Element, Size>(&q, call->input[0], heads, shape->queries, QUERIES)));
    HEDDLE_TRY((map_heads<Element, Size>(&k, call->input[1], heads, shape->keys, Keys)));
    HEDDLE_TRY((map_heads<Element, Size>(&v, call->input[2], heads, shape->keys, Keys)));
    cudaStream_t stream = heddle_cuda_stream_of(call);
    auto kernel = attention_forward_wgmma<Element, Size, Keys>;
    const int bytes = hopper_block<Size, Keys>::SHARED_BYTES;
    HEDDLE_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const int group = hopper_group((size_t)shape->keys * Size * 2 * sizeof(Element), heads); // k and v
    // With a diagonal jobs are of unlike length: the GPU hands them out one by one. Otherwise a block goes from job to
    // job, and loads for the next while it ends one.
    const unsigned jobs = heddle_ceil_div(shape->queries, QUERIES) * (unsigned)heads;
    const unsigned multiprocessors = (unsigned)heddle_cuda_multiprocessors();
    const unsigned blocks = shape->causal || jobs < multiprocessors ? jobs : multiprocessors;
    kernel<<<blocks, THREADS, bytes, stream>>>(*shape, q, k, v, group, (Element *)call->output[0],
                                               (float *)call->output[1]);
    return heddle_cuda_launched("06_wgmma_tma");
}

// The table says which sizes come here; TMA takes operands at multiples of 16 bytes.
template <typename Element> static heddle_status launch(const heddle_call *call, heddle_launcher *otherwise)
{
    const attention_shape *shape = (const attention_shape *)call->shape;
    if (!tma_takes(call) || (size_t)call->input[2] % 16 != 0)
        return otherwise(call);
    // Wider tiles have fewer turns. With a diagonal, more of them would be computed for nothing.
    return shape->size == 64 ? launch_size<Element, 64, 128>(call)
           : shape->causal   ? launch_size<Element, 128, 128>(call)
                             : launch_size<Element, 128, 176>(call);
}

static heddle_status launch_bf16(const heddle_call *call)
{
    return launch<__nv_bfloat16>(call, heddle_attention_bf16_forward_mma_sync);
}

static heddle_status launch_fp16(const heddle_call *call)
{
    return launch<__half>(call, heddle_attention_fp16_forward_mma_sync);
}

HEDDLE_CUDA_RUNG("attention_bf16_forward", "06_wgmma_tma", launch_bf16)
HEDDLE_CUDA_RUNG("attention_fp16_forward", "06_wgmma_tma", launch_fp16)
