// attention's gradients in 16 bits, rung 7: five products in one pass, by wgmma and TMA.
//
// Rung 5 went over all pairs of a query and a key twice, so that each row of a result had one owner, and computed the
// scores and the products of v and grad_output both times: seven products. Here a block owns 128 keys, and their
// gradients stay in its registers. The gradients of the queries it goes past are added to sums in global memory by
// atomic operations, four floats in one instruction, and rounded to 16 bits by a kernel of its own. The order of these
// additions changes from run to run, and so do the last bits of grad_q.
//
// As in rung 6, one thread loads and two warpgroups multiply, 64 keys each. They compute scores and weights transposed,
// keys by queries: that is how wgmma takes the weights from registers, as rows for the gradients of keys. Only grad_q
// needs what both have computed: its factors pass through shared memory, and each warpgroup has one half of the sums.
//
// Without a diagonal there is one block per SM, which goes from one 128 keys to the next.
//
// A warpgroup always starts the next product before it waits for the last: v by grad_output while it computes weights,
// grad_v while it computes the scores' gradients, and the next scores while it adds to grad_q.
//
//     heddle bench attention_bf16_backward/07_wgmma_one_pass
//
// Limited by: shared memory, which wgmma reads in nearly as many cycles as it multiplies, and with a diagonal by the
// start and end of each block: no other block fits beside it.

#include "ops/attention/attention_hopper.h"

typedef heddle_attention_shape attention_shape;

enum {
    KEYS = CONSUMERS * WARPGROUP_ROWS, // of a block
    STAGES = 3,                        // of tiles of q and of grad_output
    SIGNALS = 2,                       // tiles of signals: one is written while the other is read
    SIGNAL_BARRIER = 1,                // named barriers: 0 is that of __syncthreads
    STORE_BARRIER = 2,                 // and 3: of each warpgroup
    CONSUMER_THREADS = CONSUMERS * HOPPER_WARPGROUP,
    PART = BOX,                                 // rows and columns of grad_q per warpgroup and tile
    PART_SUMS = PART * PART / HOPPER_WARPGROUP, // per thread
};

// A tile has so many queries that a warpgroup's half of grad_q is 64 by 64: half the head or half the queries.
template <int Size> struct hopper_backward {
    enum {
        QUERIES = HEDDLE_ATTENTION_PASS_QUERIES(Size),
        KEYS_BYTES = hopper_tile<Size, KEYS>::BYTES,       // a tile of k or v
        QUERIES_BYTES = hopper_tile<Size, QUERIES>::BYTES, // of q or grad_output
        SIGNAL_BYTES = hopper_tile<QUERIES, KEYS>::BYTES,
        ROW_BYTES = QUERIES * (int)sizeof(float), // logs or means of a tile
        SHARED_BYTES =
            2 * KEYS_BYTES + STAGES * 2 * (QUERIES_BYTES + ROW_BYTES) + SIGNALS * SIGNAL_BYTES + HOPPER_ROWS_BYTES,
        HALVES_HEAD = Size == 2 * PART, // what the warpgroups divide of grad_q
    };
};

// Barriers: full counts bytes, empty counts the consumers' warps. q comes with logs, o (grad_output) with means.
struct pipeline {
    uint64_t full_k, full_v, empty_k, empty_v;
    uint64_t full_q[STAGES], full_o[STAGES], empty_q[STAGES], empty_o[STAGES];
};

// What a block has in shared memory, from `base` on: tiles of k and v, stages of q and o, signals, stages of logs and
// means.
template <int Size> struct block_memory {
    typedef hopper_backward<Size> tile;
    enum {
        V = tile::KEYS_BYTES,
        Q = V + tile::KEYS_BYTES,
        O = Q + STAGES * tile::QUERIES_BYTES,
        SIGNALS_AT = O + STAGES * tile::QUERIES_BYTES,
        LOGS = SIGNALS_AT + SIGNALS * tile::SIGNAL_BYTES,
        MEANS = LOGS + STAGES * tile::ROW_BYTES,
    };
    unsigned char *base;

    __device__ __forceinline__ unsigned char *k() const
    {
        return base;
    }
    __device__ __forceinline__ unsigned char *v() const
    {
        return base + V;
    }
    __device__ __forceinline__ unsigned char *q(int stage) const
    {
        return base + Q + stage * tile::QUERIES_BYTES;
    }
    __device__ __forceinline__ unsigned char *o(int stage) const
    {
        return base + O + stage * tile::QUERIES_BYTES;
    }
    __device__ __forceinline__ unsigned char *signals(int side) const
    {
        return base + SIGNALS_AT + side * tile::SIGNAL_BYTES;
    }
    __device__ __forceinline__ float *logs(int stage) const
    {
        return (float *)(base + LOGS + stage * tile::ROW_BYTES);
    }
    __device__ __forceinline__ float *means(int stage) const
    {
        return (float *)(base + MEANS + stage * tile::ROW_BYTES);
    }
};

