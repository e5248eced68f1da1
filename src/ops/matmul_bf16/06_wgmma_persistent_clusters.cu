// matmul_bf16, rung 6: blocks that stay, in clusters of two that share what they load.
//
// Rung 5 paid for every tile's beginning (barriers, an empty pipeline) and end (stores while no product ran), and every
// block fetched its own copy of a strip of b from L2. Here a block takes tile after tile: its producer fills stages
// with the next one's while its consumers finish the last. Rounded to bf16, a finished tile takes half as many
// registers as its sums, so that it can wait there and go out piece by piece behind the first products of the next: by
// stmatrix to shared memory, swizzled so that no two lanes meet in a bank, and from there by TMA, which writes whole
// lines and clips what lies outside. Two blocks that sit above each other in the output form a cluster; each fetches
// its own 128 rows of a and one half of the 256 columns of b, which the copy engine delivers to both.
//
// Tiles are taken in bands of GROUP_ROWS tile rows, so that the blocks at work at one time form a near square of the
// output and read the fewest rows of a and columns of b from device memory.
//
// Limited by: the tensor cores, and the power they draw: clocks fall before anything else is full. A warpgroup reads
// (64 + 256) * 16 * 2 bytes of shared memory for the 128 cycles of a wgmma, 5/8 of what it delivers.

#include <cuda_bf16.h>

#include "heddle/ops.h"
#include "ops/cuda/hopper.h"
#include "ops/cuda/rung.h"
#include "ops/matmul_bf16/matmul_bf16_cuda.h"

enum {
    CLUSTER = 2,
    CONSUMERS = 2,           // warpgroups that multiply, each 64 rows of the tile
    TILE_M = 64 * CONSUMERS, // rows of the output a block
    TILE_N = 256,            // columns: the most one wgmma does
    TILE_K = 64,             // 128 bytes of k: a row of a box
    STEP_K = 16,             // what one wgmma does
    STAGES = 4,              // 48 KiB each; what shared memory holds beside the way out
    GROUP_ROWS = 8,          // cluster tiles of 256 rows: 8 by 8 of 256 by 256 are about one wave of clusters
    BOX = 64,                // rows and columns of an M-major box and of the output's
    BOX_BYTES = BOX * HOPPER_ROW_BYTES,
    A_BYTES = TILE_M * HOPPER_ROW_BYTES,
    B_BYTES = TILE_N * HOPPER_ROW_BYTES,
    STAGE_BYTES = A_BYTES + B_BYTES,
    OUT_BOXES = 2, // of the output on their way to memory, for each consumer
    SHARED_BYTES = STAGES * STAGE_BYTES + CONSUMERS * OUT_BOXES * BOX_BYTES + HOPPER_ROWS_BYTES,
    THREADS = (1 + CONSUMERS) * HOPPER_WARPGROUP,
    // 65536 registers a multiprocessor: the producer needs few, a consumer 128 for its tile alone.
    PRODUCER_REGISTERS = 40,
    CONSUMER_REGISTERS = 232,
};

// Barriers of the stages: full counts bytes, empty counts the consumers of both blocks, because both are written to.
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

// The cluster's tiles, CLUSTER blocks high, and where number `index` of them starts.
__device__ static int tile_count(const heddle_matmul_shape *shape)
{
    return (shape->m + CLUSTER * TILE_M - 1) / (CLUSTER * TILE_M) * ((shape->n + TILE_N - 1) / TILE_N);
}

__device__ static void place_tile(const heddle_matmul_shape *shape, int index, int *row, int *column)
{
    int tiles_m = (shape->m + CLUSTER * TILE_M - 1) / (CLUSTER * TILE_M), tiles_n = (shape->n + TILE_N - 1) / TILE_N;
    int in_group = GROUP_ROWS * tiles_n, first = index / in_group * GROUP_ROWS;
    int rows = min(tiles_m - first, (int)GROUP_ROWS), rest = index % in_group;
    *row = (first + rest % rows) * CLUSTER * TILE_M;
    *column = rest / rows * TILE_N;
}

