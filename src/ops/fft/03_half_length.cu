// rfft, rung 3: neighbouring reals x[2q], x[2q + 1] as the two parts of one complex number. A transform of n / 2 of
// them contains the transforms of the even and the odd reals, and the result is a combination of the two: each number
// and its mirror image are separated before they are written, or combined after they are read. The rung before worked
// on n complex numbers, half of them wasted.
//
// Powers of two that fit in a block stay in registers, as in fft's 05_radix16_registers; mirror images meet in shared
// memory. Other lengths use fft's other rungs.
//
// Limited by: memory bandwidth, if a line fits in a block.

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/fft/cuda_memory.h"
#include "ops/fft/half.h"
#include "ops/fft/launch.h"
#include "ops/fft/lines.h"
#include "ops/fft/mirror.h"
#include "ops/fft/passes.h"

template <class B>
__device__ __forceinline__ static void load_pairs(const fft_pass &pass, float2 (&x)[B::V], unsigned line, int t)
{
    const float *from = pass.input + start_of(pass.from, line);
    bool whole = pass.from.length >= 2 * B::N && pass.from.stride == 1;
    if (line < pass.lines && whole && (size_t)from % sizeof(float2) == 0) {
#pragma unroll
        for (int m = 0; m < B::V; m++)
            x[m] = ((const float2 *)from)[t + m * B::GROUP];
        return;
    }
#pragma unroll
    for (int m = 0; m < B::V; m++) {
        int q = 2 * (t + m * B::GROUP), there = line < pass.lines ? pass.from.length : 0;
        x[m].x = q < there ? from[q * pass.from.stride] : 0;
        x[m].y = q + 1 < there ? from[(q + 1) * pass.from.stride] : 0;
    }
}

template <class B>
__device__ __forceinline__ static void store_pairs(const fft_pass &pass, float2 (&x)[B::V], unsigned line, int t)
{
    float *to = pass.output + start_of(pass.to, line);
    bool whole = pass.to.length >= 2 * B::N && pass.to.stride == 1;
    if (line >= pass.lines)
        return;
#pragma unroll
    for (int m = 0; m < B::V; m++) {
        int q = 2 * (t + m * B::GROUP);
        float2 value = make_float2(pass.scale * x[m].x, -pass.scale * x[m].y);
        if (whole && (size_t)to % sizeof(float2) == 0) {
            *(float2 *)(to + q) = value;
        } else {
            if (q < pass.to.length)
                to[q * pass.to.stride] = value.x;
            if (q + 1 < pass.to.length)
                to[(q + 1) * pass.to.stride] = value.y;
        }
    }
}

__device__ __forceinline__ static float2 half_at(const fft_pass &pass, const float *from, int k, bool there)
{
    const float *at = from + 2 * k * pass.from.stride;
    if (!there || k >= pass.from.length)
        return make_float2(0, 0);
    return (size_t)at % sizeof(float2) == 0 ? *(const float2 *)at : make_float2(at[0], at[1]);
}

// Conjugated, for the inverse transform that follows. Mirror images meet in shared memory, which the stages use after
// that. exp(-2πi k / 2N) of k = t + GROUP m is a root of this thread's own times a 2V-th root, which is known at
// compile time.
template <class B>
__device__ __forceinline__ static void load_half(const fft_pass &pass, float2 (&x)[B::V], float2 *shared,
                                                 unsigned first, int line, int t)
{
    const float *from = pass.input + 2 * start_of(pass.from, first + line);
    float2 own = fft_root_of_power(t, 1.0f / B::N);
    bool there = first + line < pass.lines;
#pragma unroll
    for (int m = 0; m < B::V; m++)
        x[m] = half_at(pass, from, t + m * B::GROUP, there);
    float2 last = t == 0 ? half_at(pass, from, B::N, there) : make_float2(0, 0); // the mirror image of the first
    x[0].y = t == 0 ? 0 : x[0].y;
#pragma unroll
    for (int m = 0; m < B::V; m++)
        shared[B::place(line, t + m * B::GROUP)] = x[m];
    meet<B>();
#pragma unroll
    for (int m = 0; m < B::V; m++) {
        int k = t + m * B::GROUP;
        float2 mirror = k == 0 ? make_float2(last.x, 0) : shared[B::place(line, B::N - k)];
        float2 turned = complex_multiply(conjugate(difference_of(x[m], mirror)), own);
        float2 odd = conjugate(turn_32nds(turned, m * (16 / B::V)));
        x[m] = conjugate(put_together(x[m], mirror, odd));
    }
    meet<B>();
}