// A place in the ring of stages. The phase of its barriers changes each time round.
struct ring_place {
    int stage;
    unsigned phase;

    __device__ __forceinline__ ring_place next() const
    {
        return stage + 1 < STAGES ? ring_place{stage + 1, phase} : ring_place{0, phase ^ 1};
    }
};

// --- before and after ------------------------------------------------------------------------------------------------

// Of each query: logs = log2(sum of exponentials), means = output · grad_output, sums = 0. Queries that fill the last
// tile get infinite logs, by which their weights are 0. Size / 8 threads per row.
template <typename Element, int Size>
__global__ void __launch_bounds__(HEDDLE_CUDA_BLOCK)
    attention_pass_begin(int queries, int padded, const Element *output, const Element *grad_output,
                         const float *log_sums, float *logs, float *means, float4 *sums)
{
    typedef rows_element<Element> element;
    const int vector = 8, lanes = Size / vector, row_sums = Size / 4;
    const float log2_e = 1.44269504f;
    const size_t thread = (size_t)blockIdx.x * HEDDLE_CUDA_BLOCK + threadIdx.x, row = thread / lanes;
    const size_t head = row / padded;
    const int query = (int)(row % padded), lane = (int)(thread % lanes);
    const size_t from = head * queries + query;
    float sum = 0;
    if (query < queries) {
        const uint4 left = *(const uint4 *)(output + from * Size + lane * vector);
        const uint4 right = *(const uint4 *)(grad_output + from * Size + lane * vector);
        const typename element::pair *a = (const typename element::pair *)&left;
        const typename element::pair *b = (const typename element::pair *)&right;
#pragma unroll
        for (int i = 0; i < vector / 2; i++) {
            const float2 x = element::floats(a[i]), y = element::floats(b[i]);
            sum += x.x * y.x + x.y * y.y;
        }
    }
#pragma unroll
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (lane == 0) {
        logs[row] = query < queries ? log2_e * log_sums[from] : INFINITY;
        means[row] = sum;
    }
#pragma unroll
    for (int i = lane; i < row_sums; i += lanes)
        sums[row * row_sums + i] = make_float4(0, 0, 0, 0);
}

// grad_q = scale * sums, which lie as the warpgroups' threads have them (see add_sums). One block per tile of queries.
template <typename Element, int Size>
__global__ void __launch_bounds__(CONSUMER_THREADS)
    attention_pass_end(int queries, int tiles, float scale, const float4 *sums, Element *grad_q)
{
    typedef rows_element<Element> element;
    typedef hopper_backward<Size> tile;
    const int vector = 8, pad = 8, row_vectors = PART / vector;
    __shared__ __align__(16) Element parts[CONSUMERS][PART][PART + pad];
    const int consumer = threadIdx.x / HOPPER_WARPGROUP, thread = threadIdx.x % HOPPER_WARPGROUP;
    const int row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;
    const float4 *from = sums + ((size_t)blockIdx.x * CONSUMERS + consumer) * (PART * PART / 4) + thread;
#pragma unroll
    for (int i = 0; i < PART_SUMS / 4; i++) {
        const float4 four = from[i * HOPPER_WARPGROUP];
        *(typename element::pair *)&parts[consumer][row][i * 8 + column] =
            element::round(scale * four.x, scale * four.y);
        *(typename element::pair *)&parts[consumer][row + 8][i * 8 + column] =
            element::round(scale * four.z, scale * four.w);
    }
    __syncthreads();
    const int head = blockIdx.x / tiles, first = blockIdx.x % tiles * tile::QUERIES;
    for (int i = threadIdx.x; i < CONSUMERS * PART * row_vectors; i += CONSUMER_THREADS) {
        const int part = i / (PART * row_vectors), r = i / row_vectors % PART, c = i % row_vectors * vector;
        const int query = first + r + (tile::HALVES_HEAD ? 0 : part * PART);
        if (query < queries)
            *(uint4 *)(grad_q + ((size_t)head * queries + query) * Size + c + (tile::HALVES_HEAD ? part * PART : 0)) =
                *(const uint4 *)&parts[part][r][c];
    }
}

