// The kernel of matmul's rung 10, for any tiling: the techniques of rungs 3 to 9, with everything that depends on the
// shape as a template parameter. Tile sizes and the choice among them are left to 10_tuned.cu.
//
// Each step of k takes THREAD_M * THREAD_N multiplications per thread and (THREAD_M + THREAD_N) / 4 loads from shared
// memory: 128 to 6 for 8 by 16. Everything else happens once per tile: the copies of a later tile, one barrier, one
// wait.
//
// Ragged shapes cost nothing inside the loop. Instead of rows and columns past the end others are read, and their
// results are not stored. The partial tile of k comes first: k runs from -shift, and the copies of the first tile,
// before the loop, fill in zeros below 0.
#pragma once

#include <cuda_pipeline.h>

#include "ops/matmul/tuned.h"

// How an operand's elements lie in memory, which decides how a tile of it is copied.
enum matmul_layout {
    MATMUL_ALONG_K,    // neighbours are neighbours in k: a tile is transposed while it is loaded, float by float
    MATMUL_ALONG_ROWS, // neighbours are neighbours in m or n, but rows begin or end at any float
    MATMUL_VECTORS,    // the same, and every row is aligned: four floats per copy
};

// a as (m, k) or b as (n, k), in either storage order: `rows` is m or n.
struct matmul_side {
    const float *data;
    unsigned pitch_bytes; // between rows, or between steps of k if rows are neighbours
    int rows;
    int layout;
};

enum {
    // Floats added to a row of a tile in shared memory. With copies along k, a warp writes 8 steps of k of 4 rows: if
    // rows are 4 floats longer than a multiple of 32, these are 32 different banks, and float4s stay aligned.
    MATMUL_PADDING = 4,
    MATMUL_COPY_K = 8,
    MATMUL_VECTOR = 4, // floats of a 16-byte access
};

// Where a thread copies from: its own first element of the next tile.
struct matmul_cursor {
    const char *from;
    int row;
};

// What is read for column `column` of a tile that starts at `row`: itself or, past the end, one of the first. Not the
// last one for all: lanes of a warp that copy the same float to different places are serialised.
__device__ __forceinline__ int matmul_inside(const matmul_side &side, int row, int column)
{
    return row + column < side.rows ? row + column : column % side.rows;
}

template <int ROWS> __device__ __forceinline__ matmul_cursor matmul_start(const matmul_side &side, int row, int k)
{
    const int thread = threadIdx.x, vectors = ROWS / MATMUL_VECTOR;
    matmul_cursor cursor = {(const char *)side.data, 0};
    if (side.layout == MATMUL_ALONG_K) {
        cursor.row = row + thread / MATMUL_COPY_K;
        cursor.from += (ptrdiff_t)(k + thread % MATMUL_COPY_K) * (int)sizeof(float);
    } else if (side.layout == MATMUL_VECTORS) {
        int column = matmul_inside(side, row, thread % vectors * MATMUL_VECTOR);
        cursor.from += (ptrdiff_t)(k + thread / vectors) * side.pitch_bytes + (ptrdiff_t)column * sizeof(float);
    } else {
        int column = matmul_inside(side, row, thread % ROWS);
        cursor.from += (ptrdiff_t)(k + thread / ROWS) * side.pitch_bytes + (ptrdiff_t)column * sizeof(float);
    }
    return cursor;
}

