// Transforms of lines of up to a few thousand numbers, a power of two. A group of threads of one block holds each line
// in registers: Stockham's algorithm, with stages of butterflies of up to V numbers per thread. Between two stages the
// numbers are exchanged through shared memory. Every number is read once and written once.
//
// A block has several lines. If a line's elements are adjacent, neighbouring lanes take neighbouring elements. If
// neighbouring lines are adjacent (columns), lanes take neighbouring lines first. Either way a warp's accesses are
// contiguous.
#pragma once

#include "ops/fft/butterflies.h"
#include "ops/fft/pass.h"
#include "ops/fft/roots.h"

// Neighbouring lanes take neighbouring elements of a line (stride 1), or the same element of neighbouring lines.
enum line_layout { BY_ELEMENTS, BY_LINES };

// How a block works on lines of N numbers: V numbers per thread, T lines at a time.
template <int N_, int V_, int T_, line_layout FROM_, line_layout TO_> struct line_block {
    static constexpr line_layout FROM = FROM_, TO = TO_;
    enum {
        N = N_,
        V = V_,
        T = T_,
        GROUP = N / V, // threads per line
        THREADS = GROUP * T,
        // A stage writes with a stride of its radix. One number of padding after as many as the 32 banks hold (16 of 8
        // bytes), or as the radix, moves neighbouring lanes to different banks.
        PADDING = V > 16 ? V : 16,
        ROW = N + N / PADDING,
        // If lanes go by lines, lines must not begin at the same bank either.
        PITCH = FROM_ == TO_ ? ROW : (ROW + 15) / 16 * 16 + (T_ < 16 ? 16 / T_ : 1),
        SHARED_NUMBERS = N > V ? PITCH *T : 0,
    };

    __device__ __forceinline__ static int place(int line, int index)
    {
        int padded = index + index / PADDING;
        return FROM == BY_LINES && TO == BY_LINES ? padded * T + line : line * PITCH + padded;
    }
};

// Synchronises the threads of a line: by __syncwarp if they are in one warp.
template <class B> __device__ __forceinline__ static void meet(void)
{
    if (B::GROUP <= 32 && B::FROM == BY_ELEMENTS && B::TO == BY_ELEMENTS)
        __syncwarp();
    else
        __syncthreads();
}

// x[i] *= exp(-2πi (first + step i) / modulus). A few roots are computed directly; the others are products of two to
// four of them, so that errors do not accumulate.
template <int COUNT>
__device__ __forceinline__ static void turn_all(float2 (&x)[COUNT], unsigned first, unsigned step, unsigned modulus)
{
    enum { SEEDS = COUNT < 16 ? COUNT : 16 };
    float2 fine[4], coarse[4], four = fft_root(4 * step, modulus), eight = complex_multiply(four, four);
    fine[1] = fft_root(step, modulus);
    fine[2] = complex_multiply(fine[1], fine[1]);
    fine[3] = complex_multiply(fine[2], fine[1]);
#pragma unroll
    for (int start = 0; start < COUNT; start += SEEDS) {
        coarse[0] = fft_root(first + step * start, modulus);
        coarse[1] = complex_multiply(coarse[0], four);
        coarse[2] = complex_multiply(coarse[0], eight);
        coarse[3] = complex_multiply(coarse[1], eight);
#pragma unroll
        for (int i = 0; i < SEEDS; i++) {
            float2 root = i % 4 == 0 ? coarse[i / 4] : complex_multiply(coarse[i / 4], fine[i % 4]);
            x[start + i] = complex_multiply(x[start + i], root);
        }
    }
}