__device__ __forceinline__ static void store_number(const fft_pass &pass, float *to, int k, float2 value)
{
    float *at = to + 2 * k * pass.to.stride;
    value = make_float2(pass.scale * value.x, pass.scale * value.y);
    if (k >= pass.to.length)
        return;
    if ((size_t)at % sizeof(float2) == 0) {
        *(float2 *)at = value;
    } else {
        at[0] = value.x;
        at[1] = value.y;
    }
}

template <class B>
__device__ __forceinline__ static void store_half(const fft_pass &pass, float2 (&x)[B::V], float2 *shared,
                                                  unsigned first, int line, int t)
{
    meet<B>(); // the results of the exchange before have been read
#pragma unroll
    for (int m = 0; m < B::V; m++)
        shared[B::place(line, t + m * B::GROUP)] = x[m];
    meet<B>();
    float *to = pass.output + 2 * start_of(pass.to, first + line);
    float2 own = fft_root_of_power(t, 1.0f / B::N);
    if (first + line >= pass.lines)
        return;
#pragma unroll
    for (int m = 0; m < B::V; m++) {
        int k = t + m * B::GROUP;
        float2 mirror = shared[B::place(line, (B::N - k) % B::N)];
        float2 odd = turn_32nds(complex_multiply(odd_part(x[m], mirror), own), m * (16 / B::V));
        store_number(pass, to, k, complex_add(even_part(x[m], mirror), odd));
    }
    if (t == 0)
        store_number(pass, to, B::N, make_float2(x[0].x - x[0].y, 0));
}

template <class B, bool BACK> __global__ void __launch_bounds__(B::THREADS) fft_half(fft_pass pass)
{
    extern __shared__ float2 half_shared[];
    int t = threadIdx.x % B::GROUP, line = threadIdx.x / B::GROUP;
    unsigned first = blockIdx.x * (unsigned)B::T;
    float2 x[B::V];
    if (BACK)
        load_half<B>(pass, x, half_shared, first, line, t);
    else
        load_pairs<B>(pass, x, first + line, t);
    stages<B, 1>::run(x, half_shared, line, t, line, t);
    if (BACK)
        store_pairs<B>(pass, x, first + line, t);
    else
        store_half<B>(pass, x, half_shared, first, line, t);
}

// N pairs per line, V per thread, T lines per block.
template <int N, int V, int T> static cudaError_t run(const fft_pass *pass, bool back, cudaStream_t stream)
{
    typedef line_block<N, V, T, BY_ELEMENTS, BY_ELEMENTS> block;
    unsigned blocks = heddle_ceil_div(pass->lines, T);
    size_t bytes = block::SHARED_NUMBERS * sizeof(float2);
    if (back)
        fft_half<block, true><<<blocks, block::THREADS, bytes, stream>>>(*pass);
    else
        fft_half<block, false><<<blocks, block::THREADS, bytes, stream>>>(*pass);
    return cudaPeekAtLastError();
}

