// matmul, fp32 class, rung 15: a float is the sum of two tf32 numbers, and a product of floats is three tf32 products,
// by mma.sync.
//
// Rung 10 is limited by the float32 units: one multiply-add per lane and cycle. Tensor cores do eight times as many in
// tf32, so they have time for three. Write a = a0 + a1 and b = b0 + b1, where a0 is the nearest tf32 number and a1 the
// one nearest to the rest. Then a b is a1 b0 + a0 b1 + a0 b0; the missing a1 b1 is below float32's last bits. Each
// fragment is split in registers. parts.h explains how a sum stays float32 and what happens to infinities.
//
// Any shape, layout and alignment works. cp.async copies 16 bytes where an operand's rows start at multiples of 16,
// else 4, two tiles of 32 steps of k ahead. Tiles in shared memory have the operand's layout. Their rows are padded so
// that neither ldmatrix, for operands along k, nor loads of single floats, for the others, have bank conflicts. If
// there are too few tiles for all SMs, k is split over several blocks, and a second kernel adds their sums in order.
//
// Limited by: mma.sync, which reaches little more than half of the rate of Hopper's tensor cores, and splitting: six
// instructions for every pair of a fragment's floats, in each of the warps that need them.

#include "ops/cuda/mma.h"
#include "ops/matmul/parts_cuda.h"

enum {
    TILE_M = 128,
    TILE_N = 64,
    DEPTH = HEDDLE_PARTS_DEPTH,
    STAGES = 3, // 27 KiB each: two blocks share an SM
    RESIDENT = 2,
    WARPS_M = 4,
    WARPS_N = 2,
    WARP_M = TILE_M / WARPS_M,
    WARP_N = TILE_N / WARPS_N,
    THREADS = WARPS_M * WARPS_N * 32,
    MMA_M = 16,
    MMA_N = 8,
    MMA_K = 8,
    BLOCKS_M = WARP_M / MMA_M, // mma tiles per warp
    BLOCKS_N = WARP_N / MMA_N,
    VECTOR = 4,                              // floats of a 16-byte copy
    PADDING_K = 4,                           // floats: eight rows along k, of 16 bytes each, then touch all 32 banks
    PADDING_ROW = 8,                         // floats: four rows of neighbouring k, of eight floats each, likewise
    FLOATS_A = TILE_M * (DEPTH + PADDING_K), // of a tile; a tile that does not lie along k takes less
    FLOATS_B = TILE_N * (DEPTH + PADDING_K),
    SHARED_BYTES = STAGES * (FLOATS_A + FLOATS_B) * sizeof(float),
};
static_assert((int)WARP_N == (int)PARTS_BLOCK_COLUMNS, "a warp's columns are a block's");
static_assert(DEPTH * (TILE_N + PADDING_ROW) <= FLOATS_B && DEPTH * (TILE_M + PADDING_ROW) <= FLOATS_A,
              "a tile's room");

// --- tiles in shared memory ------------------------------------------------------------------------------------------

// Floats from one row of a tile to the next: a row of the operand along k, or a step of k along its rows.
template <int AlongK, int Rows> struct pitch {
    enum { FLOATS = AlongK ? DEPTH + PADDING_K : Rows + PADDING_ROW };
};

// Starts to copy the tile (Rows, DEPTH) at (row, k) of an operand, `Wide` floats at a time; zeros beyond the operand.
// If Wide is 4, rows start at multiples of 16 bytes, so four floats are all inside or all outside.
template <int AlongK, int Rows, int Wide>
__device__ static void copy_tile(float *tile, const matmul_operand &from, int row, int k)
{
    const int across = (AlongK ? DEPTH : Rows) / Wide, down = AlongK ? Rows : DEPTH, together = THREADS / across;
    const int line = threadIdx.x / across, place = threadIdx.x % across * Wide; // of a thread's first
    const bool within = AlongK ? k + place < from.k : row + place < from.rows;
    const int lines = within ? AlongK ? from.rows - row : from.k - k : 0; // inside the operand
    const size_t stride = AlongK ? from.row_stride : from.k_stride;
    const float *source = from.data + (AlongK ? row + line : k + line) * stride + (AlongK ? k : row) + place;
    float *to = tile + line * pitch<AlongK, Rows>::FLOATS + place;
    // Not unrolled further: all the addresses would be kept in registers from tile to tile, and there are not enough.
    const int unrolled = Wide == 1 ? 2 : 1;
#pragma unroll unrolled
    for (int i = line; i < down; i += together) {
        if (Wide == 1 && i < lines)
            cp_async_4(to, source);
        else if (i < lines)
            cp_async_16(to, source);
        else if (Wide == 1)
            *to = 0;
        else
            *(float4 *)to = make_float4(0, 0, 0, 0);
        source += together * stride;
        to += together * pitch<AlongK, Rows>::FLOATS;
    }
}

