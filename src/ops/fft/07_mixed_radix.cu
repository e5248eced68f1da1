// fft, rung 7: lengths that are products of 2, 3, 5 and 7, in shared memory, by butterflies of 8, 4, 2, 3, 5 and 7
// numbers in registers. The rungs before handle only powers of two, with a line's plan known at compile time; here it
// is known at the launch. Lines too long for a block take several passes, as in 06_four_step.
//
// The kernel also handles real lines, with two reals as one complex number, and lines anywhere in memory: the other
// rungs and operators fall back to it.
//
// Limited by: shared memory, which every stage goes through, and integer divisions for places that are not powers of
// two.

#include "device/cuda/check.h"
#include "device/cuda/cuda.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/fft/butterflies.h"
#include "ops/fft/passes.h"
#include "ops/fft/plan.h"
#include "ops/fft/roots.h"

enum {
    MIXED_THREADS = 256,
    MIXED_NUMBERS = 2048,   // per block, about, if lines are short: eight per thread
    MIXED_BYTES = 96 << 10, // of shared memory at most: every GPU from Ampere on has that much; older ones use what
                            // they have
    MIXED_COLUMNS = 8,      // adjacent lines that make 64 bytes
};

typedef struct mixed_plan {
    heddle_fft_kind kind;
    int n;                         // complex numbers of a line
    int lines;                     // per block
    int by_lines_in, by_lines_out; // neighbouring threads handle neighbouring lines
    int count, radix[FFT_RADICES];
} mixed_plan;

// i / divisor for integers below 2^22, where the rounding of a float cannot reach the next one: a fifth of the cost of
// an integer division.
__device__ static inline int quotient(int i, float one_over_divisor)
{
    return (int)(((float)i + 0.5f) * one_over_divisor);
}

// Item `i` of a block's lines of `length` elements each.
__device__ static inline void place_of(int i, int length, int lines, int by_lines, int &line, int &element)
{
    int divisor = by_lines ? lines : length, outer = quotient(i, 1.0f / divisor), rest = i - outer * divisor;
    line = by_lines ? rest : outer;
    element = by_lines ? outer : rest;
}

__device__ static inline size_t start_of_line(heddle_fft_lines lines, unsigned line)
{
    unsigned outer = lines.inner == 1 ? line : line / (unsigned)lines.inner;
    return outer * lines.outer_stride + (line - outer * lines.inner) * lines.inner_stride;
}

__device__ static inline float2 read_complex(const fft_pass &pass, size_t start, int q)
{
    const float *at = pass.input + 2 * (start + q * pass.from.stride);
    return q < pass.from.length ? make_float2(at[0], at[1]) : make_float2(0, 0);
}

__device__ static inline float read_real(const fft_pass &pass, size_t start, int q)
{
    return q < pass.from.length ? pass.input[start + q * pass.from.stride] : 0;
}

// Element k of the line of pairs that half a transform belongs to, conjugated: see cpu_lanes.c.
__device__ static inline float2 read_half(const fft_pass &pass, size_t start, int k, int n)
{
    float2 here = read_complex(pass, start, k), mirror = read_complex(pass, start, n - k);
    if (k == 0)
        here.y = mirror.y = 0;
    float2 root = fft_root(k, 2 * n), sum = make_float2(here.x + mirror.x, here.y - mirror.y);
    float2 odd = complex_multiply(make_float2(here.x - mirror.x, here.y + mirror.y), make_float2(root.x, -root.y));
    return make_float2(sum.x - odd.y, -(sum.y + odd.x));
}

// Element q of a line, with everything that comes before the first stage.
__device__ static inline float2 read_number(const fft_pass &pass, const mixed_plan &plan, unsigned line, int q)
{
    size_t start = start_of_line(pass.from, line);
    if (plan.kind == HEDDLE_FFT_OF_HALF)
        return read_half(pass, start, q, plan.n);
    if (plan.kind == HEDDLE_FFT_TO_HALF)
        return make_float2(read_real(pass, start, 2 * q), read_real(pass, start, 2 * q + 1));
    float2 x = read_complex(pass, start, q);
    x.y *= pass.input_sign;
    if (pass.modulus > 0)
        x = complex_multiply(x, fft_root(line % (unsigned)pass.to.inner * q, pass.modulus));
    return x;
}

