// matmul, fp32 class, rung 16: a float is the sum of three bfloat16 numbers, and a product of floats is six bfloat16
// products, by wgmma.
//
// Rung 15 split every fragment in registers, each element once for every warp that multiplies with it, and mma.sync
// reaches little more than half of the rate of Hopper's tensor cores. Here a first kernel splits both operands once. A
// float is the sum of three bfloat16 (8 bits of mantissa each: all 24). The parts go to a workspace, in the order in
// which wgmma reads shared memory. Whatever the layout, alignment or raggedness of an operand, its parts lie along k,
// padded with zeros to whole tiles, and a pipeline stage is three plain copies.
//
// Six of the nine products of parts count: 0 0, 0 1, 1 0, 1 1, 0 2, 2 0. The others are below float32's last bit.
// bfloat16 products are twice as fast as tf32, so six of them take the time of three. parts.h explains how a sum stays
// float32 and what happens to infinities.
//
// One persistent block per SM computes tile after tile. One thread fills stages of 32 steps of k. Two warpgroups
// multiply 64 rows each by all columns of the tile: twelve wgmmas from zero, small products first, whose sums are then
// added to the running sums. The warpgroups issue alternately, so the tensor cores work for one while the other adds.
// An output with few tiles is cut into narrower ones, of 64 columns; if even those are too few, k is split over several
// blocks.
//
// Limited by: the tensor cores and their power: with six products for one, a sixth of the bf16 rate at best. Small
// shapes wait for the first kernel, which moves 10 bytes per float, and for the first stage of the second.

#include <cuda_bf16.h>

#include "ops/cuda/dependent.h"
#include "ops/cuda/hopper.h"
#include "ops/matmul/parts_cuda.h"

enum {
    PARTS = HEDDLE_BF16X6_PARTS,
    DEPTH = HEDDLE_PARTS_DEPTH, // k of a stage
    STEP_K = 16,                // k of one wgmma
    CHUNK = 8,                  // bfloat16 in 16 bytes: adjacent along k
    PRODUCTS = 6,
    PANEL_M = HEDDLE_BF16X6_PANEL_M,
    CONSUMERS = 2, // warpgroups that multiply, one panel of a each
    TILE_M = HEDDLE_BF16X6_TILE_M,
    ELEMENT = sizeof(__nv_bfloat16),
    BYTES_A = PANEL_M * DEPTH * PARTS * ELEMENT,                 // of a panel in a stage
    STAGES_BYTES = 4 * (TILE_M + 128) * DEPTH * PARTS * ELEMENT, // nearly all that a block can have
    MOST_STAGES = 5,
    THREADS = (1 + CONSUMERS) * HOPPER_WARPGROUP,
    WARPS = CONSUMERS * HOPPER_WARPGROUP / 32, // that multiply
    // 65536 registers per SM: the producer needs few, a consumer needs 128 for its sums alone.
    PRODUCER_REGISTERS = 40,
    CONSUMER_REGISTERS = 232,
    PACK_THREADS = 256,
    PACK_ROWS = 32,                            // rows of an operand along k that a block packs, one per lane of a warp
    PACK_K = PACK_THREADS / PACK_ROWS * CHUNK, // and k of each
};
static_assert(TILE_M == CONSUMERS * PANEL_M, "a panel each");

// --- the operands in parts -------------------------------------------------------------------------------------------

// A packed operand: panels of rows, each made of stages of k, each of parts, each of 16-byte chunks along k, each with
// one chunk per row of the panel: (panels, stages, PARTS, DEPTH / CHUNK, panel, CHUNK).
struct packed {
    __nv_bfloat16 *data;
    int panel, rows, stages; // rows, in whole panels
};

__device__ static uint32_t pair_of(float first, float second)
{
    const __nv_bfloat162 two = __floats2bfloat162_rn(first, second);
    return *(const uint32_t *)&two;
}

// Two floats minus their nearest bfloat16: exact if they are finite.
__device__ static uint32_t take_part(float *first, float *second)
{
    const uint32_t pair = pair_of(*first, *second), upper = 0xffff0000u;
    *first -= __uint_as_float(pair << 16);
    *second -= __uint_as_float(pair & upper);
    return pair;
}

// What a thread packs: eight floats of a row. A block takes 32 rows by 64 steps of k if rows lie along k, else 256 rows
// by 8 steps. Either way it reads whole cache lines, and a warp writes 512 bytes of each part.
struct pack_place {
    int row, chunk;
};

