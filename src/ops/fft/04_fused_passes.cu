// rfft, rung 4: a long power of two, n / 2 pairs of reals in passes as in fft's 06_four_step, whose last pass also
// separates each number and its mirror image. The rung before takes another pass through memory for that.
//
// The last pass transforms columns: column l leaves numbers l, l + lines, l + 2 lines, ..., whose mirror images are all
// in column lines - l. So a block has adjacent columns and as many of their mirror images, and the numbers meet in
// shared memory. Columns 0 and lines / 2 are their own mirror images: the second takes the place that would be the
// mirror image of the first.
//
// Limited by: memory bandwidth, twice the traffic of a single pass.

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/fft/lines.h"
#include "ops/fft/mirror.h"
#include "ops/fft/passes.h"

// n: pairs of a line. output[k] for k = column + lines * row, where x[m] is row t + GROUP m of the transformed column.
template <class B>
__device__ __forceinline__ static void store_apart(const fft_pass &pass, int n, float2 (&x)[B::V], const float2 *shared,
                                                   float *output, int slot, int t, unsigned column)
{
    const unsigned lines = pass.from.inner;
    const bool own_mirror = column == 0 || 2 * column == lines;
    const bool aligned = (size_t)output % sizeof(float2) == 0;
    const float2 own = fft_root_of_power(column + lines * t, 1.0f / n);
    const float last = x[0].x - x[0].y;
    output += 2 * ((size_t)lines * t + column);
#pragma unroll
    for (int m = 0; m < B::V; m++) {
        int row = t + m * B::GROUP, mirror_row = column == 0 ? (B::N - row) % B::N : B::N - 1 - row;
        float2 mirror = shared[B::place(own_mirror ? slot : B::T - 1 - slot, mirror_row)];
        float2 odd = turn_32nds(complex_multiply(odd_part(x[m], mirror), own), m * (16 / B::V));
        float2 value = complex_add(even_part(x[m], mirror), odd);
        float *at = output + 2 * (size_t)lines * (m * B::GROUP);
        value = make_float2(pass.scale * value.x, pass.scale * value.y);
        if (aligned) {
            *(float2 *)at = value;
        } else {
            at[0] = value.x;
            at[1] = value.y;
        }
    }
    if (column == 0 && t == 0) {
        output[2 * (size_t)n] = pass.scale * last;
        output[2 * (size_t)n + 1] = 0;
    }
}

// A block has T columns of one line, BLOCKS of them must fit on an SM.
template <class B, int BLOCKS>
__global__ void __launch_bounds__(B::THREADS, BLOCKS) fft_last_apart(fft_pass pass, int n)
{
    extern __shared__ float2 apart_shared[];
    const unsigned lines = pass.from.inner, blocks = lines / B::T, line = blockIdx.x / blocks;
    const unsigned first = blockIdx.x % blocks * (B::T / 2);
    int slot = threadIdx.x % B::T, t = threadIdx.x / B::T;
    unsigned column = slot < B::T / 2 ? first + slot : lines - first - (B::T - 1 - slot);
    if (column == lines)
        column = lines / 2;
    const float2 *from = (const float2 *)pass.input + (size_t)line * n + column;
    float2 x[B::V];
#pragma unroll
    for (int m = 0; m < B::V; m++)
        x[m] = from[(size_t)lines * (t + m * B::GROUP)];
    turn_all(x, column * t, column * B::GROUP, n);
    stages<B, 1>::run(x, apart_shared, slot, t, slot, t);
    meet<B>(); // the results of the exchange before have been read
#pragma unroll
    for (int m = 0; m < B::V; m++)
        apart_shared[B::place(slot, t + m * B::GROUP)] = x[m];
    meet<B>();
    store_apart<B>(pass, n, x, apart_shared, pass.output + 2 * (size_t)line * (n + 1), slot, t, column);
}

template <int N, int T, int BLOCKS> static cudaError_t run(const fft_pass *pass, int n, cudaStream_t stream)
{
    typedef line_block<N, 16, T, BY_LINES, BY_LINES> block;
    const int bytes = block::SHARED_NUMBERS * (int)sizeof(float2);
    cudaError_t error =
        cudaFuncSetAttribute(fft_last_apart<block, BLOCKS>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error == cudaSuccess)
        fft_last_apart<block, BLOCKS><<<pass->lines / T, block::THREADS, bytes, stream>>>(*pass, n);
    return error;
}

cudaError_t fft_pass_apart(const fft_pass *pass, int factor, cudaStream_t stream)
{
    const int n = factor * pass->from.inner;
    switch (pass->lines > 0 ? factor : 0) {
    case 0: return cudaSuccess;
    case 128: return run<128, 32, 3>(pass, n, stream);
    case 256: return run<256, 16, 3>(pass, n, stream);
    case 512: return run<512, 16, 2>(pass, n, stream);
    case 1024: return run<1024, 8, 2>(pass, n, stream);
    default: return cudaErrorInvalidValue;
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_fft_shape *shape = (const heddle_fft_shape *)call->shape;
    heddle_fft_job job = heddle_rfft_job_of(shape, call->input[0], call->output[0]);
    HEDDLE_CUDA_TRY(fft_launch_passes(&job, call->workspace, heddle_cuda_stream_of(call)));
    return heddle_cuda_launched("04_fused_passes");
}

HEDDLE_CUDA_RUNG("rfft", "04_fused_passes", launch)