// A block's work: 128 keys of a head, and the tiles of queries that see some of them. Number `index` of all; the first
// keys are seen by most queries and come first.
struct job {
    int head, key, begin, end;
};

__device__ static __forceinline__ int count_jobs(const attention_shape &shape)
{
    return (shape.keys + KEYS - 1) / KEYS * shape.batch * shape.heads;
}

template <int Size> __device__ static __forceinline__ job find_job(const attention_shape &shape, int index, int group)
{
    const int queries = hopper_backward<Size>::QUERIES;
    const hopper_place at = place_block(index, shape.batch * shape.heads, (shape.keys + KEYS - 1) / KEYS, group);
    return {at.head, at.tile * KEYS, shape.causal ? at.tile * KEYS / queries : 0,
            (shape.queries + queries - 1) / queries};
}

// --- producer --------------------------------------------------------------------------------------------------------

struct pass_maps {
    CUtensorMap q, k, v, o, grad_k, grad_v;
};

// One thread loads the keys' tiles, then fills stages with tiles of queries as they become free.
template <int Size>
__device__ static void produce(const attention_shape &shape, const pass_maps &maps, const block_memory<Size> &memory,
                               pipeline *barriers, int group, const float *logs, const float *means)
{
    typedef hopper_backward<Size> tile;
    ring_place at = {0, 0};
    unsigned phase = 0; // of the keys' barriers
    for (int index = blockIdx.x; index < count_jobs(shape); index += gridDim.x) {
        const job now = find_job<Size>(shape, index, group);
        if (now.begin >= now.end)
            continue;
        mbarrier_wait(&barriers->empty_k, phase ^ 1); // the first wait for a place returns at once
        load_tile<Size, KEYS>(memory.k(), &maps.k, now.key, now.head, &barriers->full_k);
        mbarrier_wait(&barriers->empty_v, phase ^ 1);
        load_tile<Size, KEYS>(memory.v(), &maps.v, now.key, now.head, &barriers->full_v);
        phase ^= 1;
        for (int number = now.begin; number < now.end; number++, at = at.next()) {
            uint64_t *full_q = &barriers->full_q[at.stage], *full_o = &barriers->full_o[at.stage];
            const size_t row = ((size_t)now.head * now.end + number) * tile::QUERIES; // of padded rows
            mbarrier_wait(&barriers->empty_q[at.stage], at.phase ^ 1);
            load_tile<Size, tile::QUERIES>(memory.q(at.stage), &maps.q, number * tile::QUERIES, now.head, full_q,
                                           tile::ROW_BYTES);
            bulk_load(memory.logs(at.stage), logs + row, tile::ROW_BYTES, full_q);
            mbarrier_wait(&barriers->empty_o[at.stage], at.phase ^ 1);
            load_tile<Size, tile::QUERIES>(memory.o(at.stage), &maps.o, number * tile::QUERIES, now.head, full_o,
                                           tile::ROW_BYTES);
            bulk_load(memory.means(at.stage), means + row, tile::ROW_BYTES, full_o);
        }
    }
}

// --- consumers -------------------------------------------------------------------------------------------------------
// A thread has, of products keys by queries, in element [4 j + 2 h + e] key 16 w + 8 h + l / 4 of its warpgroup's and
// query 8 j + 2 (l % 4) + e of the tile: so it needs two logs for four elements.

