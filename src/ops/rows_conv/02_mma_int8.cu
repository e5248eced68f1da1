// rows_conv_forward of bytes, rung 2: tensor cores by mma.sync, fed from three stages of shared memory.
//
// Rung 1 loads two bytes per product. Here a block multiplies 128 rows by the weights of 64 channels, one tap and 64
// columns at a time: cp.async loads the rows that the tap shifts to, and the tap's weights, two steps ahead. One
// instruction of a warp multiplies 16 rows of 32 bytes by 8 channels and adds to int32. At the end each sum is scaled
// to a byte of the output.
//
// Limited by: the rate of mma.sync, and loads of the same rows once per tap. Hopper has a rung without either.

#include "ops/cuda/element16.h"
#include "ops/cuda/mma.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/rows_conv/functions.h"
#include "ops/rows_conv/rows_conv.h"

typedef heddle_rows_conv_shape conv_shape;

enum {
    ROWS = 128,    // of a block's tile
    CHANNELS = 64, // of it
    DEPTH = 64,    // columns of a stage
    CHUNK = 16,    // bytes of one cp.async, and of a row of an ldmatrix
    CHUNKS = DEPTH / CHUNK,
    STAGES = 3,
    THREADS = 256,
    WARP = 32,
    WARPS_DOWN = 4,
    WARP_ROWS = ROWS / WARPS_DOWN,
    WARP_CHANNELS = CHANNELS / (THREADS / WARP / WARPS_DOWN),
    MMA_M = 16,
    MMA_N = 8,
    MMA_K = 32,
    MMAS_DOWN = WARP_ROWS / MMA_M,
    MMAS_ACROSS = WARP_CHANNELS / MMA_N,
};

// The geometry, computed on the host.
struct mma_job {
    int rows, c, k, taps, chunks; // chunks: of DEPTH columns
    int pitch, image_rows, out_h, out_w;
    int function, zero_gaps;
    int shift[HEDDLE_ROWS_MOST_TAPS];
};

struct mma_stage {
    signed char rows[ROWS][DEPTH], weight[CHANNELS][DEPTH];
};

// Where chunk `chunk` of a row lies: rows two apart use different banks.
__device__ static signed char *chunk_of(signed char (*tile)[DEPTH], int row, int chunk)
{
    return &tile[row][(chunk ^ (row / 2 % CHUNKS)) * CHUNK];
}

// One chunk of a row that may be outside its matrix, where all is zero.
__device__ static void load_chunk(signed char *to, const int8_t *from, bool there)
{
    if (there)
        cp_async_16(to, from);
    else
        *(uint4 *)to = make_uint4(0, 0, 0, 0);
}

// Starts the copies of a step: one tap, DEPTH columns.
__device__ static void load_stage(const mma_job &job, mma_stage *stage, const int8_t *input, const int8_t *weight,
                                  int first_row, int first_channel, int step)
{
    const int tap = step / job.chunks, column = step % job.chunks * DEPTH;
    for (int at = threadIdx.x; at < (ROWS + CHANNELS) * CHUNKS; at += THREADS) {
        const int line = at / CHUNKS, chunk = at % CHUNKS, from = column + chunk * CHUNK;
        if (line < ROWS) {
            const int row = first_row + line + job.shift[tap];
            load_chunk(chunk_of(stage->rows, line, chunk), input + (size_t)row * job.c + from,
                       row >= 0 && row < job.rows && from < job.c);
        } else {
            const int channel = first_channel + line - ROWS;
            load_chunk(chunk_of(stage->weight, line - ROWS, chunk),
                       weight + ((size_t)channel * job.taps + tap) * job.c + from, channel < job.k && from < job.c);
        }
    }
}

// One stage's products: WARP_ROWS rows by WARP_CHANNELS channels.
__device__ static void multiply(mma_stage *stage, int first_row, int first_channel, int sum[MMAS_DOWN][MMAS_ACROSS][4])
{
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int depth = 0; depth < DEPTH / MMA_K; depth++) {
        uint32_t a[MMAS_DOWN][4];
#pragma unroll
        for (int i = 0; i < MMAS_DOWN; i++) // lanes 0 to 15 address rows of the left half, 16 to 31 of the right
            ldmatrix_x4(a[i], chunk_of(stage->rows, first_row + i * MMA_M + lane % 16, depth * 2 + lane / 16));
#pragma unroll
        for (int j = 0; j < MMAS_ACROSS; j++) {
            uint32_t b[2];
            ldmatrix_x2(b, chunk_of(stage->weight, first_channel + j * MMA_N + lane % 8, depth * 2 + lane / 8 % 2));
#pragma unroll
            for (int i = 0; i < MMAS_DOWN; i++)
                mma_m16n8k32_int8(sum[i][j], a[i], b, sum[i][j]);
        }
    }
}

