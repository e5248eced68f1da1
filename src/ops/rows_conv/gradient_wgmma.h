// The product behind rows_conv_backward_weight on Hopper: grad_weight = sum over rows of grad_output times shifted
// input.
//
// In both operands the summed dimension is the rows, which must be wgmma's k: M-major tiles. A tap is again a shift of
// the input by rows, and neighbouring taps are shifts by one row: a wgmma whose operand's next 64 columns begin one row
// further on multiplies three taps at once. Three warpgroups have one line of a 3x3 filter each and share the tile of
// grad_output. For a filter of one tap (a linear layer, patches), two warpgroups have 64 channels of grad_output each.
//
// Each part of the rows belongs to a cluster, whose blocks add their sums by reading each other's shared memory. Warps
// that would otherwise be idle compute the sums of grad_output's columns, the gradient of the bias, from the same
// tiles. What happens to the sums is the End's: stored as parts of a gradient, or used for an optimiser's step at once.
// An End that wants no sums of columns may have them from elsewhere (take_no_bias).
//
// Pairs are multiplied in three passes as in product_wgmma.h, over a few stages of rows at a time, so that all but the
// first pass find them in the L2 cache. Between passes the sums are scaled by 2048 or back, which is exact.
#pragma once

#include "ops/cuda/rung.h"
#include "ops/rows_conv/product_wgmma.h"

enum {
    ROWS_GRADIENT_ROWS = 128,        // of grad_output in one stage
    ROWS_GRADIENT_STAGES = 8,        // at most
    ROWS_GRADIENT_PASS = 4,          // stages of rows that a pass over pairs has
    ROWS_GRADIENT_DONE = 1,          // the barrier behind a block's products
    ROWS_GRADIENT_BYTES = 225 << 10, // of the 227 KiB that a block may have: the kernel uses 1.7 KiB besides
};

struct rows_gradient {
    int rows, c, k;
    int taps;        // of the filter
    int first, halo; // the smallest shift; input rows in one stage
    int stages;
    int k_tiles, c_tiles, parts;
    int part_stages; // stages of rows in one part
    int cluster;     // blocks that share a part
    int shift[3];    // of each line's first tap
};

struct rows_gradient_barriers {
    uint64_t full[ROWS_GRADIENT_STAGES], empty[ROWS_GRADIENT_STAGES];
};

// Lines: of the filter's taps, three neighbours in each; 1: a single tap.
template <int Lines, int Columns> struct rows_gradient_kind {
    enum {
        WARPGROUPS = Lines == 1 ? 2 : Lines,
        OUTPUT_BOXES = Lines == 1 ? 2 : 1,                  // of 64 channels of grad_output
        INPUT_BOXES = Lines == 1 ? (Columns + 63) / 64 : 1, // of 64 channels of the input
        THREADS = (WARPGROUPS + 1) * HOPPER_WARPGROUP,
        TILE_K = OUTPUT_BOXES * 64,
        TILE_N = Lines == 1 ? Columns : Lines * Columns, // of the sums of a block
        SUMS_PITCH = TILE_N + 8,                         // floats from row to row of them in shared memory
        ADDERS = 3,                                      // warps that sum columns
        CONSUMER_REGISTERS = WARPGROUPS == 2 ? 232 : 152,
    };
};

// Calls work(from, to, pass) for the stages of a block's rows, in the order in which they are loaded.
template <int Pairs, typename Work> HOPPER_DEVICE void rows_gradient_passes(int count, Work work)
{
    if (!Pairs)
        work(0, count, ROWS_NONE_LOWER);
    for (int from = 0; Pairs && from < count; from += ROWS_GRADIENT_PASS)
        for (int pass = 0; pass < ROWS_PASSES; pass++)
            work(from, min(from + (int)ROWS_GRADIENT_PASS, count), pass);
}