// Copies the next tile (DEPTH, ROWS) of an operand to shared memory. GUARDED: its first `missing` steps are zeros.
template <class T, int ROWS, bool GUARDED>
__device__ __forceinline__ void matmul_copy(float *tile, matmul_cursor &cursor, const matmul_side &side, int missing)
{
    const int pitch = ROWS + MATMUL_PADDING, thread = threadIdx.x;
    if (side.layout == MATMUL_ALONG_K) {
        const int step = thread % MATMUL_COPY_K;
        float *to = tile + step * pitch + thread / MATMUL_COPY_K;
#pragma unroll
        for (int r = 0; r < ROWS; r += T::THREADS / MATMUL_COPY_K) {
            unsigned row = min(cursor.row + r, side.rows - 1);
            const char *from = cursor.from + (size_t)row * side.pitch_bytes;
#pragma unroll
            for (int p = 0; p < T::DEPTH; p += MATMUL_COPY_K)
                if (!GUARDED || step + p >= missing)
                    __pipeline_memcpy_async(to + p * pitch + r, from + p * sizeof(float), sizeof(float));
                else
                    to[p * pitch + r] = 0;
        }
        cursor.from += T::DEPTH * sizeof(float);
    } else if (side.layout == MATMUL_VECTORS) {
        const int vectors = ROWS / MATMUL_VECTOR, first = thread / vectors, together = T::THREADS / vectors;
        float *to = tile + first * pitch + thread % vectors * MATMUL_VECTOR;
#pragma unroll
        for (int p = 0; p < T::DEPTH; p += together)
            if (!GUARDED || first + p >= missing)
                __pipeline_memcpy_async(to + p * pitch, cursor.from + (size_t)(unsigned)p * side.pitch_bytes,
                                        sizeof(float4));
            else
                *(float4 *)(to + p * pitch) = make_float4(0, 0, 0, 0);
        cursor.from += (size_t)T::DEPTH * side.pitch_bytes;
    } else {
        const int first = thread / ROWS, together = T::THREADS / ROWS;
        float *to = tile + first * pitch + thread % ROWS;
#pragma unroll
        for (int p = 0; p < T::DEPTH; p += together)
            if (!GUARDED || first + p >= missing)
                __pipeline_memcpy_async(to + p * pitch, cursor.from + (size_t)(unsigned)p * side.pitch_bytes,
                                        sizeof(float));
            else
                to[p * pitch] = 0;
        cursor.from += (size_t)T::DEPTH * side.pitch_bytes;
    }
}

// COUNT floats of a step of k, in groups of four that are `apart` floats apart.
template <int COUNT> __device__ __forceinline__ void matmul_fragment(float *values, const float *from, int apart)
{
#pragma unroll
    for (int g = 0; g < COUNT / MATMUL_VECTOR; g++) {
        float4 four = *(const float4 *)(from + g * apart);
        values[4 * g] = four.x;
        values[4 * g + 1] = four.y;
        values[4 * g + 2] = four.z;
        values[4 * g + 3] = four.w;
    }
}

struct matmul_task {
    matmul_side a, b;
    int splits;
    int tiles_m, tiles_n;
    size_t stride_a, stride_b; // between the products of a batch, in floats
    heddle_product product;
    float *partial;     // (splits, batch, m, n) if k is split, else NULL
    int edge_m, edge_n; // last rows and columns that no tile covers
    int blocks;         // of tiles; the blocks after them take the edges
};

template <int BLOCK_M_, int BLOCK_N_, int DEPTH_, int WARP_M_, int WARP_N_, int THREAD_M_, int THREAD_N_, int STAGES_,
          int RESIDENT_>
struct matmul_tiling {
    enum {
        BLOCK_M = BLOCK_M_,
        BLOCK_N = BLOCK_N_,
        DEPTH = DEPTH_,
        WARP_M = WARP_M_,
        WARP_N = WARP_N_,
        THREAD_M = THREAD_M_,
        THREAD_N = THREAD_N_,
        STAGES = STAGES_,
        RESIDENT = RESIDENT_,
        WARPS_M = BLOCK_M / WARP_M,
        WARPS_N = BLOCK_N / WARP_N,
        LANES_M = WARP_M / THREAD_M,
        LANES_N = WARP_N / THREAD_N,
        THREADS = 32 * WARPS_M * WARPS_N,
        PITCH_A = BLOCK_M + MATMUL_PADDING,
        PITCH_B = BLOCK_N + MATMUL_PADDING,
        SIZE_A = DEPTH * PITCH_A, // floats of a tile
        SIZE_B = DEPTH * PITCH_B,
        SHARED_TILES = STAGES * (SIZE_A + SIZE_B), // floats; the sums may need the same memory afterwards
        SHARED_SUMS = BLOCK_M * PITCH_B,
        SHARED_BYTES = (SHARED_TILES > SHARED_SUMS ? SHARED_TILES : SHARED_SUMS) * sizeof(float),
    };
    static_assert(LANES_M * LANES_N == 32, "a warp's tile is 32 threads' tiles");
    static_assert(THREADS >= BLOCK_M && THREADS >= BLOCK_N, "a thread copies from one row or column of a step of k");
    static_assert(DEPTH % 2 == 0 && DEPTH % MATMUL_COPY_K == 0, "two parts in turn; copies along k");
};

// Tiles are numbered in bands of this many rows, down first. Blocks that run at the same time then form roughly a
// square, and the L2 cache holds its rows of a and columns of b for all of them.
enum { MATMUL_BAND = 16 };

