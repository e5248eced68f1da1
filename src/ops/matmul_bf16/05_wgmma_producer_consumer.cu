// matmul_bf16, rung 5: one warpgroup loads and two multiply.
//
// Rung 4 alternated between loading and multiplying. Here the roles are separate. One thread of the producer keeps
// STAGES tiles in flight, and waits only for a free stage. The consumers wait only for a full stage, and always have a
// group of products in flight. Two consumers with 64 rows each share the 256 columns of b: 128 * 256 products need 128
// + 256 elements. The producer needs hardly any registers and gives them to the consumers, whose 64 x 256 sums take 128
// per thread.
//
// Limited by: the start and end of each block. A block starts with an empty pipeline and ends with stores while no
// product runs. It fills the SM, so no other block works meanwhile. And each block loads its own copy of a strip of b
// from L2, though its neighbours above and below need the same strip.

#include <cuda_bf16.h>

#include "heddle/ops.h"
#include "ops/cuda/hopper.h"
#include "ops/cuda/rung.h"
#include "ops/matmul_bf16/matmul_bf16_cuda.h"

enum {
    CONSUMERS = 2,           // warpgroups that multiply, 64 rows of the tile each
    TILE_M = 64 * CONSUMERS, // rows of the output per block
    TILE_N = 256,            // columns: the most one wgmma handles
    TILE_K = 64,             // 128 bytes of k: a row of a box
    STEP_K = 16,             // k of one wgmma
    STAGES = 4,              // 48 KiB each: what shared memory holds
    BOX = 64,                // columns of an M-major box
    BOX_BYTES = BOX * HOPPER_ROW_BYTES,
    A_BYTES = TILE_M * HOPPER_ROW_BYTES,
    B_BYTES = TILE_N * HOPPER_ROW_BYTES,
    STAGE_BYTES = A_BYTES + B_BYTES,
    SHARED_BYTES = STAGES * STAGE_BYTES + HOPPER_ROWS_BYTES,
    THREADS = (1 + CONSUMERS) * HOPPER_WARPGROUP,
    // 65536 registers per SM: the producer needs few, a consumer needs 128 for its tile alone.
    PRODUCER_REGISTERS = 40,
    CONSUMER_REGISTERS = 232,
};

// Barriers of the stages. full counts bytes, empty counts consumers.
struct pipeline {
    uint64_t full[STAGES], empty[STAGES];
};

// A place in the ring of stages.
struct stage {
    int index;
    unsigned phase;
};

__device__ static void advance(stage *at)
{
    if (++at->index == STAGES) {
        at->index = 0;
        at->phase ^= 1;
    }
}

// One thread fills stages as they become free.
template <int MMajorA, int MMajorB>
__device__ static void produce(const CUtensorMap *map_a, const CUtensorMap *map_b, unsigned char *stages,
                               pipeline *barriers, int row, int column, int k)
{
    stage at = {0, 0};
    for (int p = 0; p < k; p += TILE_K) {
        unsigned char *a = stages + at.index * STAGE_BYTES, *b = a + A_BYTES;
        uint64_t *full = &barriers->full[at.index];
        mbarrier_wait(&barriers->empty[at.index], at.phase ^ 1);
        mbarrier_arrive_expect(full, STAGE_BYTES);
        if (!MMajorA)
            tma_load(a, map_a, p, row, full);
        for (int box = 0; MMajorA && box < TILE_M / BOX; box++)
            tma_load(a + box * BOX_BYTES, map_a, row + box * BOX, p, full);
        if (!MMajorB)
            tma_load(b, map_b, p, column, full);
        for (int box = 0; MMajorB && box < TILE_N / BOX; box++)
            tma_load(b + box * BOX_BYTES, map_b, column + box * BOX, p, full);
        advance(&at);
    }
}

__device__ static void release(pipeline *barriers, int index)
{
    if (threadIdx.x % HOPPER_WARPGROUP == 0)
        mbarrier_arrive(&barriers->empty[index]);
}