template <int Lines, int Columns, int Pairs>
HOPPER_DEVICE void rows_gradient_load(const rows_gradient &job, const CUtensorMap *map_output,
                                      const CUtensorMap *map_input, unsigned char *stages, int stage_bytes,
                                      rows_gradient_barriers *barriers, int k, int c, int first, int from, int to,
                                      int pass, rows_stage *at)
{
    typedef rows_gradient_kind<Lines, Columns> kind;
    for (int i = from; i < to; i++) {
        const int row = (first + i) * ROWS_GRADIENT_ROWS;
        unsigned char *place = stages + at->index * stage_bytes;
        uint64_t *full = &barriers->full[at->index];
        mbarrier_wait(&barriers->empty[at->index], at->phase ^ 1);
        mbarrier_arrive_expect(full, stage_bytes);
#pragma unroll
        for (int box = 0; box < (int)kind::OUTPUT_BOXES; box++, place += ROWS_GRADIENT_ROWS * HOPPER_ROW_BYTES)
            rows_load_box<Pairs>(place, map_output, 0, 0, pass == ROWS_OTHER_LOWER, k + box * 64, row, full);
#pragma unroll
        for (int box = 0; box < (int)kind::INPUT_BOXES; box++, place += job.halo * HOPPER_ROW_BYTES)
            rows_load_box<Pairs>(place, map_input, 0, 0, pass == ROWS_INPUT_LOWER, c + box * 64, row + job.first, full);
        rows_advance(at, job.stages);
    }
}

// Stores a warpgroup's sums to shared memory.
template <int Lines, int Columns>
HOPPER_DEVICE void rows_gradient_keep(const float (&sums)[Columns / 2], float *kept, int warpgroup)
{
    typedef rows_gradient_kind<Lines, Columns> kind;
    const int lane = threadIdx.x % 32, warp = threadIdx.x % HOPPER_WARPGROUP / 32;
    kept += Lines == 1 ? warpgroup * 64 * kind::SUMS_PITCH : warpgroup * Columns;
#pragma unroll
    for (int i = 0; i < Columns / 2; i += 2)
        *(float2 *)&kept[(warp * 16 + i / 2 % 2 * 8 + lane / 4) * kind::SUMS_PITCH + i / 4 * 8 + lane % 4 * 2] =
            make_float2(sums[i], sums[i + 1]);
}

// Four floats of shared memory of block `rank` of the cluster.
HOPPER_DEVICE float4 cluster_read(const float *from, unsigned rank)
{
    uint32_t address;
    float4 value;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(hopper_shared(from)), "r"(rank));
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "r"(address)
                 : "memory");
    return value;
}

// An End that stores parts of a gradient: (part, k, tap, c), and (part, k) of the bias.
struct rows_gradient_parts {
    enum { BY_ALL = 1 }; // threads, those that loaded too
    float *gradient, *bias;

    __device__ bool wants_bias() const
    {
        return bias;
    }
    __device__ void take(const rows_gradient &job, int part, int k, int tap, int c, float4 sum) const
    {
        *(float4 *)&gradient[(((size_t)part * job.k + k) * job.taps + tap) * job.c + c] = sum;
    }
    __device__ void take_bias(const rows_gradient &job, int part, int k, float4 sum) const
    {
        *(float4 *)&bias[(size_t)part * job.k + k] = sum;
    }
    __device__ void take_no_bias(int k, int channels) const
    {
    }
};

// Adds this block's share of the cluster's sums and hands it to the End.
template <int Lines, int Columns, typename End>
HOPPER_DEVICE void rows_gradient_add(const rows_gradient &job, const float *kept, const End &end, int part, int k,
                                     int c)
{
    typedef rows_gradient_kind<Lines, Columns> kind;
    const int rank = job.cluster > 1 ? cluster_rank() : 0, quads = kind::TILE_K * kind::TILE_N / 4;
    const int threads = End::BY_ALL ? (int)kind::THREADS : kind::WARPGROUPS * HOPPER_WARPGROUP;
    if ((int)threadIdx.x >= threads)
        return;
#pragma unroll(End::BY_ALL ? 1 : 4)
    for (int i = rank * threads + threadIdx.x; i < quads; i += job.cluster * threads) {
        const int row = i / (kind::TILE_N / 4), column = i % (kind::TILE_N / 4) * 4;
        const float *from = &kept[row * kind::SUMS_PITCH + column];
        float4 sum = job.cluster > 1 ? cluster_read(from, 0) : *(const float4 *)from;
        for (int other = 1; other < job.cluster; other++) {
            const float4 more = cluster_read(from, other);
            sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
        }
        const int tap = Lines == 1 ? 0 : column / 64, at = c + (Lines == 1 ? column : column % 64);
        if (k + row < job.k && at < job.c) // c is a multiple of 8
            end.take(job, part, k + row, tap, at, sum);
    }
}