__device__ __forceinline__ void matmul_place(const matmul_task &task, int tile, int *m, int *n)
{
    int band = tile / (MATMUL_BAND * task.tiles_n), within = tile % (MATMUL_BAND * task.tiles_n);
    int height = min(MATMUL_BAND, task.tiles_m - band * MATMUL_BAND);
    *m = band * MATMUL_BAND + within % height;
    *n = within / height;
}

// The epilogue of a finished sum: a part of k is added later, a whole sum gets its factors and its bias now.
__device__ __forceinline__ float matmul_finish(const matmul_task &task, float sum, const float *to, int column)
{
    const heddle_product &product = task.product;
    if (task.partial)
        return sum;
    sum *= product.alpha;
    if (product.beta != 0.0f)
        sum += product.beta * *to;
    return product.bias ? sum + product.bias[column] : sum;
}

// If rows of the output are aligned: each thread stores its own sums, four at a time. (row, column) is its first.
template <class T>
__device__ __forceinline__ void matmul_store(const matmul_task &task, const float sum[T::THREAD_M][T::THREAD_N],
                                             float *output, int row, int column)
{
#pragma unroll
    for (int i = 0; i < T::THREAD_M; i++) {
        int r = row + i / MATMUL_VECTOR * T::LANES_M * MATMUL_VECTOR + i % MATMUL_VECTOR;
#pragma unroll
        for (int g = 0; g < T::THREAD_N / MATMUL_VECTOR; g++) {
            int c = column + g * T::LANES_N * MATMUL_VECTOR;
            if (r >= task.product.m || c >= task.product.n)
                continue;
            float *to = output + (size_t)r * task.product.n + c;
            const float *four = &sum[i][g * MATMUL_VECTOR];
            *(float4 *)to =
                make_float4(matmul_finish(task, four[0], to, c), matmul_finish(task, four[1], to + 1, c + 1),
                            matmul_finish(task, four[2], to + 2, c + 2), matmul_finish(task, four[3], to + 3, c + 3));
        }
    }
}

// If they are not, lanes would store to 32 sectors at a time. The sums go through shared memory (`tile`), from which a
// warp stores 32 neighbours.
template <class T>
__device__ __forceinline__ void matmul_store_turned(const matmul_task &task, const float sum[T::THREAD_M][T::THREAD_N],
                                                    float *tile, float *output, int block_m, int block_n, int row,
                                                    int column)
{
    __syncthreads();
#pragma unroll
    for (int i = 0; i < T::THREAD_M; i++)
#pragma unroll
        for (int g = 0; g < T::THREAD_N / MATMUL_VECTOR; g++) {
            int r = row + i / MATMUL_VECTOR * T::LANES_M * MATMUL_VECTOR + i % MATMUL_VECTOR;
            int c = column + g * T::LANES_N * MATMUL_VECTOR;
            const float *four = &sum[i][g * MATMUL_VECTOR];
            *(float4 *)(tile + r * T::PITCH_B + c) = make_float4(four[0], four[1], four[2], four[3]);
        }
    __syncthreads();
    const int columns = min((int)T::BLOCK_N, task.product.n - block_n);
    const int rows = min((int)T::BLOCK_M, task.product.m - block_m);
    int across = T::BLOCK_N; // threads across: if columns are few, the others take further rows
    while (across / 2 >= columns)
        across /= 2;
    const int c = threadIdx.x % across;
    if (c < columns)
        for (int r = threadIdx.x / across; r < rows; r += T::THREADS / across) {
            float *to = output + (size_t)(block_m + r) * task.product.n + block_n + c;
            *to = matmul_finish(task, tile[r * T::PITCH_B + c], to, block_n + c);
        }
}

// A thread's part of a step of k: its rows of a, its columns of b.
template <class T> struct matmul_part {
    float a[T::THREAD_M], b[T::THREAD_N];
};

template <class T>
__device__ __forceinline__ void matmul_read(matmul_part<T> &part, const float *from_a, const float *from_b)
{
    matmul_fragment<T::THREAD_M>(part.a, from_a, T::LANES_M * MATMUL_VECTOR);
    matmul_fragment<T::THREAD_N>(part.b, from_b, T::LANES_N * MATMUL_VECTOR);
}

// The order matters, and the compiler keeps it. Along a row one factor stays in the operand collector, and the sums,
// which are read and written, come from the two register banks alternately; down a column they would all come from one.
template <class T>
__device__ __forceinline__ void matmul_multiply(float sum[T::THREAD_M][T::THREAD_N], const matmul_part<T> &part)
{
#pragma unroll
    for (int i = 0; i < T::THREAD_M; i++)
#pragma unroll
        for (int j = 0; j < T::THREAD_N; j++)
            sum[i][j] += part.a[i] * part.b[j];
}

