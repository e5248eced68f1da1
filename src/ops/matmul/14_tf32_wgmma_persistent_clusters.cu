// matmul, tf32, rung 14: persistent blocks, in clusters of two that share their loads.
//
// Rung 13 alternated between loading and multiplying, and took only one layout. Here the schedule is the one of
// matmul_bf16's last rung: a producer fills stages by TMA, two warpgroups multiply 64 x 256 each, a block computes tile
// after tile, and two blocks share the operand of 256 columns. wgmma takes floats K-major only. The shared operand,
// called the right one, always is; the left one may come through registers, where any order works. So every layout has
// a pair:
//
//   a (m, k), b (n, k): left a, right b, both from shared memory
//   a (k, m), b (n, k): left a through registers
//   a (m, k), b (k, n): left b through registers, right a: the block computes its tile of the output transposed
//   a (k, m), b (k, n): a is transposed in memory first
//
// A warp may order its 16 rows freely, if it stores them in the same order. The order is chosen so that a lane's two
// rows are neighbours in memory (one 8-byte load) and 16 lanes touch all 32 banks.
//
// Limited by: the tensor cores and their power: clocks drop before anything else saturates. Sums in float32 leave no
// registers to hold a finished tile, so products stop while it is stored to shared memory.

#include "heddle/ops.h"
#include "ops/cuda/hopper.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/swizzled.h"
#include "ops/matmul/matmul_tf32_cuda.h"
#include "ops/matmul/pack_cuda.h"

enum {
    CLUSTER = 2,
    CONSUMERS = 2,              // warpgroups that multiply, 64 rows of the tile each
    TILE_LEFT = 64 * CONSUMERS, // rows of the left operand per block
    TILE_RIGHT = 256,           // rows of the right one: the most one wgmma handles
    TILE_K = 32,                // 128 bytes of k: a row of a K-major box
    STEP_K = 8,                 // k of one wgmma
    STEPS = TILE_K / STEP_K,    // wgmmas per stage
    STAGES = 4,                 // 48 KiB each: what shared memory holds beside the output buffers
    GROUP_TILES = 8,            // cluster tiles of 256: 8 by 8 of 256 by 256 are about one wave of clusters
    BOX = 32,                   // rows along k, and columns, of an M-major box
    BOX_BYTES = BOX * HOPPER_ROW_BYTES,
    LEFT_BYTES = TILE_LEFT * HOPPER_ROW_BYTES,
    RIGHT_BYTES = TILE_RIGHT * HOPPER_ROW_BYTES,
    STAGE_BYTES = LEFT_BYTES + RIGHT_BYTES,
    PIECE_BYTES = 64 * HOPPER_ROW_BYTES, // of the output, staged for the store: 64 by 32 floats
    OUT_PIECES = 2,                      // for each consumer
    SHARED_BYTES = STAGES * STAGE_BYTES + CONSUMERS * OUT_PIECES * PIECE_BYTES + HOPPER_ROWS_BYTES,
    THREADS = (1 + CONSUMERS) * HOPPER_WARPGROUP,
    WARPS = CONSUMERS * HOPPER_WARPGROUP / 32, // that multiply
    // 65536 registers per SM: the producer needs few, a consumer needs 128 for its tile alone.
    PRODUCER_REGISTERS = 40,
    CONSUMER_REGISTERS = 232,
};

// Barriers of the stages. full counts bytes. empty counts the multiplying warps of both blocks, because both are
// written to.
struct pipeline {
    uint64_t full[STAGES], empty[STAGES];
};