__device__ static pack_place load_chunk(float (&values)[CHUNK], const matmul_operand &from, const packed &to, int block)
{
    __shared__ float tile[PACK_ROWS][PACK_K + 1]; // padded: the lanes of a warp read down a column
    const int thread = threadIdx.x;
    if (!matmul_along_k(from)) {
        const int down = (to.rows - 1) / PACK_THREADS + 1;
        const pack_place place = {block % down * PACK_THREADS + thread, block / down};
#pragma unroll
        for (int i = 0; i < CHUNK; i++)
            values[i] = matmul_at(from, place.row, place.chunk * CHUNK + i);
        return place;
    }
    const int down = to.rows / PACK_ROWS, row = block % down * PACK_ROWS, k = block / down * PACK_K;
#pragma unroll
    for (int i = 0; i < PACK_ROWS * PACK_K; i += PACK_THREADS)
        tile[(i + thread) / PACK_K][thread % PACK_K] =
            matmul_at(from, row + (i + thread) / PACK_K, k + thread % PACK_K);
    __syncthreads();
    const pack_place place = {row + thread % PACK_ROWS, k / CHUNK + thread / PACK_ROWS};
#pragma unroll
    for (int i = 0; i < CHUNK; i++)
        values[i] = tile[thread % PACK_ROWS][thread / PACK_ROWS * CHUNK + i];
    return place;
}

__global__ static void __launch_bounds__(PACK_THREADS)
    matmul_pack_parts(matmul_operand a, packed to_a, matmul_operand b, packed to_b, int blocks_a)
{
    heddle_release_next();
    const bool is_a = (int)blockIdx.x < blocks_a;
    const matmul_operand from = is_a ? a : b;
    const packed to = is_a ? to_a : to_b;
    const int chunks = DEPTH / CHUNK; // per stage
    float values[CHUNK];
    const pack_place place = load_chunk(values, from, to, blockIdx.x - (is_a ? 0 : blocks_a));
    if (place.row >= to.rows || place.chunk >= to.stages * chunks)
        return;
    const size_t stage = (size_t)(place.row / to.panel) * to.stages + place.chunk / chunks;
    const int within = (place.chunk % chunks * to.panel + place.row % to.panel) * CHUNK;
    __nv_bfloat16 *first = to.data + stage * PARTS * to.panel * DEPTH + within;
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        uint4 pairs;
        pairs.x = take_part(&values[0], &values[1]);
        pairs.y = take_part(&values[2], &values[3]);
        pairs.z = take_part(&values[4], &values[5]);
        pairs.w = take_part(&values[6], &values[7]);
        *(uint4 *)(first + (size_t)part * to.panel * DEPTH) = pairs;
    }
}

// --- products --------------------------------------------------------------------------------------------------------

// d (64, columns of b) = a (64, 16) * b (16, columns) + (add ? d : 0)
HOPPER_DEVICE void product(float (&d)[64], uint64_t a, uint64_t b, int add)
{
    wgmma_m64n128k16_bf16<0, 0>(d, a, b, add);
}
HOPPER_DEVICE void product(float (&d)[32], uint64_t a, uint64_t b, int add)
{
    wgmma_m64n64k16_bf16<0, 0>(d, a, b, add);
}

// Where a packed part of `panel` rows lies: chunks of one row are a panel of chunks apart, eight rows are adjacent.
HOPPER_DEVICE uint64_t part_descriptor(const void *shared, int panel)
{
    const uint64_t address = (hopper_shared(shared) & 0x3ffff) >> 4, chunk_bytes = CHUNK * ELEMENT;
    return address | (uint64_t)panel << 16 | (uint64_t)(8 * chunk_bytes >> 4) << 32;
}

// Issues the products of a stage: part (64, columns) = a (64, DEPTH) * b (DEPTH, columns), small products first.
template <int Columns>
HOPPER_DEVICE void multiply_stage(float (&part)[Columns / 2], const unsigned char *a, const unsigned char *b)
{
    const int part_a[PRODUCTS] = {2, 0, 1, 1, 0, 0}, part_b[PRODUCTS] = {0, 2, 1, 0, 1, 0};
    const uint64_t descriptor_a = part_descriptor(a, PANEL_M), descriptor_b = part_descriptor(b, Columns);
#pragma unroll
    for (int i = 0; i < PRODUCTS; i++)
#pragma unroll
        for (int k = 0; k < DEPTH; k += STEP_K)
            product(part, wgmma_descriptor_at(descriptor_a, (part_a[i] * DEPTH + k) * PANEL_M * ELEMENT),
                    wgmma_descriptor_at(descriptor_b, (part_b[i] * DEPTH + k) * Columns * ELEMENT), i + k > 0);
}

// --- the kernel ------------------------------------------------------------------------------------------------------

