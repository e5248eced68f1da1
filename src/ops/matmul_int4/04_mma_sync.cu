// matmul_int4, rung 4: tensor cores, with weights unpacked straight into their operands.
//
// Rung 3 multiplied every weight by every row of the input on its own. One mma.sync multiplies 16 rows of weights by 8
// rows of the input over 16 of k. A lane has the operands of rows lane / 4 and lane / 4 + 8, four of k each. Which four
// does not matter, as long as weights and input agree: so a lane takes all of the chunk of 32 weights that it loads,
// pair by pair, for eight instructions. The four lanes of a row have 128 of k together. Nothing passes through shared
// memory on the way, and there is no operand to rearrange.
//
// Weights less their zero point are whole numbers, exact in fp16. They are scaled where the sum over 128 of k is, in
// float32: nothing is rounded but sums. Groups are therefore multiples of 128.
//
// A block has 32 rows, and its eight warps take 128 of k in turn; their sums meet in shared memory at the end. So even
// the few rows of a small layer occupy many warps. A warp loads its next weights before it multiplies those it has.
//
// Limited by: memory bandwidth, up to 16 rows of the input. Beyond 32, weights are unpacked again for every 32 rows.

#include "ops/cuda/mma.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/matmul_int4/chunk.h"

enum {
    WARP = 32,
    WARPS = 8,
    MMA_M = 16,
    MMA_N = 8,
    BLOCK_MMAS = 2, // of a warp, one below the other
    ROWS = BLOCK_MMAS * MMA_M,
    LANE_ROWS = ROWS / 8, // that a lane has chunks of
    LANES = 4,            // side by side, with one chunk of a row each
    HALVES = 8,           // of the input in 16 bytes
    ROW_PITCH = ROWS + 4, // floats between sums of two columns: those of a warp lie in different banks
};

// A lane's eight numbers of the input for a word of weights; zeros beyond its end, and beyond the last row. vectors:
// rows begin at multiples of 16 bytes, and so end with whole vectors.
template <bool vectors> __device__ static inline uint4 input_word(const int4_operands &of, int row, int column)
{
    uint4 word = make_uint4(0, 0, 0, 0);
    const __half *from = of.input + (size_t)row * of.shape.k + column;
    const int count = row < of.shape.m ? of.shape.k - column : 0;
    if (vectors && count > 0)
        word = *(const uint4 *)from;
    for (int e = 0; !vectors && e < HALVES && e < count; e++)
        ((__half *)&word)[e] = from[e];
    return word;
}

__device__ static inline uint32_t pair_of(const int4_chunk &chunk, int word, int pair)
{
    const __half2 two = int4_pair(chunk.words[word], pair, chunk.zero);
    return *(const uint32_t *)&two;
}

// A lane's chunks of a step that begins with chunk `begin` of the block's rows.
template <bool aligned>
__device__ static inline void load(int4_chunk (&chunk)[LANE_ROWS], const int4_operands &of, int first_j, int begin)
{
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int r = 0; r < LANE_ROWS; r++)
        chunk[r] = int4_load<aligned>(of, first_j + r * 8 + lane / LANES, begin + lane % LANES);
}

// sum += the chunks of a step times the input from `column` on.
template <int Tiles, bool vectors>
__device__ static inline void multiply(float (&sum)[BLOCK_MMAS][Tiles][4], const int4_chunk (&chunk)[LANE_ROWS],
                                       const int4_operands &of, int first_i, int column)
{
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int word = 0; word < HEDDLE_INT4_WORDS; word++) {
        uint4 input[Tiles];
#pragma unroll
        for (int t = 0; t < Tiles; t++)
            input[t] = input_word<vectors>(of, first_i + t * MMA_N + lane / LANES,
                                           column + lane % LANES * HEDDLE_INT4_CHUNK + word * HALVES);
#pragma unroll
        for (int b = 0; b < BLOCK_MMAS; b++)
#pragma unroll
            for (int pair = 0; pair < HALVES / 2; pair += 2) {
                const int4_chunk &upper = chunk[2 * b], &lower = chunk[2 * b + 1];
                const uint32_t weights[4] = {pair_of(upper, word, pair), pair_of(lower, word, pair),
                                             pair_of(upper, word, pair + 1), pair_of(lower, word, pair + 1)};
#pragma unroll
                for (int t = 0; t < Tiles; t++) {
                    const uint32_t halves[2] = {pair ? input[t].z : input[t].x, pair ? input[t].w : input[t].y};
                    mma_m16n8k16_half(sum[b][t], weights, halves, sum[b][t]);
                }
            }
    }
}