// weights = 2 to the power of factor * score - log. They are not written over the scores: the compiler lets products
// run beside other instructions only if none but a product writes to the registers of its sums.
template <int Queries>
__device__ static __forceinline__ void weigh(float (&weights)[Queries / 2], const float (&score)[Queries / 2],
                                             const float *logs, float factor)
{
#pragma unroll
    for (int i = 0; i < Queries / 2; i += 4) {
        const float2 log = *(const float2 *)(logs + i * 2 + threadIdx.x % 4 * 2);
#pragma unroll
        for (int e = 0; e < 4; e++)
            weights[i + e] = power_of_two(fmaf(score[i + e], factor, e % 2 ? -log.y : -log.x));
    }
}

// Weights of pairs that are not to be seen become 0. key: that of the thread's first row; query: the tile's first.
template <int Queries>
__device__ static __forceinline__ void hide(float (&weights)[Queries / 2], const attention_shape &shape, int key,
                                            int query)
{
#pragma unroll
    for (int i = 0; i < Queries / 2; i++) {
        const int row = key + i / 2 % 2 * 8, column = query + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
        if (row >= shape.keys || (shape.causal && row > column))
            weights[i] = 0;
    }
}

// The gradients of the scores, or signals: weight * (product - mean), in 16 bits. product: of v and grad_output.
template <typename Element, int Queries>
__device__ static __forceinline__ void find_signals(uint32_t (&signals)[Queries / STEP][4],
                                                    const float (&product)[Queries / 2],
                                                    const float (&weights)[Queries / 2], const float *means)
{
    float signal[Queries / 2];
#pragma unroll
    for (int i = 0; i < Queries / 2; i += 4) {
        const float2 mean = *(const float2 *)(means + i * 2 + threadIdx.x % 4 * 2);
#pragma unroll
        for (int e = 0; e < 4; e++)
            signal[i + e] = weights[i + e] * (product[i + e] - (e % 2 ? mean.y : mean.x));
    }
    pack<Element, Queries>(signals, signal);
}

// Writes a warpgroup's 64 rows of a tile (KEYS, Columns), from `row` on, swizzled in boxes of 64 columns.
template <int Columns>
__device__ static __forceinline__ void write_rows(unsigned char *tile, const uint32_t (&packed)[Columns / STEP][4],
                                                  int row)
{
    const int lane = threadIdx.x % 32, matrix = lane / 8; // of four: two of the first 8 columns, two of the others
    unsigned char *to = tile + (row + threadIdx.x / 32 % 4 * 16 + matrix % 2 * 8 + lane % 8) * HOPPER_ROW_BYTES;
#pragma unroll
    for (int i = 0; i < Columns / STEP; i++) {
        const int chunk = i % (BOX / STEP) * 2 + matrix / 2;
        stmatrix_x4(to + i / (BOX / STEP) * hopper_tile<Columns, KEYS>::BOX_BYTES + ((chunk ^ lane % 8) << 4),
                    packed[i][0], packed[i][1], packed[i][2], packed[i][3]);
    }
}

// Starts part (64 queries, 64 columns) = box of signals (KEYS, 64)ᵀ * box of k (KEYS, 64).
template <typename Element>
__device__ static __forceinline__ void start_part(float (&part)[PART_SUMS], const unsigned char *signals,
                                                  const unsigned char *box_k)
{
    const int bytes = KEYS * HOPPER_ROW_BYTES;
    const uint64_t a = wgmma_descriptor(signals, bytes), b = wgmma_descriptor(box_k, bytes);
#pragma unroll
    for (int step = 0; step < KEYS / STEP; step++) {
        const int at = step * STEP * HOPPER_ROW_BYTES;
        wgmma16<PART, Element>::template multiply<1, 1>(part, wgmma_descriptor_at(a, at), wgmma_descriptor_at(b, at),
                                                        step > 0);
    }
    wgmma_commit();
}

// Adds this thread's part to sums (PART_SUMS / 4, 128 threads): a warp adds to 512 bytes without gaps.
__device__ static __forceinline__ void add_sums(float4 *sums, const float (&part)[PART_SUMS])
{
#pragma unroll
    for (int i = 0; i < PART_SUMS / 4; i++)
        asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(sums + i * HOPPER_WARPGROUP),
                     "f"(part[i * 4]), "f"(part[i * 4 + 1]), "f"(part[i * 4 + 2]), "f"(part[i * 4 + 3])
                     : "memory");
}