// Rows of the two operands, and k. Stages come in pairs, so k is rounded up to that; beyond k they hold zeros.
struct sizes {
    int left, right, k;
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

// The cluster's tiles, CLUSTER blocks of the left operand, and where number `index` of them starts.
__device__ static int tile_count(const sizes *size)
{
    return (size->left + CLUSTER * TILE_LEFT - 1) / (CLUSTER * TILE_LEFT) *
           ((size->right + TILE_RIGHT - 1) / TILE_RIGHT);
}

__device__ static void place_tile(const sizes *size, int index, int *left, int *right)
{
    int tiles_left = (size->left + CLUSTER * TILE_LEFT - 1) / (CLUSTER * TILE_LEFT);
    int tiles_right = (size->right + TILE_RIGHT - 1) / TILE_RIGHT;
    int in_group = GROUP_TILES * tiles_right, first = index / in_group * GROUP_TILES;
    int rows = min(tiles_left - first, (int)GROUP_TILES), rest = index % in_group;
    *left = (first + rest % rows) * CLUSTER * TILE_LEFT;
    *right = rest / rows * TILE_RIGHT;
}

// One thread fills stages as they become free: 128 rows of the left operand for this block, half of the right one's 256
// for both.
template <int MMajorLeft>
__device__ static void produce(const sizes *size, const CUtensorMap *map_left, const CUtensorMap *map_right,
                               unsigned char *stages, pipeline *barriers, unsigned rank)
{
    const uint16_t both = (1 << CLUSTER) - 1;
    const int half = TILE_RIGHT / CLUSTER;
    stage at = {0, 0};
    for (int tile = blockIdx.x / CLUSTER; tile < tile_count(size); tile += gridDim.x / CLUSTER) {
        int left, right;
        place_tile(size, tile, &left, &right);
        left += (int)rank * TILE_LEFT;
        for (int p = 0; p < size->k; p += TILE_K) {
            unsigned char *place = stages + at.index * STAGE_BYTES;
            uint64_t *full = &barriers->full[at.index];
            mbarrier_wait(&barriers->empty[at.index], at.phase ^ 1);
            mbarrier_arrive_expect(full, STAGE_BYTES);
            if (!MMajorLeft)
                tma_load(place, map_left, p, left, full);
            for (int box = 0; MMajorLeft && box < TILE_LEFT / BOX; box++)
                tma_load(place + box * BOX_BYTES, map_left, left + box * BOX, p, full);
            tma_load_multicast(place + LEFT_BYTES + rank * half * HOPPER_ROW_BYTES, map_right, p,
                               right + (int)rank * half, full, both);
            advance(&at);
        }
    }
}

// Tells the producers of both blocks that this warp has read a stage.
__device__ static void release(pipeline *barriers, int index)
{
    if (threadIdx.x % 32 < CLUSTER)
        mbarrier_arrive_at(&barriers->empty[index], threadIdx.x % 32);
}

// Which of the tile's 128 left rows a thread holds as row 16 warp + lane / 4 of a wgmma; as the row 8 further down it
// holds the next one. Chunks of 4 rows: lanes 0 to 15 take both halves of two chunks that are 4 apart, which the
// swizzle spreads over all banks for four neighbouring k.
__device__ static int permuted_row(int warp, int lane)
{
    int group = lane / 4, chunk = warp % 2 * 2 + group / 4 + group / 2 % 2 * 4;
    return warp / 2 * BOX + chunk * 4 + group % 2 * 2;
}

// Loads a warp's 16 by 32 of the left operand, from M-major boxes to the registers of four wgmmas. `row` is the
// thread's first in the tile.
__device__ static void load_left(uint32_t (&fragments)[STEPS][4], const unsigned char *tile, int row, int lane)
{
    const int first_k = lane % 4, chunk = row % BOX / 4;
    const unsigned char *box = tile + row / BOX * BOX_BYTES + row % 4 * (int)sizeof(float);
    const unsigned char *low = box + swizzled_at<HOPPER_ROW_BYTES>(first_k, chunk);
    const unsigned char *high = box + swizzled_at<HOPPER_ROW_BYTES>(first_k + 4, chunk);
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        uint2 first = *(const uint2 *)(low + step * HOPPER_ROWS_BYTES);
        uint2 second = *(const uint2 *)(high + step * HOPPER_ROWS_BYTES);
        fragments[step][0] = first.x, fragments[step][1] = first.y;
        fragments[step][2] = second.x, fragments[step][3] = second.y;
    }
}