// Where a line's numbers are in shared memory: `step` apart if lines are interleaved; else adjacent, with one of
// padding after sixteen, as in lines.h.
__device__ __host__ static inline int place_in_line(int index, int step)
{
    return step > 1 ? index * step : index + index / 16;
}

template <int R>
__device__ static void mixed_stage(const mixed_plan &plan, const float2 *x, float2 *y, int before, int line_step,
                                   int step)
{
    int lines = plan.n / R;
    for (int i = threadIdx.x; i < lines * plan.lines; i += MIXED_THREADS) {
        int line, j;
        place_of(i, lines, plan.lines, step > 1, line, j);
        int p = j - quotient(j, 1.0f / before) * before;
        const float2 *from = x + line * line_step;
        float2 *to = y + line * line_step, numbers[R];
#pragma unroll
        for (int q = 0; q < R; q++)
            numbers[q] = from[place_in_line(j + q * lines, step)];
        if (before > 1) { // the first stage has no twiddles
            float2 root = fft_root(p, before * R), power = root;
#pragma unroll
            for (int q = 1; q < R; q++) {
                numbers[q] = complex_multiply(numbers[q], power);
                power = complex_multiply(power, root);
            }
        }
        butterfly<R>::run(numbers);
#pragma unroll
        for (int k = 0; k < R; k++)
            to[place_in_line((j - p) * R + p + k * before, step)] = numbers[k];
    }
}

__device__ static void any_stage(const mixed_plan &plan, int radix, const float2 *x, float2 *y, int before,
                                 int line_step, int step)
{
    switch (radix) {
    case 2: mixed_stage<2>(plan, x, y, before, line_step, step); break;
    case 3: mixed_stage<3>(plan, x, y, before, line_step, step); break;
    case 4: mixed_stage<4>(plan, x, y, before, line_step, step); break;
    case 5: mixed_stage<5>(plan, x, y, before, line_step, step); break;
    case 7: mixed_stage<7>(plan, x, y, before, line_step, step); break;
    default: mixed_stage<8>(plan, x, y, before, line_step, step); break;
    }
}

// Element k of a transform of reals, from the transform of its pairs.
__device__ static inline float2 taken_apart(const float2 *x, int k, int n, int step)
{
    float2 z = x[place_in_line(k % n, step)], mirror = x[place_in_line((n - k) % n, step)];
    float2 even = make_float2(z.x + mirror.x, z.y - mirror.y);
    float2 odd = complex_multiply(make_float2(z.y + mirror.y, mirror.x - z.x), fft_root(k, 2 * n));
    return make_float2(0.5f * (even.x + odd.x), 0.5f * (even.y + odd.y));
}

__device__ static inline void write_complex(const fft_pass &pass, size_t start, int k, float2 value)
{
    float *at = pass.output + 2 * (start + k * pass.to.stride);
    if (k < pass.to.length) {
        at[0] = pass.scale * value.x;
        at[1] = pass.scale * pass.output_sign * value.y;
    }
}

__device__ static inline void write_real(const fft_pass &pass, size_t start, int q, float value)
{
    if (q < pass.to.length)
        pass.output[start + q * pass.to.stride] = pass.scale * value;
}

// x: the line's numbers in shared memory.
__device__ static inline void write_number(const fft_pass &pass, const mixed_plan &plan, unsigned line, int k,
                                           const float2 *x, int step)
{
    size_t start = start_of_line(pass.to, line);
    if (plan.kind == HEDDLE_FFT_COMPLEX) {
        write_complex(pass, start, k, x[place_in_line(k, step)]);
    } else if (plan.kind == HEDDLE_FFT_TO_HALF) {
        write_complex(pass, start, k, taken_apart(x, k, plan.n, step));
    } else {
        float2 pair = x[place_in_line(k, step)];
        write_real(pass, start, 2 * k, pair.x);
        write_real(pass, start, 2 * k + 1, -pair.y);
    }
}