// Some stages of a block's rows: the sums of a warpgroup. `used` is the stage that is yet to be released.
template <typename Element, int Lines, int Columns>
HOPPER_DEVICE void rows_gradient_multiply(const rows_gradient &job, float (&sums)[Columns / 2],
                                          const unsigned char *stages, int stage_bytes,
                                          rows_gradient_barriers *barriers, int count, int warpgroup, rows_stage *at,
                                          int *used)
{
    typedef rows_gradient_kind<Lines, Columns> kind;
    const int line = Lines == 1 ? 0 : warpgroup, box = Lines == 1 ? warpgroup : 0;
    for (int i = 0; i < count; i++) {
        const unsigned char *output = stages + at->index * stage_bytes;
        const unsigned char *input = output + kind::OUTPUT_BOXES * ROWS_GRADIENT_ROWS * HOPPER_ROW_BYTES;
        const uint64_t a = wgmma_descriptor(output + box * ROWS_GRADIENT_ROWS * HOPPER_ROW_BYTES, 0);
        const uint64_t b = wgmma_descriptor(input + (job.shift[line] - job.first) * HOPPER_ROW_BYTES,
                                            Lines == 1 ? job.halo * HOPPER_ROW_BYTES : (int)HOPPER_ROW_BYTES);
        mbarrier_wait(&barriers->full[at->index], at->phase);
        wgmma_fence();
#pragma unroll
        for (int step = 0; step < ROWS_GRADIENT_ROWS / ROWS_STEP; step++)
            wgmma16<Columns, typename rows_factor<Element>::type>::template multiply<1, 1>(
                sums, wgmma_descriptor_at(a, step * ROWS_STEP * HOPPER_ROW_BYTES),
                wgmma_descriptor_at(b, step * ROWS_STEP * HOPPER_ROW_BYTES), 1);
        wgmma_commit();
        wgmma_wait<1>();
        if (*used >= 0 && threadIdx.x % HOPPER_WARPGROUP == 0)
            mbarrier_arrive(&barriers->empty[*used]);
        *used = at->index;
        rows_advance(at, job.stages);
    }
    wgmma_wait<0>();
}

// All of them.
template <typename Element, int Lines, int Columns>
HOPPER_DEVICE void rows_gradient_multiply_all(const rows_gradient &job, float (&sums)[Columns / 2],
                                              const unsigned char *stages, int stage_bytes,
                                              rows_gradient_barriers *barriers, int count, int warpgroup)
{
    rows_stage at = {0, 0};
    int used = -1;
#pragma unroll
    for (int i = 0; i < Columns / 2; i++)
        sums[i] = 0;
    if (!rows_factor<Element>::PAIRS)
        rows_gradient_multiply<Element, Lines, Columns>(job, sums, stages, stage_bytes, barriers, count, warpgroup, &at,
                                                        &used);
    for (int from = 0; rows_factor<Element>::PAIRS && from < count; from += ROWS_GRADIENT_PASS) {
        const int some = min((int)ROWS_GRADIENT_PASS, count - from);
        rows_scale_sums(sums, rows_pair_scale);
        rows_gradient_multiply<Element, Lines, Columns>(job, sums, stages, stage_bytes, barriers,
                                                        ROWS_NONE_LOWER * some, warpgroup, &at, &used);
        rows_scale_sums(sums, rows_pair_unscale);
        rows_gradient_multiply<Element, Lines, Columns>(job, sums, stages, stage_bytes, barriers, some, warpgroup, &at,
                                                        &used);
    }
}

// The sums over rows of grad_output's columns: two channels per lane, every third row per warp. The columns of pairs
// are added once for each half.
template <typename Element, int Lines, int Columns>
HOPPER_DEVICE void rows_gradient_add_columns(const rows_gradient &job, const unsigned char *stages, int stage_bytes,
                                             rows_gradient_barriers *barriers, int count, int pass, rows_stage *at,
                                             float2 (&sums)[rows_gradient_kind<Lines, Columns>::OUTPUT_BOXES])
{
    typedef rows_gradient_kind<Lines, Columns> kind;
    typedef rows_element<typename rows_factor<Element>::type> element;
    const int lane = threadIdx.x % 32, adder = threadIdx.x % HOPPER_WARPGROUP / 32 - 1;
    const float scale = rows_factor<Element>::PAIRS && pass == ROWS_OTHER_LOWER ? rows_pair_unscale : 1.0f;
    for (int i = 0; i < count; i++) {
        mbarrier_wait(&barriers->full[at->index], at->phase);
        for (int row = pass == ROWS_INPUT_LOWER ? (int)ROWS_GRADIENT_ROWS : adder; row < ROWS_GRADIENT_ROWS;
             row += kind::ADDERS)
#pragma unroll
            for (int box = 0; box < (int)kind::OUTPUT_BOXES; box++) {
                const unsigned char *from = stages + at->index * stage_bytes +
                                            (box * ROWS_GRADIENT_ROWS + row) * HOPPER_ROW_BYTES +
                                            (lane / 4 ^ row % 8) * 16 + lane % 4 * 4;
                const float2 values = element::floats(*(const typename element::pair *)from);
                sums[box].x += values.x * scale, sums[box].y += values.y * scale;
            }
        __syncwarp();
        if (lane == 0)
            mbarrier_arrive(&barriers->empty[at->index]);
        rows_advance(at, job.stages);
    }
}