// The products of one stage. On return, the products of the stage before are done, and it is released.
template <int MMajorLeft>
__device__ static void multiply(float (&sums)[128], uint32_t (&fragments)[STEPS][4], const unsigned char *stages,
                                pipeline *barriers, stage *at, int p, int row)
{
    const unsigned char *tile = stages + at->index * STAGE_BYTES;
    uint64_t left = wgmma_descriptor(tile + row / 64 * 64 * HOPPER_ROW_BYTES, 0);
    uint64_t right = wgmma_descriptor(tile + LEFT_BYTES, 0);
    mbarrier_wait(&barriers->full[at->index], at->phase);
    if (MMajorLeft)
        load_left(fragments, tile, row, threadIdx.x % 32);
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        const unsigned offset = step * STEP_K * sizeof(float);
        if (MMajorLeft)
            wgmma_m64n256k8_tf32_registers(sums, fragments[step], wgmma_descriptor_at(right, offset), p + step > 0);
        else
            wgmma_m64n256k8_tf32(sums, wgmma_descriptor_at(left, offset), wgmma_descriptor_at(right, offset),
                                 p + step > 0);
    }
    wgmma_commit();
    wgmma_wait<1>();
    if (p > 0)
        release(barriers, at->index == 0 ? STAGES - 1 : at->index - 1);
    advance(at);
}

// sums (64, 256) over all k.
template <int MMajorLeft>
__device__ static void multiply_all(float (&sums)[128], const unsigned char *stages, pipeline *barriers, stage *at,
                                    int k, int row)
{
    // Two sets: a wgmma in flight still reads its own.
    uint32_t even[STEPS][4], odd[STEPS][4];
    for (int p = 0; p < k; p += 2 * TILE_K) {
        multiply<MMajorLeft>(sums, even, stages, barriers, at, p, row);
        multiply<MMajorLeft>(sums, odd, stages, barriers, at, p + TILE_K, row);
    }
    wgmma_wait<0>();
    release(barriers, at->index == 0 ? STAGES - 1 : at->index - 1);
}

// sums = alpha * sums + beta * output + bias, for the elements of the output that exist. The thread's first is at
// (left, right) of the two operands' rows; the lower half of a wgmma's rows is `down` further on.
template <int Turned>
__device__ static void add_output(float (&sums)[128], const heddle_matmul_shape *shape, const float *bias,
                                  const float *output, int left, int right, int down)
{
    if (shape->alpha != 1.0f)
        for (int i = 0; i < 128; i++)
            sums[i] *= shape->alpha;
#pragma unroll
    for (int i = 0; !Turned && bias && i < 128; i++) {
        int column = right + i / 4 * 8 + i % 2;
        if (column < shape->n)
            sums[i] += bias[column];
    }
    if (shape->beta == 0.0f)
        return;
#pragma unroll
    for (int i = 0; i < 128; i++) {
        int at_left = left + i / 2 % 2 * down, at_right = right + i / 4 * 8 + i % 2;
        int row = Turned ? at_right : at_left, column = Turned ? at_left : at_right;
        if (row < shape->m && column < shape->n)
            sums[i] += shape->beta * output[(size_t)row * shape->n + column];
    }
}