__device__ static bool holds(const mma_job &job, int row)
{
    const int in_image = row % job.image_rows;
    return in_image / job.pitch < job.out_h && in_image % job.pitch < job.out_w;
}

// A lane has two neighbours of row lane / 4, and two of the row eight below.
__device__ static void store(const mma_job &job, const float *bias, const float *scale, int8_t *output, int first_row,
                             int first_channel, int sum[MMAS_DOWN][MMAS_ACROSS][4])
{
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int i = 0; i < MMAS_DOWN * 2; i++) {
        const int row = first_row + i * MMA_N + lane / 4;
        const bool is_zero = job.zero_gaps && !holds(job, row);
#pragma unroll
        for (int j = 0; j < MMAS_ACROSS; j++) {
            const int channel = first_channel + j * MMA_N + lane % 4 * 2;
            if (row >= job.rows || channel >= job.k)
                continue;
            float value[2];
#pragma unroll
            for (int e = 0; e < 2; e++)
                value[e] = rows_requantise(job.function, sum[i / 2][j][i % 2 * 2 + e],
                                           scale ? scale[channel + e] : 1.0f, bias ? bias[channel + e] : 0.0f);
            *(char2 *)(output + (size_t)row * job.k + channel) =
                is_zero ? make_char2(0, 0) : rows_element<int8_t>::round(value[0], value[1]);
        }
    }
}

// input: (rows, c), weight: (k, taps, c), bias, scale: (k), output: (rows, k)
__global__ void __launch_bounds__(THREADS)
    rows_conv_mma_int8(const mma_job job, const int8_t *input, const int8_t *weight, const float *bias,
                       const float *scale, int8_t *output)
{
    __shared__ __align__(128) mma_stage stages[STAGES];
    const int across = (job.k - 1) / CHANNELS + 1, steps = job.taps * job.chunks, warp = threadIdx.x / WARP;
    const int first_row = blockIdx.x / across * ROWS, first_channel = blockIdx.x % across * CHANNELS;
    const int warp_row = warp % WARPS_DOWN * WARP_ROWS, warp_channel = warp / WARPS_DOWN * WARP_CHANNELS;
    int sum[MMAS_DOWN][MMAS_ACROSS][4] = {{{0}}};
    for (int step = 0; step < STAGES - 1; step++) {
        if (step < steps)
            load_stage(job, &stages[step], input, weight, first_row, first_channel, step);
        cp_async_commit(); // empty groups too: the number of groups tells which stage is complete
    }
    for (int step = 0; step < steps; step++) {
        cp_async_wait_group<STAGES - 2>();
        __syncthreads(); // all copies have arrived, and all warps have left the stage that is loaded next
        const int next = step + STAGES - 1;
        if (next < steps)
            load_stage(job, &stages[next % STAGES], input, weight, first_row, first_channel, next);
        cp_async_commit();
        multiply(&stages[step % STAGES], warp_row, warp_channel, sum);
    }
    store(job, bias, scale, output, first_row + warp_row, first_channel + warp_channel, sum);
}

static mma_job job_of(const conv_shape *shape)
{
    mma_job job = {};
    job.rows = heddle_rows_conv_rows(shape);
    job.c = shape->c;
    job.k = shape->k;
    job.taps = shape->r * shape->s;
    job.chunks = (int)heddle_ceil_div(shape->c, DEPTH);
    job.pitch = shape->w + shape->gap;
    job.image_rows = (shape->h + shape->gap) * job.pitch;
    job.out_h = heddle_rows_conv_out_h(shape);
    job.out_w = heddle_rows_conv_out_w(shape);
    job.function = shape->function;
    job.zero_gaps = shape->zero_gaps;
    for (int tap = 0; tap < job.taps; tap++)
        job.shift[tap] = heddle_rows_conv_shift(shape, tap);
    return job;
}

static heddle_status launch(const heddle_call *call)
{
    if (!heddle_aligned16(call->input[0]) || !heddle_aligned16(call->input[1]) || !heddle_aligned16(call->output[0]))
        return heddle_rows_conv_forward_naive(call);
    const mma_job job = job_of((const conv_shape *)call->shape);
    const unsigned blocks = heddle_ceil_div(job.rows, ROWS) * heddle_ceil_div(job.k, CHANNELS);
    rows_conv_mma_int8<<<blocks, THREADS, 0, heddle_cuda_stream_of(call)>>>(
        job, (const int8_t *)call->input[0], (const int8_t *)call->input[1], (const float *)call->input[2],
        (const float *)call->input[3], (int8_t *)call->output[0]);
    return heddle_cuda_launched("02_mma_int8");
}

HEDDLE_CUDA_RUNG("rows_conv_forward", "02_mma_int8", launch)