// One thread fills stages as they come free: 128 rows of a for this block, half of b's 256 columns for both.
template <int MMajorA, int MMajorB>
__device__ static void produce(const heddle_matmul_shape *shape, const CUtensorMap *map_a, const CUtensorMap *map_b,
                               unsigned char *stages, pipeline *barriers, unsigned rank)
{
    const uint16_t both = (1 << CLUSTER) - 1;
    const int half = TILE_N / CLUSTER;
    stage at = {0, 0};
    for (int tile = blockIdx.x / CLUSTER; tile < tile_count(shape); tile += gridDim.x / CLUSTER) {
        int row, column;
        place_tile(shape, tile, &row, &column);
        row += (int)rank * TILE_M;
        for (int p = 0; p < shape->k; p += TILE_K) {
            unsigned char *a = stages + at.index * STAGE_BYTES, *b = a + A_BYTES;
            uint64_t *full = &barriers->full[at.index];
            mbarrier_wait(&barriers->empty[at.index], at.phase ^ 1);
            mbarrier_arrive_expect(full, STAGE_BYTES);
            if (!MMajorA)
                tma_load(a, map_a, p, row, full);
            for (int box = 0; MMajorA && box < TILE_M / BOX; box++)
                tma_load(a + box * BOX_BYTES, map_a, row + box * BOX, p, full);
            if (!MMajorB)
                tma_load_multicast(b + rank * half * HOPPER_ROW_BYTES, map_b, p, column + (int)rank * half, full, both);
            for (int box = (int)rank * half; MMajorB && box < ((int)rank + 1) * half; box += BOX)
                tma_load_multicast(b + box * HOPPER_ROW_BYTES, map_b, column + box, p, full, both);
            advance(&at);
        }
    }
}

// Tells the producers of both blocks that this warpgroup has read a stage.
__device__ static void release(pipeline *barriers, int index)
{
    if (threadIdx.x % HOPPER_WARPGROUP < CLUSTER)
        mbarrier_arrive_at(&barriers->empty[index], threadIdx.x % HOPPER_WARPGROUP);
}

// The products of one stage; `first`: of a tile, whose sums they begin. On return those of the stage before are done,
// and it is released: one group of products is always in flight.
template <int MMajorA, int MMajorB>
__device__ static void multiply(float (&sums)[128], const unsigned char *stages, pipeline *barriers, stage *at,
                                bool first, int consumer)
{
    const int next_a = MMajorA ? STEP_K * HOPPER_ROW_BYTES : STEP_K * (int)sizeof(__nv_bfloat16);
    const int next_b = MMajorB ? STEP_K * HOPPER_ROW_BYTES : STEP_K * (int)sizeof(__nv_bfloat16);
    const unsigned char *tile = stages + at->index * STAGE_BYTES;
    uint64_t a = wgmma_descriptor(tile + consumer * BOX_BYTES, BOX_BYTES);
    uint64_t b = wgmma_descriptor(tile + A_BYTES, BOX_BYTES);
    mbarrier_wait(&barriers->full[at->index], at->phase);
    wgmma_fence();
    for (int step = 0; step < TILE_K / STEP_K; step++)
        wgmma_m64n256k16_bf16<MMajorA, MMajorB>(sums, wgmma_descriptor_at(a, step * next_a),
                                                wgmma_descriptor_at(b, step * next_b), !first || step > 0);
    wgmma_commit();
    wgmma_wait<1>();
    if (!first)
        release(barriers, at->index == 0 ? STAGES - 1 : at->index - 1);
    advance(at);
}