// Stores a warpgroup's sums (64 keys, Size), times a factor, by way of its rows of `tile`. `first`: its first key.
template <typename Element, int Size>
__device__ static __forceinline__ void store_keys(const CUtensorMap *map, unsigned char *tile, float (&sums)[Size / 2],
                                                  float factor, int consumer, int first, int head)
{
    const int row = consumer * WARPGROUP_ROWS;
    uint32_t packed[Size / STEP][4];
#pragma unroll
    for (int i = 0; i < Size / 2; i++)
        sums[i] *= factor;
    pack<Element, Size>(packed, sums);
    write_rows<Size>(tile, packed, row);
    tma_fence_written();
    warpgroup_sync(STORE_BARRIER + consumer);
    if (threadIdx.x % HOPPER_WARPGROUP == 0) {
        for (int box = 0; box < Size / BOX; box++)
            tma_store3(map, tile + box * hopper_tile<Size, KEYS>::BOX_BYTES + row * HOPPER_ROW_BYTES, box * BOX, first,
                       head);
        tma_store_commit();
        tma_store_wait_read<0>();
    }
    warpgroup_sync(STORE_BARRIER + consumer);
}

// What goes on from job to job: the place in the ring, the tile for signals, the phase of the keys' barriers.
struct pass_state {
    ring_place at;
    int side;
    unsigned phase;
};

// This warpgroup's 64 keys of a job. sums: its part of the first tile of the head.
template <typename Element, int Size>
__device__ static __forceinline__ void consume(const attention_shape &shape, const pass_maps &maps,
                                               const block_memory<Size> &memory, pipeline *barriers, int consumer,
                                               const job &now, pass_state &state, float4 *sums)
{
    typedef hopper_backward<Size> tile;
    const int queries = tile::QUERIES, tile_sums = tile::QUERIES * Size / 4, box_bytes = KEYS * HOPPER_ROW_BYTES;
    const int row = consumer * WARPGROUP_ROWS, first = now.key + row, begin = now.begin, end = now.end;
    const int key = first + threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
    const float scale = rsqrtf((float)shape.size), log2_e = 1.44269504f;
    const int rows = row * HOPPER_ROW_BYTES; // of k and v, this warpgroup's
    const int box_k = tile::HALVES_HEAD ? consumer * box_bytes : 0, box_signals = consumer * box_bytes - box_k;
    float sums_k[Size / 2], sums_v[Size / 2], score[queries / 2], product[queries / 2], part[PART_SUMS];
    ring_place &at = state.at;
#pragma unroll
    for (int i = 0; i < Size / 2; i++)
        sums_k[i] = sums_v[i] = 0;

    auto start_scores = [&]() {
        mbarrier_wait(&barriers->full_q[at.stage], at.phase);
        wgmma_fence();
        start_products<Element, Size, KEYS, queries>(score, memory.k() + rows, memory.q(at.stage));
    };
    // From the scores to the signals, and what is added for this block's keys.
    auto add_keys = [&](int number) {
        float weights[queries / 2];
        uint32_t packed[queries / STEP][4], signals[queries / STEP][4];
        mbarrier_wait(&barriers->full_o[at.stage], at.phase);
        wgmma_fence();
        start_products<Element, Size, KEYS, queries>(product, memory.v() + rows, memory.o(at.stage));
        wgmma_wait<1>(); // for the scores
        wgmma_settle(score);
        weigh<queries>(weights, score, memory.logs(at.stage), scale * log2_e);
        if (first + WARPGROUP_ROWS > shape.keys || (shape.causal && first + WARPGROUP_ROWS - 1 > number * queries))
            hide<queries>(weights, shape, key, number * queries);
        pack<Element, queries>(packed, weights);
        wgmma_fence();
        start_sums<Element, Size, queries>(sums_v, packed, memory.o(at.stage), 1);
        wgmma_wait<1>(); // for the products
        wgmma_settle(product);
        find_signals<Element, queries>(signals, product, weights, memory.means(at.stage));
        wgmma_fence();
        start_sums<Element, Size, queries>(sums_k, signals, memory.q(at.stage), 1);
        write_rows<queries>(memory.signals(state.side), signals, row);
        tma_fence_written();
        // The signals are there for both warpgroups. Both have waited for their parts of the tile before: what it was
        // made from may be overwritten. And no thread needs the logs and means any more.
        asm volatile("bar.sync %0, %1;" ::"n"((int)SIGNAL_BARRIER), "n"((int)CONSUMER_THREADS) : "memory");
        wgmma_wait<0>(); // once per tile: otherwise the compiler finds no registers for all sums
        release(&barriers->empty_q[at.stage]);
        release(&barriers->empty_o[at.stage]);
        at = at.next();
    };
    auto start_part_of = [&]() {
        wgmma_fence();
        start_part<Element>(part, memory.signals(state.side) + box_signals, memory.k() + box_k);
        state.side ^= 1;
    };

    if (begin < end) { // otherwise nothing is loaded, and nothing on its way to v's rows, which the stores use
        mbarrier_wait(&barriers->full_k, state.phase);
        start_scores();
        mbarrier_wait(&barriers->full_v, state.phase);
        state.phase ^= 1;
        add_keys(begin);
        for (int number = begin; number + 1 < end; number++) {
            start_part_of();
            start_scores();
            wgmma_wait<1>(); // for the part
            wgmma_settle(part);
            add_sums(sums + (size_t)number * tile_sums, part);
            add_keys(number + 1);
        }
        start_part_of();
        wgmma_wait<0>();
        wgmma_settle(part);
        release(&barriers->empty_k);
        add_sums(sums + (size_t)(end - 1) * tile_sums, part);
    }
    wgmma_settle(sums_k);
    wgmma_settle(sums_v);
    // This warpgroup alone read these rows of v, and needs them no more.
    store_keys<Element, Size>(&maps.grad_v, memory.v(), sums_v, 1, consumer, first, now.head);
    store_keys<Element, Size>(&maps.grad_k, memory.v(), sums_k, scale, consumer, first, now.head);
    if (begin < end)
        release(&barriers->empty_v);
}