__global__ void __launch_bounds__(MIXED_THREADS) fft_mixed(fft_pass pass, mixed_plan plan)
{
    extern __shared__ float2 mixed_numbers[];
    int step = plan.by_lines_in && plan.by_lines_out ? plan.lines : 1;
    int line_step = step > 1 ? 1 : place_in_line(plan.n, 1);
    int numbers = plan.n * plan.lines, written = plan.kind == HEDDLE_FFT_TO_HALF ? plan.n + 1 : plan.n;
    float2 *x = mixed_numbers, *y = mixed_numbers + place_in_line(plan.n, 1) * plan.lines;
    unsigned first = blockIdx.x * (unsigned)plan.lines;
    int line, element;
    for (int i = threadIdx.x; i < numbers; i += MIXED_THREADS) {
        place_of(i, plan.n, plan.lines, plan.by_lines_in, line, element);
        x[line * line_step + place_in_line(element, step)] =
            first + line < pass.lines ? read_number(pass, plan, first + line, element) : make_float2(0, 0);
    }
    __syncthreads();
    for (int i = 0, before = 1; i < plan.count; before *= plan.radix[i], i++) {
        any_stage(plan, plan.radix[i], x, y, before, line_step, step);
        __syncthreads();
        float2 *other = x;
        x = y;
        y = other;
    }
    for (int i = threadIdx.x; i < written * plan.lines; i += MIXED_THREADS) {
        place_of(i, written, plan.lines, plan.by_lines_out, line, element);
        if (first + line < pass.lines)
            write_number(pass, plan, first + line, element, x + line * line_step, step);
    }
}

cudaError_t fft_pass_mixed(const fft_pass *pass, int n, heddle_fft_kind kind, cudaStream_t stream)
{
    static const int radices[] = {8, 4, 2, 3, 5, 7};
    const int line_bytes = 2 * place_in_line(n, 1) * (int)sizeof(float2), card_bytes = heddle_cuda_shared_bytes();
    const int most_bytes = card_bytes < MIXED_BYTES ? card_bytes : MIXED_BYTES;
    mixed_plan plan;
    plan.kind = kind;
    plan.n = n;
    plan.by_lines_in = pass->from.stride != 1;
    plan.by_lines_out = pass->to.stride != 1;
    plan.count = fft_radices_of(n, radices, sizeof radices / sizeof *radices, plan.radix);
    plan.lines = n < MIXED_NUMBERS ? MIXED_NUMBERS / n : 1;
    if ((plan.by_lines_in || plan.by_lines_out) && plan.lines < MIXED_COLUMNS)
        plan.lines = MIXED_COLUMNS;
    while (plan.lines > 1 && (plan.lines * line_bytes > most_bytes || plan.lines > (long long)pass->lines))
        plan.lines--;
    cudaError_t error = cudaFuncSetAttribute(fft_mixed, cudaFuncAttributeMaxDynamicSharedMemorySize, most_bytes);
    if (error == cudaSuccess && pass->lines > 0)
        fft_mixed<<<heddle_ceil_div(pass->lines, plan.lines), MIXED_THREADS, plan.lines * line_bytes, stream>>>(*pass,
                                                                                                                plan);
    return error;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_fft_shape *shape = (const heddle_fft_shape *)call->shape;
    heddle_fft_job job = heddle_fft_job_of(shape, call->input[0], call->output[0]);
    fft_pass pass = fft_pass_of(&job);
    if (shape->n > HEDDLE_FFT_ONE_KERNEL)
        HEDDLE_CUDA_TRY(fft_launch_passes(&job, call->workspace, heddle_cuda_stream_of(call)));
    else
        HEDDLE_CUDA_TRY(fft_pass_mixed(&pass, shape->n, HEDDLE_FFT_COMPLEX, heddle_cuda_stream_of(call)));
    return heddle_cuda_launched("07_mixed_radix");
}

HEDDLE_CUDA_RUNG("fft", "07_mixed_radix", launch)
