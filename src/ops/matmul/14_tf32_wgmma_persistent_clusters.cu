// matmul, tf32: blocks that stay, in clusters of two that share what they load.
//
// The schedule is that of matmul_bf16's last rung: a producer warp fills stages by TMA, two warpgroups multiply 64 x
// 256 each, a block takes tile after tile, and two blocks share the 256 columns' operand. What differs is that wgmma
// takes floats K-major only. The operand that is shared, called the right one, always is; the left one may come through
// registers, where any order will do. So every layout finds a pair:
//
//   a (m, k), b (n, k): left a, right b, both from shared memory
//   a (k, m), b (n, k): left a through registers
//   a (m, k), b (k, n): left b through registers, right a: the block computes its tile of the output turned over
//   a (k, m), b (k, n): a is turned over in memory first
//
// A warp may give its 16 rows any order, if it stores them in the same: it is chosen so that a lane's two rows are
// neighbours in memory (one 8-byte load) and 16 lanes touch all 32 banks.
//
// Limited by: the tensor cores, and the power they draw.

#include "heddle/ops.h"
#include "ops/cuda/hopper.h"
#include "ops/cuda/rung.h"
#include "ops/matmul/matmul_tf32_cuda.h"

#ifndef TENSOR_STAGES
#define TENSOR_STAGES 4
#endif
#ifndef TENSOR_GROUP
#define TENSOR_GROUP 8
#endif

#ifndef TENSOR_TYPE
#define TENSOR_TYPE CU_TENSOR_MAP_DATA_TYPE_TFLOAT32
#endif

enum {
    CLUSTER = 2,
    CONSUMERS = 2,              // warpgroups that multiply, each 64 rows of the tile
    TILE_LEFT = 64 * CONSUMERS, // rows of the left operand a block
    TILE_RIGHT = 256,           // of the right one: the most one wgmma does
    TILE_K = 32,                // 128 bytes of k: a row of a K-major box
    STEP_K = 8,                 // what one wgmma does
    STEPS = TILE_K / STEP_K,    // products a stage
    STAGES = TENSOR_STAGES,     // 48 KiB each: what shared memory holds
    GROUP_TILES = TENSOR_GROUP, // cluster tiles of 256: 8 by 8 of 256 by 256 are about one wave of clusters
    BOX = 32,                   // rows along k, and columns, of an M-major box
    BOX_BYTES = BOX * HOPPER_ROW_BYTES,
    LEFT_BYTES = TILE_LEFT * HOPPER_ROW_BYTES,
    RIGHT_BYTES = TILE_RIGHT * HOPPER_ROW_BYTES,
    STAGE_BYTES = LEFT_BYTES + RIGHT_BYTES,
    SHARED_BYTES = STAGES * STAGE_BYTES + HOPPER_ROWS_BYTES,
    THREADS = (1 + CONSUMERS) * HOPPER_WARPGROUP,
    WARPS = CONSUMERS * HOPPER_WARPGROUP / 32, // that multiply
    // 65536 registers a multiprocessor: the producer needs few, a consumer 128 for its tile alone.
    PRODUCER_REGISTERS = 40,
    CONSUMER_REGISTERS = 232,
};

// Barriers of the stages: full counts bytes, empty counts the multiplying warps of both blocks, because both are
// written to.
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

// Where the cluster's tile number `index` starts.
__device__ static void place_tile(int index, int tiles_left, int tiles_right, int *left, int *right)
{
    int in_group = GROUP_TILES * tiles_right, first = index / in_group * GROUP_TILES;
    int rows = min(tiles_left - first, (int)GROUP_TILES), rest = index % in_group;
    *left = (first + rest % rows) * CLUSTER * TILE_LEFT;
    *right = rest / rows * TILE_RIGHT;
}

// One thread fills stages as they come free: 128 rows of the left operand for this block, half of the right one's 256
// for both.
template <int MMajorLeft>
__device__ static void produce(const CUtensorMap *map_left, const CUtensorMap *map_right, unsigned char *stages,
                               pipeline *barriers, stage *at, int left, int right, int k, unsigned rank)
{
    const uint16_t both = (1 << CLUSTER) - 1;
    const int half = TILE_RIGHT / CLUSTER;
    // Stages come in pairs; beyond k they hold zeros.
    for (int p = 0; p < (k + 2 * TILE_K - 1) / (2 * TILE_K) * (2 * TILE_K); p += TILE_K) {
        unsigned char *place = stages + at->index * STAGE_BYTES;
        uint64_t *full = &barriers->full[at->index];
        mbarrier_wait(&barriers->empty[at->index], at->phase ^ 1);
        mbarrier_arrive_expect(full, STAGE_BYTES);
        if (!MMajorLeft)
            tma_load(place, map_left, p, left, full);
        for (int box = 0; MMajorLeft && box < TILE_LEFT / BOX; box++)
            tma_load(place + box * BOX_BYTES, map_left, left + box * BOX, p, full);
        tma_load_multicast(place + LEFT_BYTES + rank * half * HOPPER_ROW_BYTES, map_right, p, right + (int)rank * half,
                           full, both);
        advance(at);
    }
}