// root[i] = exp(-2πi step i / modulus), likewise.
template <int COUNT>
__device__ __forceinline__ static void powers_of_root(float2 (&root)[COUNT], unsigned step, float two_over_modulus)
{
    float2 fine[4], four, base = make_float2(1, 0);
    fine[1] = fft_root_of_power(step, two_over_modulus);
    fine[2] = complex_multiply(fine[1], fine[1]);
    fine[3] = complex_multiply(fine[2], fine[1]);
    if (COUNT > 4)
        four = fft_root_of_power(4 * step, two_over_modulus);
    root[0] = base;
#pragma unroll
    for (int i = 1; i < COUNT; i++) {
        if (i % 16 == 0)
            base = fft_root_of_power(i * step, two_over_modulus);
        else if (i % 4 == 0)
            base = i == 4 ? four : complex_multiply(base, four);
        root[i] = i % 4 == 0 ? base : i < 4 ? fine[i % 4] : complex_multiply(base, fine[i % 4]);
    }
}

// x[i * distance] *= exp(-2πi step i / modulus); the first stays as it is.
template <int COUNT>
__device__ __forceinline__ static void turn_powers(float2 *x, int distance, unsigned step, float two_over_modulus)
{
    float2 root[COUNT];
    powers_of_root(root, step, two_over_modulus);
#pragma unroll
    for (int i = 1; i < COUNT; i++)
        x[i * distance] = complex_multiply(x[i * distance], root[i]);
}

// A stage of radix R, after stages whose radices multiply to BEFORE: V / R butterflies of the thread's numbers.
// Register m holds element t + GROUP * m of the line.
template <class B, int R, int BEFORE>
__device__ __forceinline__ static void stage(float2 (&x)[B::V], float2 *shared, int &line, int &t, int out_line,
                                             int out_t)
{
    enum { EACH = B::V / R };
#pragma unroll
    for (int b = 0; b < EACH; b++) {
        int j = t + b * B::GROUP;
        if (BEFORE > 1)
            turn_powers<R>(x + b, EACH, (unsigned)(j % BEFORE), 2.0f / (BEFORE * R));
        float2 y[R];
#pragma unroll
        for (int q = 0; q < R; q++)
            y[q] = x[b + q * EACH];
        butterfly<R>::run(y);
#pragma unroll
        for (int k = 0; k < R; k++)
            x[b + k * EACH] = y[k];
    }
    if (BEFORE * R == B::N)
        return;
    if (BEFORE > 1)
        meet<B>(); // the results of the exchange before have been read
#pragma unroll
    for (int b = 0; b < EACH; b++) {
        int j = t + b * B::GROUP, base = j / BEFORE * BEFORE * R + j % BEFORE;
#pragma unroll
        for (int k = 0; k < R; k++)
            shared[B::place(line, base + k * BEFORE)] = x[b + k * EACH];
    }
    meet<B>();
    line = out_line;
    t = out_t;
#pragma unroll
    for (int m = 0; m < B::V; m++)
        x[m] = shared[B::place(line, t + m * B::GROUP)];
}

// All stages: the smallest radix first, because the first stage has no twiddles, then V repeatedly.
template <class B, int BEFORE, bool done = (BEFORE == B::N)> struct stages {
    static constexpr int first_radix(int rest)
    {
        return rest > B::V ? first_radix(rest / B::V) : rest;
    }
    enum { R = BEFORE == 1 ? first_radix(B::N) : B::V };

    __device__ __forceinline__ static void run(float2 (&x)[B::V], float2 *shared, int &line, int &t, int out_line,
                                               int out_t)
    {
        stage<B, R, BEFORE>(x, shared, line, t, out_line, out_t);
        stages<B, BEFORE * R>::run(x, shared, line, t, out_line, out_t);
    }
};

template <class B, int BEFORE> struct stages<B, BEFORE, true> {
    __device__ __forceinline__ static void run(float2 (&)[B::V], float2 *, int &, int &, int, int)
    {
    }
};

__device__ __forceinline__ static long long start_of(heddle_fft_lines lines, unsigned line)
{
    unsigned outer = line / (unsigned)lines.inner;
    return outer * lines.outer_stride + (line - outer * lines.inner) * lines.inner_stride;
}