// The 16 by 8 at (first, k) of a tile: lane l's elements of the four 8 by 4 matrices (0, 0), (8, 0), (0, 4), (8, 4).
template <int AlongK, int Rows>
__device__ static void load_fragment(uint32_t (&fragment)[4], const float *tile, int first, int k)
{
    const int lane = threadIdx.x % 32, matrix = lane / 8, floats = pitch<AlongK, Rows>::FLOATS;
    if (AlongK)
        ldmatrix_x4(fragment, tile + (first + matrix % 2 * 8 + lane % 8) * floats + k + matrix / 2 * 4);
#pragma unroll
    for (int i = 0; !AlongK && i < 4; i++)
        fragment[i] = __float_as_uint(tile[(k + i / 2 * 4 + lane % 4) * floats + first + i % 2 * 8 + lane / 4]);
}

// --- products --------------------------------------------------------------------------------------------------------

// The two tf32 numbers that add up to each of a fragment's floats. Tensor cores read only the upper 19 bits.
struct split_fragment {
    uint32_t near[4], rest[4];
};

__device__ static split_fragment split(const uint32_t (&bits)[4])
{
    const uint32_t half = 0x1000u, seen = 0xffffe000u; // half of the last bit that counts; the bits that count
    split_fragment parts;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        parts.near[i] = (bits[i] + half) & seen;
        parts.rest[i] = __float_as_uint(__uint_as_float(bits[i]) - __uint_as_float(parts.near[i]));
    }
    return parts;
}

// part (32, 32) of a warp = its rows of a (128, DEPTH) times its columns of b (DEPTH, 64), small products first.
template <int AlongA, int AlongB>
__device__ static void multiply(float (&part)[BLOCKS_M][PARTS_BLOCK_SUMS], const float *a, const float *b, int warp_m,
                                int warp_n)
{
#pragma unroll
    for (int k = 0; k < DEPTH; k += MMA_K) {
        split_fragment rows[BLOCKS_M], columns[BLOCKS_N / 2]; // two blocks of columns each
        uint32_t fragment[4];
#pragma unroll
        for (int i = 0; i < BLOCKS_M; i++) {
            load_fragment<AlongA, TILE_M>(fragment, a, warp_m * WARP_M + i * MMA_M, k);
            rows[i] = split(fragment);
        }
#pragma unroll
        for (int j = 0; j < BLOCKS_N / 2; j++) {
            load_fragment<AlongB, TILE_N>(fragment, b, warp_n * WARP_N + j * 2 * MMA_N, k);
            columns[j] = split(fragment);
        }
#pragma unroll
        for (int product = 0; product < 3; product++)
#pragma unroll
            for (int i = 0; i < BLOCKS_M; i++)
#pragma unroll
                for (int j = 0; j < BLOCKS_N; j++) {
                    const uint32_t *left = product == 0 ? rows[i].rest : rows[i].near;
                    const uint32_t *right = product == 1 ? columns[j / 2].rest : columns[j / 2].near;
                    const uint32_t pair[2] = {right[j % 2], right[j % 2 + 2]};
                    mma_m16n8k8_tf32(&part[i][4 * j], left, pair, &part[i][4 * j]);
                }
    }
}

// --- the kernel ------------------------------------------------------------------------------------------------------

// Stores the warp's sums, in blocks of 16 by 32. (row, column) is the first of them; `tiles` is free again.
__device__ static void store(const parts_task &task, const float (&sums)[BLOCKS_M][PARTS_BLOCK_SUMS], int split,
                             int row, int column, float *tiles)
{
    const bool finite = task.partial || parts_finite<BLOCKS_M * PARTS_BLOCK_SUMS>(&sums[0][0]);
    float *output = parts_output(task, split), *buffer = tiles + threadIdx.x / 32 * PARTS_BLOCK_FLOATS;
    const bool turned = __syncthreads_and(finite) && !parts_whole_sectors(task, output);
#pragma unroll
    for (int i = 0; i < BLOCKS_M; i++) {
        if (turned)
            parts_store_block_turned(task, output, row + i * MMA_M, column, sums[i], buffer, [] { __syncthreads(); });
        else if (finite)
            parts_store_block(task, output, row + i * MMA_M, column, sums[i]);
        else
            parts_store_again(task, row + i * MMA_M, column);
    }
}