// Tells the producers of both blocks that this warp has read a stage.
__device__ static void release(pipeline *barriers, int index)
{
    if (threadIdx.x % 32 < CLUSTER)
        mbarrier_arrive_at(&barriers->empty[index], threadIdx.x % 32);
}

// Which of the tile's 128 left rows a thread holds as row 16 warp + lane / 4 of a wgmma; 8 further down it holds the
// next one. Chunks of 4 rows: lanes 0 to 15 take both halves of two chunks that are 4 apart, which the swizzle spreads
// over all banks for four neighbouring k.
__device__ static int permuted_row(int warp, int lane)
{
    int group = lane / 4, chunk = warp % 2 * 2 + group / 4 + group / 2 % 2 * 4;
    return warp / 2 * BOX + chunk * 4 + group % 2 * 2;
}

// The left operand's 64 by 32 of a warpgroup, from M-major boxes to the registers of four wgmmas.
__device__ static void load_left(uint32_t (&fragments)[STEPS][4], const unsigned char *tile, int row, int lane)
{
    const int chunk = row % BOX / 4, first_k = lane % 4;
    const unsigned char *box = tile + row / BOX * BOX_BYTES + row % 4 * (int)sizeof(float);
    const unsigned char *low = box + first_k * HOPPER_ROW_BYTES + (chunk ^ first_k) * 16;
    const unsigned char *high = box + (first_k + 4) * HOPPER_ROW_BYTES + (chunk ^ (first_k + 4)) * 16;
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        uint2 first = *(const uint2 *)(low + step * HOPPER_ROWS_BYTES);
        uint2 second = *(const uint2 *)(high + step * HOPPER_ROWS_BYTES);
        fragments[step][0] = first.x, fragments[step][1] = first.y;
        fragments[step][2] = second.x, fragments[step][3] = second.y;
    }
}

// The products of one stage. On return those of the stage before are done, and it is released.
template <int MMajorLeft>
__device__ static void multiply(float (&sums)[128], uint32_t (&fragments)[STEPS][4], const unsigned char *stages,
                                pipeline *barriers, stage *at, int p, int row)
{
    const unsigned char *tile = stages + at->index * STAGE_BYTES;
    uint64_t left = wgmma_descriptor(tile + row * HOPPER_ROW_BYTES, 0);
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

// sums (64, 256) over all k. `row` is the thread's (through registers) or the warpgroup's first row in the tile.
template <int MMajorLeft>
__device__ static void consume(float (&sums)[128], const unsigned char *stages, pipeline *barriers, stage *at, int k,
                               int row)
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

// A warpgroup's sums to the output: the thread's first is at (left, right) of the two operands' rows, the lower half of a
// wgmma's rows is `down` further on. Pairs of neighbours in a row of the output: one 8-byte store, four lanes a sector.
template <int Turned>
__device__ static void store(float (&sums)[128], const heddle_matmul_shape *shape, float *output, int left, int right,
                             int down)
{
    const size_t n = shape->n;
    float *first = output + (Turned ? right * n + left : left * n + right);
    // The wgmma's columns come in eights; how many there are, and how far apart in the output.
    const int columns = (Turned ? shape->m : shape->n) - right, rows = (Turned ? shape->n : shape->m) - left;
    const size_t eight = Turned ? 8 * n : 8;
    if (shape->alpha != 1.0f)
        for (int i = 0; i < 128; i++)
            sums[i] *= shape->alpha;
#pragma unroll
    for (int pair = 0; pair < 2; pair++) {
        float *place = first + (Turned ? pair * n : pair * down * n);
#pragma unroll
        for (int i = 0; i < 128; i += 4, place += eight) {
            float2 value = Turned ? make_float2(sums[i + pair], sums[i + pair + 2])
                                  : make_float2(sums[i + pair * 2], sums[i + pair * 2 + 1]);
            if (Turned ? i * 2 + pair >= columns || rows <= 0 : i * 2 >= columns || pair * down >= rows)
                continue;
            if (shape->beta != 0.0f) {
                float2 old = *(float2 *)place;
                value.x += shape->beta * old.x, value.y += shape->beta * old.y;
            }
            *(float2 *)place = value;
        }
    }
}

// left: (left rows, k), or M-major (k, left rows); right: (right rows, k); output: (m, n). Turned: the left operand's
// rows are the output's columns.
template <int MMajorLeft, int Turned>
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
    matmul_tf32_persistent(const heddle_matmul_shape shape, const __grid_constant__ CUtensorMap map_left,
                           const __grid_constant__ CUtensorMap map_right, float *output)
{
    extern __shared__ unsigned char shared[];
    __shared__ pipeline barriers;
    unsigned char *stages =
        shared + (HOPPER_ROWS_BYTES - hopper_shared(shared) % HOPPER_ROWS_BYTES) % HOPPER_ROWS_BYTES;
    const unsigned rank = cluster_rank();
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / HOPPER_WARPGROUP, 0); // the same for the whole warp
    if (threadIdx.x == 0) {
        tma_prefetch_map(&map_left);
        tma_prefetch_map(&map_right);
        for (int i = 0; i < STAGES; i++) {
            mbarrier_init(&barriers.full[i], 1);
            mbarrier_init(&barriers.empty[i], CLUSTER * WARPS);
        }
        mbarrier_init_fence();
    }
    cluster_sync();

    const int rows_left = Turned ? shape.n : shape.m, rows_right = Turned ? shape.m : shape.n;
    const int tiles_left = (rows_left + CLUSTER * TILE_LEFT - 1) / (CLUSTER * TILE_LEFT);
    const int tiles_right = (rows_right + TILE_RIGHT - 1) / TILE_RIGHT, clusters = gridDim.x / CLUSTER;
    stage at = {0, 0};
    int left, right;
    if (warpgroup == 0) {
        registers_give_back<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0)
            for (int tile = blockIdx.x / CLUSTER; tile < tiles_left * tiles_right; tile += clusters) {
                place_tile(tile, tiles_left, tiles_right, &left, &right);
                produce<MMajorLeft>(&map_left, &map_right, stages, &barriers, &at, left + (int)rank * TILE_LEFT, right,
                                    shape.k, rank);
            }
    } else {
        registers_take<CONSUMER_REGISTERS>();
        const int consumer = warpgroup - 1, lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
        const int row = consumer * 64 + (MMajorLeft ? permuted_row(warp, lane) : 0);
        const int down = MMajorLeft ? 1 : 8; // rows of the tile between the two halves of a wgmma's 16
        float sums[128];
        for (int tile = blockIdx.x / CLUSTER; tile < tiles_left * tiles_right; tile += clusters) {
            place_tile(tile, tiles_left, tiles_right, &left, &right);
            consume<MMajorLeft>(sums, stages, &barriers, &at, shape.k, row);
            left += (int)rank * TILE_LEFT + row + (MMajorLeft ? 0 : warp * 16 + lane / 4);
            right += lane % 4 * 2;
            store<Turned>(sums, &shape, output, left, right, down);
        }
    }
    // No block leaves while the other may still write to its shared memory.
    cluster_sync();
}