// The sums of columns; the first block of the cluster has all of them.
template <int Lines, int Columns, typename End>
HOPPER_DEVICE void rows_gradient_add_bias(const rows_gradient &job, const float (*columns)[128], const End &end,
                                          int part, int k)
{
    typedef rows_gradient_kind<Lines, Columns> kind;
    const int rank = job.cluster > 1 ? cluster_rank() : 0, quad = threadIdx.x * 4;
    if (rank > 0 || quad >= kind::TILE_K || k + quad >= job.k)
        return;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int block = 0; block < job.cluster; block++)
        for (int adder = 0; adder < (int)kind::ADDERS; adder++) {
            const float4 more =
                job.cluster > 1 ? cluster_read(&columns[adder][quad], block) : *(const float4 *)&columns[adder][quad];
            sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
        }
    end.take_bias(job, part, k + quad, sum);
}

template <typename Element, int Lines, int Columns, typename End>
__global__ void __launch_bounds__((rows_gradient_kind<Lines, Columns>::THREADS), 1)
    rows_gradient_wgmma(const __grid_constant__ rows_gradient job, const __grid_constant__ CUtensorMap map_output,
                        const __grid_constant__ CUtensorMap map_input, const __grid_constant__ End end)
{
    typedef rows_gradient_kind<Lines, Columns> kind;
    extern __shared__ unsigned char shared[];
    __shared__ rows_gradient_barriers barriers;
    __shared__ __align__(16) float columns[kind::ADDERS][128];
    unsigned char *stages =
        shared + (HOPPER_ROWS_BYTES - hopper_shared(shared) % HOPPER_ROWS_BYTES) % HOPPER_ROWS_BYTES;
    const int stage_bytes =
        ((int)kind::OUTPUT_BOXES * ROWS_GRADIENT_ROWS + (int)kind::INPUT_BOXES * job.halo) * HOPPER_ROW_BYTES;
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / HOPPER_WARPGROUP, 0);
    const int rank = blockIdx.x % job.cluster, part = blockIdx.x / job.cluster % job.parts;
    const int tile = blockIdx.x / job.cluster / job.parts;
    const int k = tile % job.k_tiles * kind::TILE_K, c = tile / job.k_tiles * (Lines == 1 ? Columns : 64);
    const int all = (job.rows + ROWS_GRADIENT_ROWS - 1) / ROWS_GRADIENT_ROWS;
    const int share = (job.part_stages + job.cluster - 1) / job.cluster, first = part * job.part_stages + rank * share;
    const int count = min(min(share, job.part_stages - rank * share), all - first); // may be negative: none
    const bool adds = end.wants_bias() && c == 0;
    if (threadIdx.x == 0) {
        for (int i = 0; i < job.stages; i++) {
            mbarrier_init(&barriers.full[i], 1);
            mbarrier_init(&barriers.empty[i], kind::WARPGROUPS + (adds ? kind::ADDERS : 0));
        }
        mbarrier_init_fence();
    }
    __syncthreads();
    heddle_wait_for_previous();
    heddle_release_next();
    if (warpgroup == (int)kind::WARPGROUPS) {
        registers_give_back<ROWS_PRODUCER_REGISTERS>();
        const int warp = threadIdx.x % HOPPER_WARPGROUP / 32;
        const int pairs = rows_factor<Element>::PAIRS, lane = threadIdx.x % 32;
        rows_stage at = {0, 0};
        if (threadIdx.x % HOPPER_WARPGROUP == 0) {
            rows_gradient_passes<pairs>(count, [&](int from, int to, int pass) {
                rows_gradient_load<Lines, Columns, pairs>(job, &map_output, &map_input, stages, stage_bytes, &barriers,
                                                          k, c, first, from, to, pass, &at);
            });
        } else if (warp > 0 && adds) {
            float2 sums[kind::OUTPUT_BOXES] = {};
            rows_gradient_passes<pairs>(count, [&](int from, int to, int pass) {
                rows_gradient_add_columns<Element, Lines, Columns>(job, stages, stage_bytes, &barriers, to - from, pass,
                                                                   &at, sums);
            });
#pragma unroll
            for (int box = 0; box < (int)kind::OUTPUT_BOXES; box++)
                *(float2 *)&columns[warp - 1][box * 64 + lane * 2] = sums[box];
        }
        __syncwarp();                                            // lane 0 of the first warp loads alone
        __barrier_sync_count(ROWS_GRADIENT_DONE, kind::THREADS); // __syncthreads would have to be one for all
    } else {
        registers_take<kind::CONSUMER_REGISTERS>();
        float sums[Columns / 2];
        rows_gradient_multiply_all<Element, Lines, Columns>(job, sums, stages, stage_bytes, &barriers, count,
                                                            warpgroup);
        __barrier_sync_count(ROWS_GRADIENT_DONE, kind::THREADS); // by all warpgroups: the operands' memory is free
        rows_gradient_keep<Lines, Columns>(sums, (float *)stages, warpgroup);
    }
    if (job.cluster > 1)
        cluster_sync();
    else
        __syncthreads();
    rows_gradient_add<Lines, Columns>(job, (const float *)stages, end, part, k, c);
    if (adds)
        rows_gradient_add_bias<Lines, Columns>(job, columns, end, part, k);
    else if (c == 0 && rank == 0)
        end.take_no_bias(k, kind::TILE_K);
    if (job.cluster > 1) // no block exits while another reads its sums
        cluster_sync();
}