// Adds the warps' sums, in the order of the warps, and stores them: neighbours are rows of weights.
template <int Tiles>
__device__ static inline void store(const int4_operands &of, const float (&sums)[WARPS][Tiles * MMA_N][ROW_PITCH],
                                    int first_i, int first_j)
{
    for (int at = threadIdx.x; at < Tiles * MMA_N * ROWS; at += WARPS * WARP) {
        const int i = at / ROWS, j = at % ROWS;
        float sum = 0;
        for (int warp = 0; warp < WARPS; warp++)
            sum += sums[warp][i][j];
        if (first_i + i < of.shape.m && first_j + j < of.shape.n)
            of.output[(size_t)(first_i + i) * of.shape.n + first_j + j] = sum;
    }
}

// Tiles: of eight rows of the input. Blocks next to each other have the same weights and another of the `passes` over
// the input.
template <int Tiles, bool aligned, bool vectors>
__global__ void __launch_bounds__(WARPS *WARP) matmul_int4_mma_sync(int4_operands of, int passes)
{
    __shared__ float sums[WARPS][Tiles * MMA_N][ROW_PITCH];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int first_i = blockIdx.x % passes * (Tiles * MMA_N), first_j = blockIdx.x / passes * ROWS;
    const int chunks = heddle_int4_chunks(of.shape.k);
    float total[BLOCK_MMAS][Tiles][4] = {};
    int4_chunk now[LANE_ROWS], next[LANE_ROWS];
    load<aligned>(next, of, first_j, warp * LANES);
    for (int begin = warp * LANES; begin < chunks; begin += WARPS * LANES) {
#pragma unroll
        for (int r = 0; r < LANE_ROWS; r++)
            now[r] = next[r];
        load<aligned>(next, of, first_j, begin + WARPS * LANES);
        float sum[BLOCK_MMAS][Tiles][4] = {};
        multiply<Tiles, vectors>(sum, now, of, first_i, begin * HEDDLE_INT4_CHUNK);
#pragma unroll
        for (int b = 0; b < BLOCK_MMAS; b++)
#pragma unroll
            for (int t = 0; t < Tiles; t++)
#pragma unroll
                for (int e = 0; e < 4; e++) // a lane's sums are of the rows that its chunks are of
                    total[b][t][e] += __half2float(now[2 * b + e / 2].scale) * sum[b][t][e];
    }
#pragma unroll
    for (int b = 0; b < BLOCK_MMAS; b++)
#pragma unroll
        for (int t = 0; t < Tiles; t++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                sums[warp][t * MMA_N + lane % 4 * 2 + e % 2][b * MMA_M + e / 2 * 8 + lane / 4] = total[b][t][e];
    __syncthreads();
    store<Tiles>(of, sums, first_i, first_j);
}

template <int Tiles, bool aligned> static void launch_tiles(const heddle_call *call, const int4_operands &of)
{
    const unsigned passes = heddle_ceil_div(of.shape.m, Tiles * MMA_N), blocks = heddle_ceil_div(of.shape.n, ROWS);
    const bool vectors = of.shape.k % HALVES == 0 && heddle_aligned16(of.input);
    if (passes * blocks > 0)
        (vectors ? matmul_int4_mma_sync<Tiles, aligned, true>
                 : matmul_int4_mma_sync<Tiles, aligned,
                                        false>)<<<passes * blocks, WARPS * WARP, 0, heddle_cuda_stream_of(call)>>>(
            of, (int)passes);
}

template <int Tiles> static void launch_aligned(const heddle_call *call, const int4_operands &of)
{
    heddle_aligned16(of.weight) ? launch_tiles<Tiles, true>(call, of) : launch_tiles<Tiles, false>(call, of);
}

static heddle_status launch(const heddle_call *call)
{
    const int4_operands of = int4_operands_of(call);
    if (of.shape.m <= MMA_N)
        launch_aligned<1>(call, of);
    else if (of.shape.m <= 2 * MMA_N)
        launch_aligned<2>(call, of);
    else
        launch_aligned<4>(call, of);
    return heddle_cuda_launched("04_mma_sync");
}

HEDDLE_CUDA_RUNG("matmul_int4", "04_mma_sync", launch)