// wide_a, wide_b: all stored rows of the operand start at multiples of 16 bytes.
template <int AlongA, int AlongB>
__global__ static void __launch_bounds__(THREADS, RESIDENT) matmul_tf32x3(parts_task task, bool wide_a, bool wide_b)
{
    extern __shared__ float4 matmul_tf32x3_tiles[];
    float *tiles_a = (float *)matmul_tf32x3_tiles, *tiles_b = tiles_a + STAGES * FLOATS_A;
    const parts_work work = parts_work_of(task, TILE_M, TILE_N, (task.shape.k + DEPTH - 1) / DEPTH, blockIdx.x);
    const int row = work.row * TILE_M, column = work.column * TILE_N;
    const int warp_m = threadIdx.x / 32 / WARPS_N, warp_n = threadIdx.x / 32 % WARPS_N;
    auto copy = [&](int step) {
        float *to_a = tiles_a + step % STAGES * FLOATS_A, *to_b = tiles_b + step % STAGES * FLOATS_B;
        if (wide_a)
            copy_tile<AlongA, TILE_M, VECTOR>(to_a, task.a, row, step * DEPTH);
        else
            copy_tile<AlongA, TILE_M, 1>(to_a, task.a, row, step * DEPTH);
        if (wide_b)
            copy_tile<AlongB, TILE_N, VECTOR>(to_b, task.b, column, step * DEPTH);
        else
            copy_tile<AlongB, TILE_N, 1>(to_b, task.b, column, step * DEPTH);
    };
    for (int step = work.begin; step < work.begin + STAGES - 1; step++) {
        if (step < work.end)
            copy(step);
        cp_async_commit();
    }
    // A warp whose part of the tile lies beyond the output copies, but does not multiply.
    const bool inside = row + warp_m * WARP_M < task.shape.m && column + warp_n * WARP_N < task.shape.n;
    float sums[BLOCKS_M][PARTS_BLOCK_SUMS] = {};
    for (int step = work.begin; step < work.end; step++) {
        cp_async_wait_group<STAGES - 2>();
        // After this barrier the tile has arrived for all threads, and none reads the one before: its stage can be
        // filled.
        __syncthreads();
        if (step + STAGES - 1 < work.end)
            copy(step + STAGES - 1);
        cp_async_commit();
        if (!inside)
            continue;
        float part[BLOCKS_M][PARTS_BLOCK_SUMS] = {};
        multiply<AlongA, AlongB>(part, tiles_a + step % STAGES * FLOATS_A, tiles_b + step % STAGES * FLOATS_B, warp_m,
                                 warp_n);
#pragma unroll
        for (int i = 0; i < BLOCKS_M * PARTS_BLOCK_SUMS; i++)
            sums[i / PARTS_BLOCK_SUMS][i % PARTS_BLOCK_SUMS] += part[i / PARTS_BLOCK_SUMS][i % PARTS_BLOCK_SUMS];
    }
    store(task, sums, work.split, row + warp_m * WARP_M, column + warp_n * WARP_N, tiles_a);
}

// Whether all stored rows of an operand start at multiples of 16 bytes.
static bool is_wide(const matmul_operand &operand)
{
    const size_t floats = operand.k_stride == 1 ? operand.row_stride : operand.k_stride;
    return floats % VECTOR == 0 && (size_t)operand.data % sizeof(float4) == 0;
}

template <int AlongA, int AlongB> static void start(const parts_task &task, cudaStream_t stream)
{
    // More than 48 KiB of shared memory must be requested, once per device; the request is cheap.
    cudaFuncSetAttribute(matmul_tf32x3<AlongA, AlongB>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    unsigned blocks = heddle_ceil_div(task.shape.m, TILE_M) * heddle_ceil_div(task.shape.n, TILE_N) * task.splits;
    matmul_tf32x3<AlongA, AlongB><<<blocks, THREADS, SHARED_BYTES, stream>>>(task, is_wide(task.a), is_wide(task.b));
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    if (shape->m == 0 || shape->n == 0)
        return HEDDLE_OK;
    const parts_task task = parts_task_of(call, heddle_tf32x3_plan(shape).splits, call->workspace);
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (shape->transpose_a)
        shape->transpose_b ? start<0, 1>(task, stream) : start<0, 0>(task, stream);
    else
        shape->transpose_b ? start<1, 1>(task, stream) : start<1, 0>(task, stream);
    parts_add_splits(task, stream);
    return heddle_cuda_launched("15_tf32x3_mma_sync");
}

HEDDLE_CUDA_RUNG("matmul_forward", "15_tf32x3_mma_sync", launch)