// logs, means, sums: as of attention_pass_begin
template <typename Element, int Size>
__global__ void __launch_bounds__(THREADS, 1)
    attention_pass(const attention_shape shape, const __grid_constant__ pass_maps maps, int group, const float *logs,
                   const float *means, float4 *sums)
{
    typedef hopper_backward<Size> tile;
    extern __shared__ unsigned char shared[];
    __shared__ pipeline barriers;
    const block_memory<Size> memory = {shared + (HOPPER_ROWS_BYTES - hopper_shared(shared) % HOPPER_ROWS_BYTES) %
                                                    HOPPER_ROWS_BYTES};
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / HOPPER_WARPGROUP, 0); // the same for the whole warp
    if (threadIdx.x == 0) {
        mbarrier_init(&barriers.full_k, 1);
        mbarrier_init(&barriers.full_v, 1);
        mbarrier_init(&barriers.empty_k, CONSUMER_WARPS);
        mbarrier_init(&barriers.empty_v, CONSUMER_WARPS);
        for (int i = 0; i < STAGES; i++) {
            mbarrier_init(&barriers.full_q[i], 1);
            mbarrier_init(&barriers.full_o[i], 1);
            mbarrier_init(&barriers.empty_q[i], CONSUMER_WARPS);
            mbarrier_init(&barriers.empty_o[i], CONSUMER_WARPS);
        }
        mbarrier_init_fence();
    }
    __syncthreads();
    if (warpgroup == 0) {
        registers_give_back<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0)
            produce<Size>(shape, maps, memory, &barriers, group, logs, means);
    } else {
        registers_take<CONSUMER_REGISTERS>();
        const int consumer = warpgroup - 1, part_sums = PART * PART / 4;
        pass_state state = {{0, 0}, 0, 0};
        for (int index = blockIdx.x; index < count_jobs(shape); index += gridDim.x) {
            const job now = find_job<Size>(shape, index, group);
            const size_t row = (size_t)now.head * now.end * tile::QUERIES; // of padded rows
            consume<Element, Size>(shape, maps, memory, &barriers, consumer, now, state,
                                   sums + row * (Size / 4) + consumer * part_sums + threadIdx.x % HOPPER_WARPGROUP);
        }
    }
}

// --- launch ----------------------------------------------------------------------------------------------------------