cudaError_t fft_pass_half(const fft_pass *pass, int n, heddle_fft_kind kind, cudaStream_t stream)
{
    bool back = kind == HEDDLE_FFT_OF_HALF;
    switch (pass->lines > 0 ? n : 0) {
    case 0: return cudaSuccess;
    case 32: return run<32, 8, 32>(pass, back, stream);
    case 64: return run<64, 8, 16>(pass, back, stream);
    case 128: return run<128, 16, 16>(pass, back, stream);
    case 256: return run<256, 16, 8>(pass, back, stream);
    case 512: return run<512, 16, 4>(pass, back, stream);
    case 1024: return run<1024, 16, 2>(pass, back, stream);
    case 2048: return run<2048, 16, 1>(pass, back, stream);
    case 4096: return run<4096, 16, 1>(pass, back, stream);
    default: return cudaErrorInvalidValue;
    }
}

// --- longer lines ----------------------------------------------------------------------------------------------------

// numbers: (lines, n) complex, the transforms of pairs; output: (lines, n + 1) complex
__global__ void take_apart(size_t lines, int n, float scale, const float2 *numbers, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, length = (size_t)n + 1;
    if (at >= lines * length)
        return;
    int k = (int)(at % length);
    const float2 *line = numbers + at / length * n;
    float2 z = line[k % n], mirror = line[(n - k) % n];
    float2 value = complex_add(even_part(z, mirror), complex_multiply(odd_part(z, mirror), fft_root(k, 2 * n)));
    output[2 * at] = scale * value.x;
    output[2 * at + 1] = k == 0 || k == n ? 0 : scale * value.y;
}

// input: (lines, n + 1) complex, numbers: (lines, n) complex
__global__ void put_pairs_together(size_t lines, int n, const float *input, float2 *numbers)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= lines * n)
        return;
    int k = (int)(at % n);
    const float *line = input + 2 * (at / n * (n + 1));
    float2 here = make_float2(line[2 * k], line[2 * k + 1]);
    float2 mirror = make_float2(line[2 * (n - k)], line[2 * (n - k) + 1]);
    if (k == 0)
        here.y = mirror.y = 0;
    float2 odd = complex_multiply(difference_of(here, mirror), conjugate(fft_root(k, 2 * n)));
    numbers[at] = put_together(here, mirror, odd);
}

cudaError_t fft_launch_by_half(const heddle_fft_job *job, void *workspace, cudaStream_t stream)
{
    int n = job->n / 2;
    size_t lines = (size_t)job->lines, count = lines * n;
    float2 *numbers = (float2 *)workspace;
    char *rest = (char *)workspace + fft_number_bytes((long long)count);
    if (job->kind == HEDDLE_FFT_OF_HALF) {
        put_pairs_together<<<heddle_cuda_blocks(count), HEDDLE_CUDA_BLOCK, 0, stream>>>(lines, n, job->input, numbers);
        heddle_fft_job back = heddle_fft_rows(HEDDLE_FFT_COMPLEX, n, job->lines, true, (float *)numbers, job->output);
        back.scale = job->scale;
        return heddle_fft_launch(&back, rest, stream);
    }
    heddle_fft_job there = heddle_fft_rows(HEDDLE_FFT_COMPLEX, n, job->lines, false, job->input, (float *)numbers);
    cudaError_t error = heddle_fft_launch(&there, rest, stream);
    if (error == cudaSuccess)
        take_apart<<<heddle_cuda_blocks(lines * (n + 1)), HEDDLE_CUDA_BLOCK, 0, stream>>>(lines, n, job->scale, numbers,
                                                                                          job->output);
    return error;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_fft_shape *shape = (const heddle_fft_shape *)call->shape;
    heddle_fft_job job = heddle_rfft_job_of(shape, call->input[0], call->output[0]);
    if (heddle_fft_is_fused(job.kind, job.n)) // which the next rung is about
        HEDDLE_CUDA_TRY(fft_launch_by_half(&job, call->workspace, heddle_cuda_stream_of(call)));
    else
        HEDDLE_CUDA_TRY(heddle_fft_launch(&job, call->workspace, heddle_cuda_stream_of(call)));
    return heddle_cuda_launched("03_half_length");
}

HEDDLE_CUDA_RUNG("rfft", "03_half_length", launch)