// --- edges -----------------------------------------------------------------------------------------------------------
// A few rows or columns beyond whole tiles: a tile for them would take as long as a full one, and often a whole round
// of tiles. Each of their elements is a sum by itself, in blocks that run beside those of the tiles.

enum { MATMUL_EDGE_ROWS = 4 }; // rows of the long side per warp, if they lie along k: that many sums one after another

// Warps for an edge along `rows` rows of the long side.
static __host__ __device__ inline int matmul_edge_warps(int layout, int rows)
{
    const int each = layout == MATMUL_ALONG_K ? (int)MATMUL_EDGE_ROWS : 32;
    return (rows + each - 1) / each;
}

__device__ __forceinline__ const float *matmul_element(const matmul_side &side, int row, int k)
{
    const bool along_k = side.layout == MATMUL_ALONG_K;
    return (const float *)((const char *)side.data + (size_t)(along_k ? row : k) * side.pitch_bytes) +
           (along_k ? k : row);
}

// The products of some rows of the long side and of rows first ... last - 1 of the short one: one warp per row if the
// long side lies along k, else one lane per row. `down`, `across`: the distance between rows of the two sides in the
// output.
__device__ static void matmul_edge(const matmul_task &task, float *output, const matmul_side &many, int rows, int down,
                                   const matmul_side &few, int first, int last, int across, int warp)
{
    const bool along_k = many.layout == MATMUL_ALONG_K;
    const int lane = threadIdx.x % 32, from = along_k ? lane : 0, apart = along_k ? 32 : 1;
    const int begin = along_k ? warp * MATMUL_EDGE_ROWS : warp * 32 + lane;
    const int end = along_k ? min(begin + (int)MATMUL_EDGE_ROWS, rows) : min(begin + 1, rows);
    for (int i = begin; i < end; i++)
        for (int j = first; j < last; j++) {
            float sum = 0;
#pragma unroll 4
            for (int p = from; p < task.product.k; p += apart)
                sum += *matmul_element(many, i, p) * *matmul_element(few, j, p);
            for (int distance = 16; along_k && distance > 0; distance /= 2)
                sum += __shfl_xor_sync(0xffffffffu, sum, distance);
            const size_t at = (size_t)i * down + (size_t)j * across;
            if (!along_k || lane == 0)
                output[at] = matmul_finish(task, sum, output + at, (int)(at % task.product.n));
        }
}

// The last columns, of all rows; then the last rows, of the columns before those.
template <class T> __device__ static void matmul_edges(const matmul_task &task)
{
    const heddle_product &product = task.product;
    const int rows = product.m, columns = product.n - task.edge_n;
    const int warps_n = task.edge_n ? matmul_edge_warps(task.a.layout, rows) : 0;
    const int warps = warps_n + (task.edge_m ? matmul_edge_warps(task.b.layout, columns) : 0);
    const int index = ((int)blockIdx.x - task.blocks) * (T::THREADS / 32) + (int)threadIdx.x / 32;
    const int batch = index / warps, warp = index % warps;
    if (batch >= product.batch)
        return;
    matmul_side a = task.a, b = task.b;
    a.data += batch * task.stride_a;
    b.data += batch * task.stride_b;
    float *output = product.output + (size_t)batch * product.m * product.n;
    if (warp < warps_n)
        matmul_edge(task, output, a, rows, product.n, b, columns, product.n, 1, warp);
    else
        matmul_edge(task, output, b, columns, 1, a, rows - task.edge_m, rows, product.n, warp - warps_n);
}

// --- the kernel ------------------------------------------------------------------------------------------------------