// Shared memory of a stage, and of a block without its stages.
template <int Lines, int Columns> static int rows_gradient_stage_bytes(const rows_gradient &job)
{
    typedef rows_gradient_kind<Lines, Columns> kind;
    return ((int)kind::OUTPUT_BOXES * ROWS_GRADIENT_ROWS + (int)kind::INPUT_BOXES * job.halo) * HOPPER_ROW_BYTES;
}

template <int Lines> static constexpr int rows_gradient_besides()
{
    // compute-sanitizer takes a product's three taps to lie one behind another, and expects all of them to be there.
    return HOPPER_ROWS_BYTES + (Lines == 1 ? 0 : 4 << 10);
}

// Whether a block has room for two stages, of rows that TMA loads at once; sets their number, and that of the tiles.
template <int Lines, int Columns> static bool rows_gradient_place(rows_gradient *job)
{
    typedef rows_gradient_kind<Lines, Columns> kind;
    const int most_box = 256;
    job->stages = min((int)ROWS_GRADIENT_STAGES, (ROWS_GRADIENT_BYTES - rows_gradient_besides<Lines>()) /
                                                     rows_gradient_stage_bytes<Lines, Columns>(*job));
    job->k_tiles = (int)heddle_ceil_div(job->k, kind::TILE_K);
    job->c_tiles = (int)heddle_ceil_div(job->c, Lines == 1 ? Columns : 64);
    return job->halo <= most_box && job->stages >= 2;
}

template <typename Element, int Lines, int Columns, typename End>
static heddle_status rows_gradient_launch(const heddle_call *call, const rows_gradient &job, const End &end)
{
    typedef rows_gradient_kind<Lines, Columns> kind;
    CUtensorMap output, input;
    heddle_status status = rows_map<Element>(&output, call->input[0], job.rows, 1, job.k, ROWS_GRADIENT_ROWS);
    if (status == HEDDLE_OK)
        status = rows_map<Element>(&input, call->input[1], job.rows, 1, job.c, job.halo);
    if (status != HEDDLE_OK)
        return status;
    const int kept = kind::TILE_K * kind::SUMS_PITCH * (int)sizeof(float);
    const int bytes =
        rows_gradient_besides<Lines>() + max(kept, job.stages * rows_gradient_stage_bytes<Lines, Columns>(job));
    auto kernel = rows_gradient_wgmma<Element, Lines, Columns, End>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    heddle_cuda_launch_clusters(kernel, dim3(job.k_tiles * job.c_tiles * job.parts * job.cluster), dim3(kind::THREADS),
                                job.cluster, bytes, heddle_cuda_stream_of(call), job, output, input, end);
    return heddle_cuda_launched("02_wgmma");
}