// One eighth of a warpgroup's sums, 32 of its 256 columns, through shared memory to the output. `left` and `right` are
// the warpgroup's first row and column. Untransposed (64 rows of 32 floats) it is one box; transposed (32 rows of 64)
// it is two.
template <int Turned>
__device__ static void store(const float (&sums)[128], int piece, const CUtensorMap *map_output, unsigned char *pieces,
                             int left, int right, int row, int down, int consumer)
{
    const int thread = threadIdx.x % HOPPER_WARPGROUP, lane = thread % 32;
    unsigned char *place = pieces + piece % OUT_PIECES * PIECE_BYTES;
    if (thread == 0)
        tma_store_wait_read<OUT_PIECES - 1>();
    warpgroup_sync(1 + consumer);
#pragma unroll
    for (int i = 0; i < 16; i += 4)
#pragma unroll
        for (int pair = 0; pair < 2; pair++) {
            const float *sum = &sums[piece * 16 + i];
            const int to_row = Turned ? i * 2 + lane % 4 * 2 + pair : row % 64 + pair * down;
            const int to_column = Turned ? row % 64 : i * 2 + lane % 4 * 2;
            float2 value =
                Turned ? make_float2(sum[pair], sum[pair + 2]) : make_float2(sum[pair * 2], sum[pair * 2 + 1]);
            *(float2 *)(place + to_column / BOX * BOX_BYTES +
                        swizzled_at<HOPPER_ROW_BYTES>(to_row, to_column % BOX / 4) + to_column % 4 * 4) = value;
        }
    tma_fence_written();
    warpgroup_sync(1 + consumer);
    if (thread != 0)
        return;
    for (int box = 0; Turned && box < 2; box++)
        tma_store(map_output, place + box * BOX_BYTES, left + box * BOX, right + piece * BOX);
    if (!Turned)
        tma_store(map_output, place, right + piece * BOX, left);
    tma_store_commit();
}

// A warpgroup's 64 rows of every tile.
template <int MMajorLeft, int Turned>
__device__ static void consume(const heddle_matmul_shape *shape, const sizes *size, const CUtensorMap *map_output,
                               const float *bias, const float *output, unsigned char *stages, pipeline *barriers,
                               unsigned rank, int consumer)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const int row = consumer * 64 + (MMajorLeft ? permuted_row(warp, lane) : warp * 16 + lane / 4);
    const int down = MMajorLeft ? 1 : 8; // rows of the tile between the two halves of a wgmma's 16
    unsigned char *pieces = stages + STAGES * STAGE_BYTES + consumer * OUT_PIECES * PIECE_BYTES;
    stage at = {0, 0};
    float sums[128];
    for (int tile = blockIdx.x / CLUSTER; tile < tile_count(size); tile += gridDim.x / CLUSTER) {
        int left, right;
        place_tile(size, tile, &left, &right);
        left += (int)rank * TILE_LEFT;
        multiply_all<MMajorLeft>(sums, stages, barriers, &at, size->k, row);
        add_output<Turned>(sums, shape, bias, output, left + row, right + lane % 4 * 2, down);
#pragma unroll
        for (int piece = 0; piece < TILE_RIGHT / BOX; piece++)
            store<Turned>(sums, piece, map_output, pieces, left + consumer * 64, right, row, down, consumer);
    }
    if (threadIdx.x % HOPPER_WARPGROUP == 0)
        tma_store_wait_read<0>();
}

// left: (left rows, k), or M-major (k, left rows); right: (right rows, k); output: (m, n). Turned: the left operand's
// rows are the output's columns. bias (n), only if not Turned, may be NULL.
template <int MMajorLeft, int Turned>
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
    matmul_tf32_persistent(const heddle_matmul_shape shape, const __grid_constant__ CUtensorMap map_left,
                           const __grid_constant__ CUtensorMap map_right,
                           const __grid_constant__ CUtensorMap map_output, const float *bias, const float *output)
{
    extern __shared__ unsigned char shared[];
    __shared__ pipeline barriers;
    unsigned char *stages =
        shared + (HOPPER_ROWS_BYTES - hopper_shared(shared) % HOPPER_ROWS_BYTES) % HOPPER_ROWS_BYTES;
    const unsigned rank = cluster_rank();
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / HOPPER_WARPGROUP, 0); // the same for the whole warp
    const sizes size = {Turned ? shape.n : shape.m, Turned ? shape.m : shape.n,
                        (shape.k + 2 * TILE_K - 1) / (2 * TILE_K) * (2 * TILE_K)};
    if (threadIdx.x == 0) {
        tma_prefetch_map(&map_left);
        tma_prefetch_map(&map_right);
        tma_prefetch_map(&map_output);
        for (int i = 0; i < STAGES; i++) {
            mbarrier_init(&barriers.full[i], 1);
            mbarrier_init(&barriers.empty[i], CLUSTER * WARPS);
        }
        mbarrier_init_fence();
    }
    cluster_sync();
    if (warpgroup == 0) {
        registers_give_back<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0)
            produce<MMajorLeft>(&size, &map_left, &map_right, stages, &barriers, rank);
    } else {
        registers_take<CONSUMER_REGISTERS>();
        consume<MMajorLeft, Turned>(&shape, &size, &map_output, bias, output, stages, &barriers, rank, warpgroup - 1);
    }
    // No block exits while the other may still write to its shared memory.
    cluster_sync();
}