template <class T> __global__ void __launch_bounds__(T::THREADS, T::RESIDENT) matmul_tuned(matmul_task task)
{
    if ((int)blockIdx.x >= task.blocks) {
        matmul_edges<T>(task);
        return;
    }
    extern __shared__ float4 matmul_shared[];
    float *tiles_a = (float *)matmul_shared, *tiles_b = tiles_a + T::STAGES * T::SIZE_A; // (STAGES, DEPTH, PITCH)

    // Which tile of which product, and which tiles of k.
    const int tiles = task.tiles_m * task.tiles_n;
    const int split = blockIdx.x / tiles % task.splits, batch = blockIdx.x / tiles / task.splits;
    int block_m, block_n;
    matmul_place(task, blockIdx.x % tiles, &block_m, &block_n);
    block_m *= T::BLOCK_M;
    block_n *= T::BLOCK_N;
    task.a.data += batch * task.stride_a;
    task.b.data += batch * task.stride_b;
    const int steps = (task.product.k + T::DEPTH - 1) / T::DEPTH, shift = steps * T::DEPTH - task.product.k;
    const int begin = (int)((long long)steps * split / task.splits);
    const int end = (int)((long long)steps * (split + 1) / task.splits);
    // Steps of the first tile that are zeros and need not be multiplied. Parts are handled in pairs, so an even number.
    int skipped = begin == 0 ? shift & ~1 : 0;

    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp / T::WARPS_N * T::WARP_M + lane / T::LANES_N * MATMUL_VECTOR;
    const int column = warp % T::WARPS_N * T::WARP_N + lane % T::LANES_N * MATMUL_VECTOR;

    // All stages but one are in flight before the first is needed.
    matmul_cursor cursor_a = matmul_start<T::BLOCK_M>(task.a, block_m, begin * T::DEPTH - shift);
    matmul_cursor cursor_b = matmul_start<T::BLOCK_N>(task.b, block_n, begin * T::DEPTH - shift);
#pragma unroll 1
    for (int s = 0; s < T::STAGES - 1; s++) {
        const int missing = begin + s == 0 ? shift : 0;
        if (begin + s < end) {
            matmul_copy<T, T::BLOCK_M, true>(tiles_a + s * T::SIZE_A, cursor_a, task.a, missing);
            matmul_copy<T, T::BLOCK_N, true>(tiles_b + s * T::SIZE_B, cursor_b, task.b, missing);
        }
        __pipeline_commit();
    }

    // One part is multiplied while the next is loaded from shared memory. The loop over k is not unrolled beyond the
    // pair: the compiler would move loads down to their use, and wait for them there.
    float sum[T::THREAD_M][T::THREAD_N] = {{0}};
    matmul_part<T> even, odd;
    int here = 0, fill = T::STAGES - 1; // stages: the one read, and the one free to be filled
    __pipeline_wait_prior(T::STAGES - 2);
    __syncthreads();
    if (begin < end)
        matmul_read<T>(even, tiles_a + row + skipped * T::PITCH_A, tiles_b + column + skipped * T::PITCH_B);
    for (int step = begin; step < end; step++) {
        const float *from_a = tiles_a + here * T::SIZE_A + row + skipped * T::PITCH_A;
        const float *from_b = tiles_b + here * T::SIZE_B + column + skipped * T::PITCH_B;
        matmul_read<T>(odd, from_a + T::PITCH_A, from_b + T::PITCH_B);
        if (step + T::STAGES - 1 < end) {
            matmul_copy<T, T::BLOCK_M, false>(tiles_a + fill * T::SIZE_A, cursor_a, task.a, 0);
            matmul_copy<T, T::BLOCK_N, false>(tiles_b + fill * T::SIZE_B, cursor_b, task.b, 0);
        }
        __pipeline_commit();
        fill = fill == T::STAGES - 1 ? 0 : fill + 1;
        matmul_multiply<T>(sum, even);
#pragma unroll 1
        for (int p = 2 + skipped; p < T::DEPTH; p += 2) {
            from_a += 2 * T::PITCH_A;
            from_b += 2 * T::PITCH_B;
            matmul_read<T>(even, from_a, from_b);
            matmul_multiply<T>(sum, odd);
            matmul_read<T>(odd, from_a + T::PITCH_A, from_b + T::PITCH_B);
            matmul_multiply<T>(sum, even);
        }
        // The next tile must have arrived. After this barrier no thread reads this one, so copies may overwrite it.
        __pipeline_wait_prior(T::STAGES - 2);
        __syncthreads();
        here = here == T::STAGES - 1 ? 0 : here + 1;
        skipped = 0;
        if (step + 1 < end)
            matmul_read<T>(even, tiles_a + here * T::SIZE_A + row, tiles_b + here * T::SIZE_B + column);
        matmul_multiply<T>(sum, odd);
    }

    const size_t elements = (size_t)task.product.m * task.product.n;
    float *output = task.partial ? task.partial + ((size_t)split * task.product.batch + batch) * elements
                                 : task.product.output + (size_t)batch * elements;
    if (task.product.n % MATMUL_VECTOR == 0 && (size_t)output % sizeof(float4) == 0)
        matmul_store<T>(task, sum, output, block_m + row, block_n + column);
    else
        matmul_store_turned<T>(task, sum, tiles_a, output, block_m, block_n, row, column);
}