template <int Columns> struct tile {
    enum {
        BYTES_B = Columns * DEPTH * PARTS * ELEMENT, // per stage
        STAGE_BYTES = CONSUMERS * BYTES_A + BYTES_B,
        STAGES =
            (int)STAGES_BYTES / STAGE_BYTES < (int)MOST_STAGES ? (int)STAGES_BYTES / STAGE_BYTES : (int)MOST_STAGES,
        SHARED_BYTES = STAGES * STAGE_BYTES + WARPS * PARTS_BLOCK_FLOATS * sizeof(float), // and the output buffers
        SUMS = Columns / 2,                                                               // per thread
    };
};

// Barriers of the stages. full counts bytes, empty counts the multiplying warps.
struct pipeline {
    uint64_t full[MOST_STAGES], empty[MOST_STAGES];
};

// A place in the ring of stages.
struct stage {
    int index;
    unsigned phase;
};

template <int Stages> __device__ static void advance(stage *at)
{
    if (++at->index == Stages) {
        at->index = 0;
        at->phase ^= 1;
    }
}

template <int Columns> __device__ static int work_count(const parts_task &task)
{
    return ((task.shape.m - 1) / TILE_M + 1) * ((task.shape.n - 1) / Columns + 1) * task.splits;
}

// One thread fills stages as they become free.
template <int Columns>
__device__ static void produce(const parts_task &task, const packed &a, const packed &b, unsigned char *stages,
                               pipeline *barriers)
{
    typedef tile<Columns> T;
    const unsigned char *data_a = (const unsigned char *)a.data, *data_b = (const unsigned char *)b.data;
    stage at = {0, 0};
    for (int index = blockIdx.x; index < work_count<Columns>(task); index += gridDim.x) {
        const parts_work now = parts_work_of(task, TILE_M, Columns, a.stages, index);
        for (int s = now.begin; s < now.end; s++) {
            unsigned char *place = stages + at.index * T::STAGE_BYTES;
            uint64_t *full = &barriers->full[at.index];
            mbarrier_wait(&barriers->empty[at.index], at.phase ^ 1);
            mbarrier_arrive_expect(full, T::STAGE_BYTES);
            bulk_load(place + CONSUMERS * BYTES_A, data_b + ((size_t)now.column * b.stages + s) * T::BYTES_B,
                      T::BYTES_B, full);
            for (int i = 0; i < CONSUMERS; i++)
                bulk_load(place + i * BYTES_A, data_a + ((size_t)(now.row * CONSUMERS + i) * a.stages + s) * BYTES_A,
                          BYTES_A, full);
            advance<T::STAGES>(&at);
        }
    }
}

// Stores the warp's 16 rows of a tile, 32 columns at a time. (row, column) is the first of them.
template <int Columns>
__device__ static void store(const parts_task &task, const float (&sums)[Columns / 2], int split, int row, int column,
                             float *buffer)
{
    const bool finite = task.partial || parts_finite<Columns / 2>(sums);
    float *output = parts_output(task, split);
    const bool turned = __all_sync(~0u, finite) && !parts_whole_sectors(task, output);
#pragma unroll
    for (int i = 0; i < Columns / PARTS_BLOCK_COLUMNS; i++) {
        const int first = column + i * PARTS_BLOCK_COLUMNS;
        if (turned)
            parts_store_block_turned(task, output, row, first, sums + i * PARTS_BLOCK_SUMS, buffer,
                                     [] { __syncwarp(); });
        else if (finite)
            parts_store_block(task, output, row, first, sums + i * PARTS_BLOCK_SUMS);
        else
            parts_store_again(task, row, first);
    }
}

// A warpgroup's 64 rows of every tile.
template <int Columns>
__device__ static void consume(const parts_task &task, int all_stages, unsigned char *stages, pipeline *barriers,
                               int consumer)
{
    typedef tile<Columns> T;
    stage at = {0, 0};
    if (consumer == 1)
        hopper_turn_end(consumer); // the other one goes first
    for (int index = blockIdx.x; index < work_count<Columns>(task); index += gridDim.x) {
        const parts_work now = parts_work_of(task, TILE_M, Columns, all_stages, index);
        float sums[T::SUMS] = {0};
        for (int s = now.begin; s < now.end; s++) {
            const unsigned char *place = stages + at.index * T::STAGE_BYTES;
            float part[T::SUMS];
            mbarrier_wait(&barriers->full[at.index], at.phase);
            hopper_turn_begin(consumer);
            wgmma_settle(part);
            wgmma_fence();
            multiply_stage<Columns>(part, place + consumer * BYTES_A, place + CONSUMERS * BYTES_A);
            wgmma_commit();
            hopper_turn_end(consumer);
            wgmma_wait<0>();
            wgmma_settle(part);
            if (threadIdx.x % 32 == 0)
                mbarrier_arrive(&barriers->empty[at.index]);
#pragma unroll
            for (int i = 0; i < T::SUMS; i++)
                sums[i] += part[i];
            advance<T::STAGES>(&at);
        }
        const int warp = threadIdx.x / 32 % 4, row = now.row * TILE_M + consumer * PANEL_M + warp * PARTS_BLOCK_ROWS;
        store<Columns>(task, sums, now.split, row, now.column * Columns,
                       (float *)(stages + T::STAGES * T::STAGE_BYTES) + (consumer * 4 + warp) * PARTS_BLOCK_FLOATS);
    }
    if (consumer == 0)
        hopper_turn_begin(consumer); // no barrier is left half full
}