// right: (rows_right, k) K-major
template <int MMajorLeft, int Turned>
static heddle_status launch_layout(const heddle_call *call, const float *left, const float *right)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    const int k = shape->k, rows_left = Turned ? shape->n : shape->m, rows_right = Turned ? shape->m : shape->n;
    // As TFLOAT32, TMA rounds each float to the nearest on its way; wgmma alone would cut it off.
    const CUtensorMapDataType type = TENSOR_TYPE;
    CUtensorMap map_left, map_right;
    heddle_status status = tma_map(&map_left, type, sizeof(float), left, MMajorLeft ? k : rows_left,
                                   MMajorLeft ? rows_left : k, MMajorLeft ? (int)TILE_K : (int)TILE_LEFT);
    if (status == HEDDLE_OK)
        status = tma_map(&map_right, type, sizeof(float), right, rows_right, k, TILE_RIGHT / CLUSTER);
    if (status != HEDDLE_OK)
        return status;
    auto kernel = matmul_tf32_persistent<MMajorLeft, Turned>;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    unsigned tiles = heddle_ceil_div(rows_left, CLUSTER * TILE_LEFT) * heddle_ceil_div(rows_right, TILE_RIGHT);
    unsigned clusters = heddle_cuda_multiprocessors() / CLUSTER;
    kernel<<<(clusters < tiles ? clusters : tiles) * CLUSTER, THREADS, SHARED_BYTES, stream>>>(
        *shape, map_left, map_right, (float *)call->output[0]);
    return heddle_cuda_launched("14_tf32_wgmma_persistent_clusters");
}

// to (columns, rows) = from (rows, columns), by tiles of 32 by 32 with a column of padding against bank conflicts
__global__ void turn_over(const float *from, float *to, int rows, int columns)
{
    __shared__ float tile[32][33];
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    for (int i = 0; i < 32; i += 8)
        if (row + i < rows && column < columns)
            tile[threadIdx.y + i][threadIdx.x] = from[(size_t)(row + i) * columns + column];
    __syncthreads();
    row = blockIdx.y * 32 + threadIdx.x, column = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        if (column + i < columns && row < rows)
            to[(size_t)(column + i) * rows + row] = tile[threadIdx.x][threadIdx.y + i];
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    const float *a = (const float *)call->input[0], *b = (const float *)call->input[1];
    if (!matmul_tf32_tma_takes(call))
        return heddle_matmul_tf32_mma_sync(call);
    if (shape->transpose_b)
        return shape->transpose_a ? launch_layout<1, 0>(call, a, b) : launch_layout<0, 0>(call, a, b);
    if (shape->transpose_a) {
        float *turned = (float *)call->workspace;
        dim3 grid(heddle_ceil_div(shape->m, 32), heddle_ceil_div(shape->k, 32));
        turn_over<<<grid, dim3(32, 8), 0, heddle_cuda_stream_of(call)>>>(a, turned, shape->k, shape->m);
        a = turned;
    }
    return launch_layout<1, 1>(call, b, a);
}

HEDDLE_CUDA_RUNG("matmul_forward", "14_tf32_wgmma_persistent_clusters", launch)