// right: (rows_right, k) K-major
template <int MMajorLeft, int Turned>
static heddle_status launch_layout(const heddle_call *call, const heddle_matmul_shape *shape, const float *left,
                                   const float *right, const float *bias, const char *rung)
{
    const int k = shape->k, rows_left = Turned ? shape->n : shape->m, rows_right = Turned ? shape->m : shape->n;
    // With TFLOAT32, TMA rounds each float to the nearest during the copy; wgmma alone would truncate it.
    const CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    CUtensorMap map_left, map_right, map_output;
    heddle_status status = tma_map(&map_left, type, sizeof(float), left, MMajorLeft ? k : rows_left,
                                   MMajorLeft ? rows_left : k, MMajorLeft ? (int)TILE_K : (int)TILE_LEFT);
    if (status == HEDDLE_OK)
        status = tma_map(&map_right, type, sizeof(float), right, rows_right, k, TILE_RIGHT / CLUSTER);
    if (status == HEDDLE_OK)
        status = tma_map(&map_output, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, sizeof(float), call->output[0], shape->m,
                         shape->n, Turned ? (int)BOX : 64);
    if (status != HEDDLE_OK)
        return status;
    auto kernel = matmul_tf32_persistent<MMajorLeft, Turned>;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    unsigned tiles = heddle_ceil_div(rows_left, CLUSTER * TILE_LEFT) * heddle_ceil_div(rows_right, TILE_RIGHT);
    unsigned clusters = heddle_cuda_multiprocessors() / CLUSTER;
    kernel<<<(clusters < tiles ? clusters : tiles) * CLUSTER, THREADS, SHARED_BYTES, stream>>>(
        *shape, map_left, map_right, map_output, bias, (const float *)call->output[0]);
    return heddle_cuda_launched(rung);
}

heddle_status heddle_matmul_tf32_persistent(const heddle_call *call, const heddle_matmul_shape *shape,
                                            const float *bias, const char *rung)
{
    return launch_layout<0, 0>(call, shape, (const float *)call->input[0], (const float *)call->input[1], bias, rung);
}

static heddle_status launch(const heddle_call *call)
{
    const char *rung = "14_tf32_wgmma_persistent_clusters";
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    const float *a = (const float *)call->input[0], *b = (const float *)call->input[1];
    if (!tma_takes(call))
        return heddle_matmul_tf32_mma_sync(call);
    if (shape->transpose_b)
        return shape->transpose_a ? launch_layout<1, 0>(call, shape, a, b, NULL, rung)
                                  : heddle_matmul_tf32_persistent(call, shape, NULL, rung);
    if (shape->transpose_a) {
        char *room = (char *)call->workspace;
        heddle_packed turned;
        HEDDLE_TRY(heddle_pack_transposed(call, a, shape->k, shape->m, &room, &turned));
        a = (const float *)turned.from; // k is a multiple of 4: rows are not padded
    }
    return launch_layout<1, 1>(call, shape, b, a, NULL, rung);
}

HEDDLE_CUDA_RUNG("matmul_forward", "14_tf32_wgmma_persistent_clusters", launch)