template <typename Element, int Size> static heddle_status launch_size(const heddle_call *call)
{
    typedef hopper_backward<Size> tile;
    const attention_shape *shape = (const attention_shape *)call->shape;
    const long long heads = (long long)shape->batch * shape->heads;
    const int tiles = (int)heddle_ceil_div(shape->queries, tile::QUERIES), padded = tiles * tile::QUERIES;
    const size_t rows = (size_t)heads * padded;
    float *sums = (float *)call->workspace, *logs = sums + rows * Size, *means = logs + rows;
    const Element *output = (const Element *)call->input[3], *grad_output = (const Element *)call->input[5];
    pass_maps maps;
    HEDDLE_TRY((map_heads<Element, Size>(&maps.q, call->input[0], heads, shape->queries, tile::QUERIES)));
    HEDDLE_TRY((map_heads<Element, Size>(&maps.k, call->input[1], heads, shape->keys, KEYS)));
    HEDDLE_TRY((map_heads<Element, Size>(&maps.v, call->input[2], heads, shape->keys, KEYS)));
    HEDDLE_TRY((map_heads<Element, Size>(&maps.o, grad_output, heads, shape->queries, tile::QUERIES)));
    HEDDLE_TRY((map_heads<Element, Size>(&maps.grad_k, call->output[1], heads, shape->keys, WARPGROUP_ROWS)));
    HEDDLE_TRY((map_heads<Element, Size>(&maps.grad_v, call->output[2], heads, shape->keys, WARPGROUP_ROWS)));
    cudaStream_t stream = heddle_cuda_stream_of(call);
    auto kernel = attention_pass<Element, Size>;
    const int bytes = tile::SHARED_BYTES;
    HEDDLE_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    // A head's q and grad_output are read by all its blocks, its sums are read and written.
    const int group = hopper_group((size_t)padded * Size * (2 * sizeof(Element) + sizeof(float)), heads);
    attention_pass_begin<Element, Size><<<heddle_cuda_blocks(rows * Size / 8), HEDDLE_CUDA_BLOCK, 0, stream>>>(
        shape->queries, padded, output, grad_output, (const float *)call->input[4], logs, means, (float4 *)sums);
    // With a diagonal jobs are of unlike length: the GPU hands them out one by one. Otherwise a block goes from job to
    // job, and loads for the next while it ends one.
    const unsigned jobs = heddle_ceil_div(shape->keys, KEYS) * (unsigned)heads;
    const unsigned multiprocessors = (unsigned)heddle_cuda_multiprocessors();
    const unsigned blocks = shape->causal || jobs < multiprocessors ? jobs : multiprocessors;
    kernel<<<blocks, THREADS, bytes, stream>>>(*shape, maps, group, logs, means, (float4 *)sums);
    attention_pass_end<Element, Size><<<(unsigned)(heads * tiles), CONSUMER_THREADS, 0, stream>>>(
        shape->queries, tiles, 1 / sqrtf((float)Size), (const float4 *)sums, (Element *)call->output[0]);
    return heddle_cuda_launched("07_wgmma_one_pass");
}

// The table says which sizes come here; TMA takes operands at multiples of 16 bytes.
template <typename Element> static heddle_status launch(const heddle_call *call, heddle_launcher *otherwise)
{
    const attention_shape *shape = (const attention_shape *)call->shape;
    const size_t others = (size_t)call->input[2] | (size_t)call->input[3] | (size_t)call->input[5] |
                          (size_t)call->output[1] | (size_t)call->output[2];
    if (!tma_takes(call) || others % 16 != 0)
        return otherwise(call);
    return shape->size == 64 ? launch_size<Element, 64>(call) : launch_size<Element, 128>(call);
}

static heddle_status launch_bf16(const heddle_call *call)
{
    return launch<__nv_bfloat16>(call, heddle_attention_bf16_backward_mma_sync);
}

static heddle_status launch_fp16(const heddle_call *call)
{
    return launch<__half>(call, heddle_attention_fp16_backward_mma_sync);
}

HEDDLE_CUDA_RUNG("attention_bf16_backward", "07_wgmma_one_pass", launch_bf16)
HEDDLE_CUDA_RUNG("attention_fp16_backward", "07_wgmma_one_pass", launch_fp16)
