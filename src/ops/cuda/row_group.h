// A row in the registers of a group of threads: how its elements are distributed, and reductions over the group. A
// group is a part of a warp, a warp, or a block. A row is read once and written once, whatever is done to it in
// between. For the rungs that normalise rows.
#pragma once

#include "ops/cuda/mma.h"
#include "ops/cuda/vector.h"

enum {
    HEDDLE_WARP = 32,
    HEDDLE_WARPS = 32,      // of the largest block
    HEDDLE_ROW_BLOCK = 128, // threads per block with several groups: small, so that blocks end at different times
};

// Groups by size: threads per group, and vectors of four elements per thread. The first that holds a row is used. Up to
// 1024 elements a warp has a row, and nobody waits at a barrier. Beyond that, four vectors are enough loads in flight.
// The largest row has eight: two blocks of 512 threads alternate on an SM, while one of 1024 would leave it waiting at
// every barrier.
#define HEDDLE_ROW_GROUPS(GROUP)                                                                                       \
    GROUP(4, 1), GROUP(8, 1), GROUP(16, 1), GROUP(32, 1), GROUP(32, 2), GROUP(32, 4), GROUP(32, 6), GROUP(32, 8),      \
        GROUP(128, 4), GROUP(256, 4), GROUP(512, 4), GROUP(512, 8)

__host__ __device__ constexpr int heddle_row_block(int threads)
{
    return threads > HEDDLE_WARP ? threads : HEDDLE_ROW_BLOCK;
}

typedef struct heddle_row_group {
    int threads, vectors;
} heddle_row_group;

#define HEDDLE_ROW_GROUP(threads, vectors)                                                                             \
    {                                                                                                                  \
        threads, vectors                                                                                               \
    }
static const heddle_row_group heddle_row_groups[] = {HEDDLE_ROW_GROUPS(HEDDLE_ROW_GROUP)};

static inline int heddle_row_group_count(void)
{
    return sizeof heddle_row_groups / sizeof *heddle_row_groups;
}

// Number of the group size that holds a row, -1 if none does; and a launch of such groups.
static inline int heddle_row_group_of(int cols)
{
    for (int group = 0; group < heddle_row_group_count(); group++)
        if (cols <= HEDDLE_VECTOR * heddle_row_groups[group].threads * heddle_row_groups[group].vectors)
            return group;
    return -1;
}

static inline int heddle_row_threads(int group)
{
    return heddle_row_block(heddle_row_groups[group].threads);
}

static inline unsigned heddle_row_blocks(int group, int rows)
{
    int together = heddle_row_threads(group) / heddle_row_groups[group].threads; // rows per block
    return (unsigned)((rows - 1) / together + 1);                                // rows > 0
}

// Which thread of its group this is, and the group's row.
template <int threads> __device__ static inline int heddle_group_lane(void)
{
    return threadIdx.x % threads;
}

template <int threads> __device__ static inline size_t heddle_group_row(void)
{
    return (size_t)blockIdx.x * (heddle_row_block(threads) / threads) + threadIdx.x / threads;
}

// --- reductions over a group ----------------------------------------------------------------------------------------

template <bool largest> __device__ static inline float heddle_group_combine(float a, float b)
{
    return largest ? fmaxf(a, b) : a + b;
}