// packed = alpha * sums + beta * output, rounded: two columns in each. The output is read where it exists.
__device__ static void pack(uint32_t (&packed)[64], float (&sums)[128], const heddle_matmul_shape *shape,
                            const __nv_bfloat16 *output, int row, int column)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x % HOPPER_WARPGROUP / 32;
    if (shape->alpha != 1.0f)
        for (int i = 0; i < 128; i++)
            sums[i] *= shape->alpha;
    for (int i = 0; shape->beta != 0.0f && i < 128; i += 2) {
        int at_row = row + warp * 16 + i / 2 % 2 * 8 + lane / 4, at_column = column + i / 4 * 8 + lane % 4 * 2;
        if (at_row >= shape->m || at_column >= shape->n)
            continue;
        __nv_bfloat162 old = *(const __nv_bfloat162 *)&output[(size_t)at_row * shape->n + at_column];
        sums[i] += shape->beta * __low2float(old);
        sums[i + 1] += shape->beta * __high2float(old);
    }
    for (int i = 0; i < 64; i++) {
        __nv_bfloat162 pair = __floats2bfloat162_rn(sums[2 * i], sums[2 * i + 1]);
        packed[i] = *(uint32_t *)&pair;
    }
}

// 64 of the 256 columns of a packed tile (64, 256) to the output at (row, column), through shared memory.
__device__ static void store(const uint32_t (&packed)[64], int box, const CUtensorMap *map_output, unsigned char *boxes,
                             int row, int column, int consumer)
{
    int thread = threadIdx.x % HOPPER_WARPGROUP, lane = thread % 32, in_box = thread / 32 * 16 + lane % 16;
    unsigned char *place = boxes + box % OUT_BOXES * BOX_BYTES;
    if (thread == 0)
        tma_store_wait_read<OUT_BOXES - 1>();
    warpgroup_sync(1 + consumer);
    // 16 by 16 of a warp a time; chunks of 16 bytes swizzled by the row, as TMA reads them.
    for (int pair = 0; pair < BOX / 16; pair++) {
        int first = box * 16 + pair * 4, chunk = pair * 2 + lane / 16;
        stmatrix_x4(place + in_box * HOPPER_ROW_BYTES + (chunk ^ in_box % 8) * 16, packed[first], packed[first + 1],
                    packed[first + 2], packed[first + 3]);
    }
    tma_fence_written();
    warpgroup_sync(1 + consumer);
    if (thread == 0) {
        tma_store(map_output, place, column + box * BOX, row);
        tma_store_commit();
    }
}

// A warpgroup's 64 rows of every tile. A finished tile waits in `packed` and is stored behind the next one's products.
template <int MMajorA, int MMajorB>
__device__ static void consume(const heddle_matmul_shape *shape, const CUtensorMap *map_output,
                               const __nv_bfloat16 *output, unsigned char *stages, pipeline *barriers, unsigned rank,
                               int consumer)
{
    unsigned char *boxes = stages + STAGES * STAGE_BYTES + consumer * OUT_BOXES * BOX_BYTES;
    const int steps = (shape->k + TILE_K - 1) / TILE_K;
    stage at = {0, 0};
    float sums[128];
    uint32_t packed[64];
    int packed_row = -1, packed_column = 0; // -1: nothing waits
    for (int tile = blockIdx.x / CLUSTER; tile < tile_count(shape); tile += gridDim.x / CLUSTER) {
        int row, column;
        place_tile(shape, tile, &row, &column);
        row += (int)rank * TILE_M + consumer * 64;
#pragma unroll
        for (int box = 0; box < TILE_N / BOX; box++) {
            if (box < steps)
                multiply<MMajorA, MMajorB>(sums, stages, barriers, &at, box == 0, consumer);
            if (packed_row >= 0)
                store(packed, box, map_output, boxes, packed_row, packed_column, consumer);
        }
        for (int step = TILE_N / BOX; step < steps; step++)
            multiply<MMajorA, MMajorB>(sums, stages, barriers, &at, false, consumer);
        wgmma_wait<0>();
        release(barriers, at.index == 0 ? STAGES - 1 : at.index - 1);
        pack(packed, sums, shape, output, row, column);
        packed_row = row, packed_column = column;
    }
#pragma unroll
    for (int box = 0; box < TILE_N / BOX; box++)
        store(packed, box, map_output, boxes, packed_row, packed_column, consumer);
    if (threadIdx.x % HOPPER_WARPGROUP == 0)
        tma_store_wait_read<0>();
}