template <int Columns>
__global__ static void __launch_bounds__(THREADS, 1) matmul_bf16x6(parts_task task, packed a, packed b)
{
    extern __shared__ __align__(128) unsigned char shared[];
    __shared__ pipeline barriers;
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / HOPPER_WARPGROUP, 0); // the same for the whole warp
    if (threadIdx.x == 0) {
        for (int i = 0; i < tile<Columns>::STAGES; i++) {
            mbarrier_init(&barriers.full[i], 1);
            mbarrier_init(&barriers.empty[i], WARPS);
        }
        mbarrier_init_fence();
    }
    __syncthreads();
    heddle_wait_for_previous();
    heddle_release_next();
    if (warpgroup == 0) {
        registers_give_back<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0)
            produce<Columns>(task, a, b, shared, &barriers);
    } else {
        registers_take<CONSUMER_REGISTERS>();
        consume<Columns>(task, a.stages, shared, &barriers, warpgroup - 1);
    }
}

// --- the launcher ----------------------------------------------------------------------------------------------------

static packed packed_of(void *data, int rows, int tile_rows, int panel, int k)
{
    return {(__nv_bfloat16 *)data, panel, (int)heddle_ceil_div(rows, tile_rows) * tile_rows,
            (int)heddle_ceil_div(k, DEPTH)};
}

static unsigned pack_blocks(const matmul_operand &from, const packed &to)
{
    const int k = to.stages * DEPTH;
    return from.k_stride == 1 ? to.rows / PACK_ROWS * heddle_ceil_div(k, PACK_K)
                              : heddle_ceil_div(to.rows, PACK_THREADS) * (k / CHUNK);
}

// Errors here are caught by the launcher's last line.
template <int Columns> static void start(const parts_task &task, const packed &a, const packed &b, cudaStream_t stream)
{
    typedef tile<Columns> T;
    cudaFuncSetAttribute(matmul_bf16x6<Columns>, cudaFuncAttributeMaxDynamicSharedMemorySize, T::SHARED_BYTES);
    const unsigned work = heddle_ceil_div(task.shape.m, TILE_M) * heddle_ceil_div(task.shape.n, Columns) * task.splits;
    const unsigned processors = heddle_cuda_multiprocessors();
    heddle_cuda_launch_dependent(matmul_bf16x6<Columns>, work < processors ? work : processors, THREADS,
                                 T::SHARED_BYTES, stream, task, a, b);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    if (shape->m == 0 || shape->n == 0)
        return HEDDLE_OK;
    const heddle_parts_plan plan = heddle_bf16x6_plan(shape);
    const int columns = heddle_bf16x6_tiles[plan.tile].n;
    unsigned char *memory = (unsigned char *)call->workspace;
    const packed a = packed_of(memory, shape->m, TILE_M, PANEL_M, shape->k);
    memory += heddle_bf16x6_packed(shape->m, TILE_M, shape->k);
    const packed b = packed_of(memory, shape->n, columns, columns, shape->k);
    memory += heddle_bf16x6_packed(shape->n, columns, shape->k);
    const parts_task task = parts_task_of(call, plan.splits, memory);
    cudaStream_t stream = heddle_cuda_stream_of(call);
    const unsigned blocks_a = pack_blocks(task.a, a), blocks_b = pack_blocks(task.b, b);
    if (blocks_a + blocks_b > 0) // none if k is 0
        matmul_pack_parts<<<blocks_a + blocks_b, PACK_THREADS, 0, stream>>>(task.a, a, task.b, b, blocks_a);
    columns == 128 ? start<128>(task, a, b, stream) : start<64>(task, a, b, stream);
    parts_add_splits(task, stream);
    return heddle_cuda_launched("16_bf16x6_wgmma");
}

HEDDLE_CUDA_RUNG("matmul_forward", "16_bf16x6_wgmma", launch)