// Over `lanes` neighbours, with the same result in each of them.
template <int lanes, bool largest> __device__ static inline float heddle_lanes_combine(float value)
{
#pragma unroll
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        value = heddle_group_combine<largest>(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

// Over the group, with the same result in every thread. All threads of the block take part. `of_warp` is shared memory
// that no thread may still be reading: the next call needs another.
template <int threads, bool largest> __device__ static inline float heddle_group_all(float value, float *of_warp)
{
    constexpr int lanes = threads < HEDDLE_WARP ? threads : HEDDLE_WARP;
    constexpr int warps = threads / lanes;
    value = heddle_lanes_combine<lanes, largest>(value);
    if (warps == 1)
        return value;
    if (threadIdx.x % HEDDLE_WARP == 0)
        of_warp[threadIdx.x / HEDDLE_WARP] = value;
    __syncthreads();
    return heddle_lanes_combine<warps, largest>(of_warp[threadIdx.x % warps]); // each warp separately
}

template <int threads> __device__ static inline float heddle_group_sum(float value, float *of_warp)
{
    return heddle_group_all<threads, false>(value, of_warp);
}

// Two sums with one barrier.
template <int threads> __device__ static inline float2 heddle_group_sums(float2 value, float2 *of_warp)
{
    constexpr int lanes = threads < HEDDLE_WARP ? threads : HEDDLE_WARP;
    constexpr int warps = threads / lanes;
    value = make_float2(heddle_lanes_combine<lanes, false>(value.x), heddle_lanes_combine<lanes, false>(value.y));
    if (warps == 1)
        return value;
    if (threadIdx.x % HEDDLE_WARP == 0)
        of_warp[threadIdx.x / HEDDLE_WARP] = value;
    __syncthreads();
    value = of_warp[threadIdx.x % warps];
    return make_float2(heddle_lanes_combine<warps, false>(value.x), heddle_lanes_combine<warps, false>(value.y));
}

template <int threads> __device__ static inline float heddle_group_max(float value, float *of_warp)
{
    return heddle_group_all<threads, true>(value, of_warp);
}

// --- distribution of a row over a group ----------------------------------------------------------------------------

// Column of a thread's element k of vector i. aligned: vectors are four neighbours; otherwise threads are neighbours,
// so that a warp's scalar loads are contiguous.
template <int threads, bool aligned> __device__ static inline int heddle_row_col(int i, int k)
{
    int lane = heddle_group_lane<threads>();
    return aligned ? HEDDLE_VECTOR * (lane + i * threads) + k : lane + (HEDDLE_VECTOR * i + k) * threads;
}

// row: (cols), with `missing` beyond its end. aligned: it is 16-byte aligned and cols is a multiple of 4.
template <int threads, int vectors, bool aligned>
__device__ static inline void heddle_row_load(const float *row, int cols, float missing, float (*value)[HEDDLE_VECTOR])
{
#pragma unroll
    for (int i = 0; i < vectors; i++) {
        float4 loaded = make_float4(missing, missing, missing, missing);
        if (aligned) {
            int col = heddle_row_col<threads, true>(i, 0);
            if (col < cols)
                loaded = *(const float4 *)(row + col);
        } else {
            int col = heddle_row_col<threads, false>(i, 0);
            loaded.x = col < cols ? row[col] : missing;
            loaded.y = col + threads < cols ? row[col + threads] : missing;
            loaded.z = col + 2 * threads < cols ? row[col + 2 * threads] : missing;
            loaded.w = col + 3 * threads < cols ? row[col + 3 * threads] : missing;
        }
        value[i][0] = loaded.x;
        value[i][1] = loaded.y;
        value[i][2] = loaded.z;
        value[i][3] = loaded.w;
    }
}

template <int threads, int vectors, bool aligned>
__device__ static inline void heddle_row_store(float *row, int cols, float (*value)[HEDDLE_VECTOR])
{
#pragma unroll
    for (int i = 0; i < vectors; i++) {
        int col = heddle_row_col<threads, aligned>(i, 0);
        if (aligned && col < cols)
            *(float4 *)(row + col) = make_float4(value[i][0], value[i][1], value[i][2], value[i][3]);
        for (int k = 0; !aligned && k < HEDDLE_VECTOR; k++)
            if (col + k * threads < cols)
                row[col + k * threads] = value[i][k];
    }
}

// Starts a copy of 16 bytes from global to shared memory (cp.async) that nobody reads again: the L2 cache drops them
// first, and keeps output that memory need not take yet.
__device__ static inline void heddle_copy_once(float4 *shared, const float *global)
{
#if defined(HEDDLE_SIM_MODULE) // it has no caches
    cp_async_16(shared, global);
#else
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(mma_shared_address(shared)),
                 "l"(global), "l"(policy)
                 : "memory");
#endif
}