// a: (m, k) or M-major (k, m); b: (n, k) or M-major (k, n); output: (m, n)
template <int MMajorA, int MMajorB>
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
    matmul_bf16_persistent(const heddle_matmul_shape shape, const __grid_constant__ CUtensorMap map_a,
                           const __grid_constant__ CUtensorMap map_b, const __grid_constant__ CUtensorMap map_output,
                           const __nv_bfloat16 *output)
{
    extern __shared__ unsigned char shared[];
    __shared__ pipeline barriers;
    unsigned char *stages =
        shared + (HOPPER_ROWS_BYTES - hopper_shared(shared) % HOPPER_ROWS_BYTES) % HOPPER_ROWS_BYTES;
    const unsigned rank = cluster_rank();
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / HOPPER_WARPGROUP, 0); // the same for the whole warp
    if (threadIdx.x == 0) {
        tma_prefetch_map(&map_a);
        tma_prefetch_map(&map_b);
        tma_prefetch_map(&map_output);
        for (int i = 0; i < STAGES; i++) {
            mbarrier_init(&barriers.full[i], 1);
            mbarrier_init(&barriers.empty[i], CLUSTER * CONSUMERS);
        }
        mbarrier_init_fence();
    }
    cluster_sync();
    if (warpgroup == 0) {
        registers_give_back<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0)
            produce<MMajorA, MMajorB>(&shape, &map_a, &map_b, stages, &barriers, rank);
    } else {
        registers_take<CONSUMER_REGISTERS>();
        consume<MMajorA, MMajorB>(&shape, &map_output, output, stages, &barriers, rank, warpgroup - 1);
    }
    // No block leaves while the other may still write to its shared memory.
    cluster_sync();
}

template <int MMajorA, int MMajorB> static heddle_status launch_layout(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    const int m = shape->m, n = shape->n, k = shape->k, size = sizeof(__nv_bfloat16);
    const CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    CUtensorMap a, b, output;
    heddle_status status =
        tma_map(&a, type, size, call->input[0], MMajorA ? k : m, MMajorA ? m : k, MMajorA ? (int)TILE_K : (int)TILE_M);
    if (status == HEDDLE_OK)
        status = tma_map(&b, type, size, call->input[1], MMajorB ? k : n, MMajorB ? n : k,
                         MMajorB ? (int)TILE_K : TILE_N / CLUSTER);
    if (status == HEDDLE_OK)
        status = tma_map(&output, type, size, call->output[0], m, n, BOX);
    if (status != HEDDLE_OK)
        return status;
    auto kernel = matmul_bf16_persistent<MMajorA, MMajorB>;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    unsigned tiles = heddle_ceil_div(m, CLUSTER * TILE_M) * heddle_ceil_div(n, TILE_N);
    unsigned clusters = heddle_cuda_multiprocessors() / CLUSTER;
    kernel<<<(clusters < tiles ? clusters : tiles) * CLUSTER, THREADS, SHARED_BYTES, stream>>>(
        *shape, a, b, output, (const __nv_bfloat16 *)call->output[0]);
    return heddle_cuda_launched("06_wgmma_persistent_clusters");
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    if (!matmul_bf16_tma_takes(call))
        return heddle_matmul_bf16_mma_sync(call);
    if (shape->transpose_a)
        return shape->transpose_b ? launch_layout<1, 0>(call) : launch_layout<1, 1>(call);
    return shape->transpose_b ? launch_layout<0, 0>(call) : launch_layout<0, 1>(call);
}

HEDDLE_CUDA_RUNG("matmul_bf16_forward", "06_wgmma_persistent_clusters", launch)