// This warpgroup's 64 rows of the tile: sums (64, 256) over all k. One group of products is always in flight.
template <int MMajorA, int MMajorB>
__device__ static void consume(float (&sums)[128], const unsigned char *stages, pipeline *barriers, int k, int consumer)
{
    const int next_a = MMajorA ? STEP_K * HOPPER_ROW_BYTES : STEP_K * (int)sizeof(__nv_bfloat16);
    const int next_b = MMajorB ? STEP_K * HOPPER_ROW_BYTES : STEP_K * (int)sizeof(__nv_bfloat16);
    stage at = {0, 0};
    int before = -1;
    for (int p = 0; p < k; p += TILE_K) {
        const unsigned char *tile = stages + at.index * STAGE_BYTES;
        uint64_t a = wgmma_descriptor(tile + consumer * BOX_BYTES, BOX_BYTES);
        uint64_t b = wgmma_descriptor(tile + A_BYTES, BOX_BYTES);
        mbarrier_wait(&barriers->full[at.index], at.phase);
        wgmma_fence();
        for (int step = 0; step < TILE_K / STEP_K; step++)
            wgmma_m64n256k16_bf16<MMajorA, MMajorB>(sums, wgmma_descriptor_at(a, step * next_a),
                                                    wgmma_descriptor_at(b, step * next_b), p + step > 0);
        wgmma_commit();
        wgmma_wait<1>();
        if (before >= 0)
            release(barriers, before);
        before = at.index;
        advance(&at);
    }
    wgmma_wait<0>();
}

// a: (m, k) or M-major (k, m); b: (n, k) or M-major (k, n); output: (m, n)
template <int MMajorA, int MMajorB>
__global__ void __launch_bounds__(THREADS, 1)
    matmul_bf16_producer_consumer(const heddle_matmul_shape shape, const __grid_constant__ CUtensorMap map_a,
                                  const __grid_constant__ CUtensorMap map_b, __nv_bfloat16 *output)
{
    extern __shared__ unsigned char shared[];
    __shared__ pipeline barriers;
    unsigned char *stages =
        shared + (HOPPER_ROWS_BYTES - hopper_shared(shared) % HOPPER_ROWS_BYTES) % HOPPER_ROWS_BYTES;
    const int across = (shape.n - 1) / TILE_N + 1; // tiles per row of tiles
    const int row = blockIdx.x / across * TILE_M, column = blockIdx.x % across * TILE_N;
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / HOPPER_WARPGROUP, 0); // the same for the whole warp
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            mbarrier_init(&barriers.full[i], 1);
            mbarrier_init(&barriers.empty[i], CONSUMERS);
        }
        mbarrier_init_fence();
    }
    __syncthreads();
    if (warpgroup == 0) {
        registers_give_back<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0)
            produce<MMajorA, MMajorB>(&map_a, &map_b, stages, &barriers, row, column, shape.k);
    } else {
        registers_take<CONSUMER_REGISTERS>();
        float sums[128];
        consume<MMajorA, MMajorB>(sums, stages, &barriers, shape.k, warpgroup - 1);
        matmul_bf16_store(sums, &shape, output, row + (warpgroup - 1) * 64, column);
    }
}

template <int MMajorA, int MMajorB> static heddle_status launch_layout(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    const int m = shape->m, n = shape->n, k = shape->k, size = sizeof(__nv_bfloat16);
    const CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    CUtensorMap a, b;
    heddle_status status =
        tma_map(&a, type, size, call->input[0], MMajorA ? k : m, MMajorA ? m : k, MMajorA ? (int)TILE_K : (int)TILE_M);
    if (status == HEDDLE_OK)
        status = tma_map(&b, type, size, call->input[1], MMajorB ? k : n, MMajorB ? n : k,
                         MMajorB ? (int)TILE_K : (int)TILE_N);
    if (status != HEDDLE_OK)
        return status;
    auto kernel = matmul_bf16_producer_consumer<MMajorA, MMajorB>;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    unsigned blocks = heddle_ceil_div(m, TILE_M) * heddle_ceil_div(n, TILE_N);
    kernel<<<blocks, THREADS, SHARED_BYTES, stream>>>(*shape, a, b, (__nv_bfloat16 *)call->output[0]);
    return heddle_cuda_launched("05_wgmma_producer_consumer");
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    if (!tma_takes(call))
        return heddle_matmul_bf16_mma_sync(call);
    if (shape->transpose_a)
        return shape->transpose_b ? launch_layout<1, 0>(call) : launch_layout<1, 1>(call);
    return shape->transpose_b ? launch_layout<0, 0>(call) : launch_layout<0, 1>(call);
}

HEDDLE_CUDA_RUNG("matmul_bf16_forward", "05_wgmma_producer_consumer", launch)