// A whole number of 8 bytes if the pointers are aligned; else, or if elements are missing, one float at a time.
template <class B>
__device__ __forceinline__ static void load_line(const fft_pass &pass, float2 (&x)[B::V], unsigned line, int t)
{
    const float *from = pass.input + 2 * start_of(pass.from, line);
    const long long stride = B::FROM == BY_ELEMENTS ? 1 : pass.from.stride;
    if (line < pass.lines && pass.from.length >= B::N && (size_t)pass.input % sizeof(float2) == 0) {
#pragma unroll
        for (int m = 0; m < B::V; m++)
            x[m] = ((const float2 *)from)[(t + m * B::GROUP) * stride];
    } else {
#pragma unroll
        for (int m = 0; m < B::V; m++) {
            int q = t + m * B::GROUP;
            bool there = line < pass.lines && q < pass.from.length;
            x[m] = there ? make_float2(from[2 * q * stride], from[2 * q * stride + 1]) : make_float2(0, 0);
        }
    }
#pragma unroll
    for (int m = 0; m < B::V; m++)
        x[m].y *= pass.input_sign;
}

template <class B>
__device__ __forceinline__ static void store_line(const fft_pass &pass, float2 (&x)[B::V], unsigned line, int t)
{
    float *to = pass.output + 2 * start_of(pass.to, line);
    const long long stride = B::TO == BY_ELEMENTS ? 1 : pass.to.stride;
    if (line >= pass.lines)
        return;
#pragma unroll
    for (int m = 0; m < B::V; m++)
        x[m] = make_float2(pass.scale * x[m].x, pass.scale * pass.output_sign * x[m].y);
    if (pass.to.length >= B::N && (size_t)pass.output % sizeof(float2) == 0) {
#pragma unroll
        for (int m = 0; m < B::V; m++)
            ((float2 *)to)[(t + m * B::GROUP) * stride] = x[m];
        return;
    }
#pragma unroll
    for (int m = 0; m < B::V; m++) {
        int k = t + m * B::GROUP;
        if (k < pass.to.length) {
            to[2 * k * stride] = x[m].x;
            to[2 * k * stride + 1] = x[m].y;
        }
    }
}

// BLOCKS of these must fit on an SM at the same time, so that some load while others compute: it bounds the registers.
template <class B, int BLOCKS> __global__ void __launch_bounds__(B::THREADS, BLOCKS) fft_lines(fft_pass pass)
{
    extern __shared__ float2 fft_shared[];
    int by_element = threadIdx.x % B::GROUP, element_line = threadIdx.x / B::GROUP;
    int by_line = threadIdx.x / B::T, line_line = threadIdx.x % B::T;
    int t = B::FROM == BY_LINES ? by_line : by_element, line = B::FROM == BY_LINES ? line_line : element_line;
    int out_t = B::TO == BY_LINES ? by_line : by_element, out_line = B::TO == BY_LINES ? line_line : element_line;
    unsigned first = blockIdx.x * (unsigned)B::T;
    float2 x[B::V];
    load_line<B>(pass, x, first + line, t);
    if (B::FROM == BY_LINES && pass.modulus > 0) {
        unsigned turn = (first + line) % (unsigned)pass.to.inner;
        turn_all(x, turn * t, turn * B::GROUP, pass.modulus);
    }
    stages<B, 1>::run(x, fft_shared, line, t, out_line, out_t);
    store_line<B>(pass, x, first + line, t);
}

template <class B, int BLOCKS> static cudaError_t fft_lines_launch(const fft_pass &pass, cudaStream_t stream)
{
    enum { PLAIN_BYTES = 48 << 10 }; // of shared memory; more must be requested
    const int bytes = B::SHARED_NUMBERS * (int)sizeof(float2);
    cudaError_t error = cudaSuccess;
    if (bytes > PLAIN_BYTES)
        error = cudaFuncSetAttribute(fft_lines<B, BLOCKS>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error == cudaSuccess && pass.lines > 0)
        fft_lines<B, BLOCKS><<<(pass.lines + B::T - 1) / B::T, B::THREADS, bytes, stream>>>(pass);
    return error;
}
