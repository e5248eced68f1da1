// fft, rung 9: products of 2, 3, 5 and 7 in registers. A thread takes a butterfly of 2 to 16 numbers straight from
// memory in the first stage and writes one straight to memory in the last; shared memory is only for the exchange
// between two stages. 1000 = 10 * 10 * 10 takes two exchanges. Rung 7 passes every stage through shared memory, from
// and to which it copies whole lines besides: five trips for 1000 = 8 * 5 * 5 * 5.
//
// Indices cost as little as if the length were known at compile time: a thread handles the same butterfly of two
// lines, which share their places and roots, and the places of one butterfly are equally far apart. All divisions are
// by numbers that the host knows (ops/cuda/division.h).
//
// With 12 to 16 numbers there are registers for one line only; they are used where they save a stage.
//
// Limited by: memory bandwidth, if three radices suffice (1000 or 1440, not 2000); beyond that, the fourth stage.

#include "device/cuda/check.h"
#include "device/cuda/cuda.h"
#include "heddle/ops.h"
#include "ops/cuda/division.h"
#include "ops/cuda/rung.h"
#include "ops/fft/lines.h"
#include "ops/fft/mirror.h"
#include "ops/fft/passes.h"

enum {
    MOST_RADIX = 10,     // of two lines per thread
    WIDE_RADIX = 16,     // of one
    FEW_STAGES = 3,      // that fit in the time of reading and writing
    STAGES = 5,          // 3125 = 5^5 needs five
    LEAST_THREADS = 128, // per block
    USUAL_THREADS = 256, // at most, so that several blocks fit on an SM
    PAIR_THREADS = 448,  // at most, if a thread handles two lines
    MOST_THREADS = 832,  // at most, if it handles one
    LEAST_COLUMNS = 4,   // adjacent lines: 32 bytes
    MOST_COLUMNS = 8,
    BANKS = 16,             // of 8 bytes
    PLAIN_BYTES = 48 << 10, // of shared memory; more must be requested
};

// A stage in shared memory: butterfly j = m * before + p reads its numbers at m * read_pitch + p + q * read_step, and
// writes them at m * write_pitch + p + k * before.
typedef struct register_stage {
    int radix, before; // and the product of the radices before
    int butterflies;   // per line
    int read_pitch, read_step, write_pitch;
    bool by_lines; // neighbouring threads handle neighbouring lines
    float two_over_modulus;
    heddle_divisor by_item, by_before;
} register_stage;

typedef struct register_plan {
    int n, count;
    int group;                   // lines whose threads are different; a thread handles one line of each group
    int line_step, element_step; // in shared memory
    int group_step;
    register_stage stage[STAGES];
} register_plan;

// One thread's part of a stage.
typedef struct register_place {
    unsigned line, j, m, p; // line of the block's first group
} register_place;

__device__ __forceinline__ static register_place place_of(const register_stage &stage)
{
    register_place place;
    unsigned rest, quotient = heddle_divide(threadIdx.x, stage.by_item, &rest);
    place.line = stage.by_lines ? rest : quotient;
    place.j = stage.by_lines ? quotient : rest;
    place.m = heddle_divide(place.j, stage.by_before, &place.p);
    return place;
}

__device__ __forceinline__ static long long start_of_line(const heddle_fft_lines &lines, unsigned line)
{
    return lines.inner == 1 ? line * lines.outer_stride : start_of(lines, line);
}

// The elements j + q * butterflies of a line, with everything that comes before the first stage.
template <heddle_fft_kind KIND, int R>
__device__ __forceinline__ static void load_butterfly(const fft_pass &pass, const register_plan &plan,
                                                      const register_stage &stage, unsigned line, unsigned j,
                                                      float2 (&x)[R])
{
    const float2 *from = (const float2 *)pass.input;
    if (KIND == HEDDLE_FFT_TO_HALF)
        from += start_of_line(pass.from, line) / 2 + j;
    else
        from += start_of_line(pass.from, line) + j * pass.from.stride;
    const long long step = KIND == HEDDLE_FFT_COMPLEX ? stage.butterflies * pass.from.stride : stage.butterflies;
#pragma unroll
    for (int q = 0; q < R; q++)
        x[q] = from[q * step];
    if (KIND == HEDDLE_FFT_OF_HALF) {
        const float2 *last = from - 2 * (int)j + plan.n;
        float2 mirror[R], odd[R];
#pragma unroll
        for (int q = 0; q < R; q++)
            mirror[q] = last[-q * step];
        if (j == 0)
            x[0].y = mirror[0].y = 0;
#pragma unroll
        for (int q = 0; q < R; q++)
            odd[q] = conjugate(difference_of(x[q], mirror[q]));
        turn_all(odd, j, stage.butterflies, 2 * plan.n);
#pragma unroll
        for (int q = 0; q < R; q++)
            x[q] = conjugate(put_together(x[q], mirror[q], conjugate(odd[q])));
    }
    if (KIND == HEDDLE_FFT_COMPLEX) {
#pragma unroll
        for (int q = 0; q < R; q++)
            x[q].y *= pass.input_sign;
        if (pass.modulus > 0) {
            unsigned turn = line % (unsigned)pass.to.inner;
            turn_all(x, turn * j, turn * stage.butterflies, pass.modulus);
        }
    }
}

// Of a butterfly of the last stage, which has results p + k * before: before = butterflies, p = j.
template <heddle_fft_kind KIND, int R>
__device__ __forceinline__ static void store_butterfly(const fft_pass &pass, const register_stage &stage, unsigned line,
                                                       unsigned j, float2 (&x)[R])
{
    const float sign = KIND == HEDDLE_FFT_COMPLEX ? pass.output_sign : KIND == HEDDLE_FFT_OF_HALF ? -1.0f : 1.0f;
    float2 *to = (float2 *)pass.output;
    if (KIND == HEDDLE_FFT_OF_HALF)
        to += start_of_line(pass.to, line) / 2 + j;
    else
        to += start_of_line(pass.to, line) + j * pass.to.stride;
    const long long step = KIND == HEDDLE_FFT_COMPLEX ? stage.butterflies * pass.to.stride : stage.butterflies;
#pragma unroll
    for (int k = 0; k < R; k++)
        to[k * step] = make_float2(pass.scale * x[k].x, pass.scale * sign * x[k].y);
}

// Of a real transform, whose numbers and their mirror images have met in shared memory. Read again from there: kept in
// registers, the numbers of two lines would leave room for fewer threads.
template <int R>
__device__ __forceinline__ static void separate(const register_plan &plan, const register_stage &stage,
                                                const float2 *line, unsigned j, float2 (&x)[R])
{
    float2 odd[R];
#pragma unroll
    for (int k = 0; k < R; k++) {
        int at = (int)j + k * stage.butterflies;
        float2 here = line[at], mirror = line[at == 0 ? 0 : plan.n - at];
        odd[k] = odd_part(here, mirror);
        x[k] = even_part(here, mirror);
    }
    turn_all(odd, j, stage.butterflies, 2 * plan.n);
#pragma unroll
    for (int k = 0; k < R; k++)
        x[k] = complex_add(x[k], odd[k]);
}

// GROUPS lines per thread.
template <heddle_fft_kind KIND, int GROUPS, int R>
__device__ __forceinline__ static void run_stage(const fft_pass &pass, const register_plan &plan, int index,
                                                 float2 *shared)
{
    const register_stage &stage = plan.stage[index];
    const bool first = index == 0, last = index == plan.count - 1;
    const register_place place = place_of(stage);
    const unsigned first_line = blockIdx.x * (unsigned)(GROUPS * plan.group) + place.line;
    const bool active = threadIdx.x < stage.butterflies * plan.group && first_line < pass.lines;
    float2 x[GROUPS][R] = {}; // else the numbers of inactive threads would be kept from stage to stage
    if (active && first) {
#pragma unroll
        for (int g = 0; g < GROUPS; g++) { // beyond the last line: the thread's first again, which is not stored
            unsigned line = first_line + g * plan.group;
            load_butterfly<KIND>(pass, plan, stage, line < pass.lines ? line : first_line, place.j, x[g]);
        }
    } else if (active) {
        const float2 *from =
            shared + place.line * plan.line_step + (place.m * stage.read_pitch + place.p) * plan.element_step;
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
#pragma unroll
            for (int q = 0; q < R; q++)
                x[g][q] = from[g * plan.group_step + q * stage.read_step];
        float2 root[R];
        powers_of_root(root, place.p, stage.two_over_modulus);
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
#pragma unroll
            for (int q = 1; q < R; q++)
                x[g][q] = complex_multiply(x[g][q], root[q]);
    }
    if (active) {
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            butterfly<R>::run(x[g]);
    }
    if (!last || KIND == HEDDLE_FFT_TO_HALF) {
        if (!first)
            __syncthreads(); // the results of the exchange before have been read
        float2 *to = shared + place.line * plan.line_step + (place.m * stage.write_pitch + place.p) * plan.element_step;
        if (active) {
#pragma unroll
            for (int g = 0; g < GROUPS; g++)
#pragma unroll
                for (int k = 0; k < R; k++)
                    to[g * plan.group_step + k * stage.before * plan.element_step] = x[g][k];
        }
        __syncthreads();
    }
    if (!last || !active)
        return;
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        unsigned line = first_line + g * plan.group;
        if (line >= pass.lines)
            continue;
        if (KIND == HEDDLE_FFT_TO_HALF) {
            const float2 *numbers = shared + place.line * plan.line_step + g * plan.group_step;
            separate(plan, stage, numbers, place.j, x[g]);
            if (place.j == 0)
                ((float2 *)pass.output)[start_of_line(pass.to, line) + plan.n] =
                    make_float2(pass.scale * (numbers[0].x - numbers[0].y), 0);
        }
        store_butterfly<KIND>(pass, stage, line, place.j, x[g]);
    }
}

// Radices that leave registers for one line only.
template <heddle_fft_kind KIND, int GROUPS>
__device__ __forceinline__ static void run_wide_stage(const fft_pass &pass, const register_plan &plan, int index,
                                                      float2 *shared)
{
    if (GROUPS > 1 || KIND != HEDDLE_FFT_COMPLEX)
        return;
    switch (plan.stage[index].radix) {
    case 12: run_stage<KIND, 1, 12>(pass, plan, index, shared); break;
    case 14: run_stage<KIND, 1, 14>(pass, plan, index, shared); break;
    case 15: run_stage<KIND, 1, 15>(pass, plan, index, shared); break;
    default: run_stage<KIND, 1, 16>(pass, plan, index, shared); break;
    }
}

// With two lines per thread, two of the largest blocks must fit on an SM, which leaves 72 registers per thread. Halves
// that are read with their mirror images need more.
template <heddle_fft_kind KIND, int GROUPS>
__global__ void __launch_bounds__(GROUPS > 1 ? PAIR_THREADS : MOST_THREADS, KIND == HEDDLE_FFT_OF_HALF ? 1 : GROUPS)
    fft_registers(fft_pass pass, register_plan plan)
{
    extern __shared__ float2 register_numbers[];
    for (int i = 0; i < plan.count; i++) {
        switch (plan.stage[i].radix) {
        case 2: run_stage<KIND, GROUPS, 2>(pass, plan, i, register_numbers); break;
        case 3: run_stage<KIND, GROUPS, 3>(pass, plan, i, register_numbers); break;
        case 4: run_stage<KIND, GROUPS, 4>(pass, plan, i, register_numbers); break;
        case 5: run_stage<KIND, GROUPS, 5>(pass, plan, i, register_numbers); break;
        case 6: run_stage<KIND, GROUPS, 6>(pass, plan, i, register_numbers); break;
        case 7: run_stage<KIND, GROUPS, 7>(pass, plan, i, register_numbers); break;
        case 8: run_stage<KIND, GROUPS, 8>(pass, plan, i, register_numbers); break;
        case 9: run_stage<KIND, GROUPS, 9>(pass, plan, i, register_numbers); break;
        case 10: run_stage<KIND, GROUPS, 10>(pass, plan, i, register_numbers); break;
        default: run_wide_stage<KIND, GROUPS>(pass, plan, i, register_numbers); break;
        }
    }
}

// --- plan ------------------------------------------------------------------------------------------------------------

// `count` radices of n, from `least` to `most`, in ascending order.
static bool cut(int n, int count, int least, int most, int *radix)
{
    if (count == 0)
        return n == 1;
    for (int r = least; r <= most; r++)
        if (r != 11 && r != 13 && n % r == 0 && cut(n / r, count - 1, r, most, radix + 1)) {
            *radix = r;
            return true;
        }
    return false;
}

// The fewest, and of these the ones whose smallest is largest: it needs the most threads. It comes first, where numbers
// are not multiplied by roots.
static int radices_of(int n, int most, int *radix)
{
    for (int count = 1; count <= STAGES; count++)
        for (int least = most; least >= 2; least--)
            if (cut(n, count, least, most, radix))
                return count;
    return 0;
}

// Numbers between rows of before * radix results in shared memory, so that the rows of one store do not share banks.
static int padding_of(int before, int radix)
{
    if (before == 1)
        return radix % 2 == 0;
    return before < BANKS ? (BANKS - (before * radix - before) % BANKS) % BANKS : 0;
}

// Lines side by side in memory: as many threads as are possible, in whole pieces of 32 bytes. 0: too few.
static int columns_of(int butterflies, int most_threads)
{
    int group = MOST_COLUMNS;
    while (group * butterflies > most_threads)
        group /= 2;
    return group < LEAST_COLUMNS ? 0 : group;
}

// Lines one after another: LEAST_THREADS to USUAL_THREADS threads, with as few idle lanes in the last warp as possible.
static int rows_of(int butterflies)
{
    int best = 1, best_idle = 32 * 32;
    for (int group = (LEAST_THREADS - 1) / butterflies + 1; group * butterflies <= USUAL_THREADS; group++) {
        int warps = (group * butterflies + 31) / 32, idle = (32 * warps - group * butterflies) * 32 / warps;
        if (idle < best_idle) {
            best = group;
            best_idle = idle;
        }
    }
    return best;
}

static void fill_stages(register_plan *plan, const int *radix, bool by_lines_in, bool by_lines_out)
{
    int before = 1, pitch = 1, line = plan->n;
    for (int i = 0; i < plan->count; before *= radix[i], i++) {
        register_stage *stage = &plan->stage[i];
        stage->radix = radix[i];
        stage->before = before;
        stage->butterflies = plan->n / radix[i];
        stage->by_lines = i == 0 ? by_lines_in : by_lines_out;
        stage->read_pitch = pitch;
        stage->read_step = plan->n / (before * radix[i]) * pitch; // of elements: multiplied below
        stage->two_over_modulus = (float)(2.0 / (before * radix[i]));
        stage->by_before = heddle_divisor_of(before);
        pitch = before * radix[i] + (i < plan->count - 1 ? padding_of(before, radix[i]) : 0);
        stage->write_pitch = pitch;
        if (plan->n / (before * radix[i]) * pitch > line)
            line = plan->n / (before * radix[i]) * pitch;
    }
    line |= 1; // lines of one load begin at different banks
    bool interleaved = by_lines_in && by_lines_out;
    plan->line_step = interleaved ? 1 : line;
    plan->element_step = interleaved ? plan->group : 1;
    plan->group_step = plan->group * line;
    for (int i = 0; i < plan->count; i++) {
        register_stage *stage = &plan->stage[i];
        stage->read_step *= plan->element_step;
        stage->by_item = heddle_divisor_of(stage->by_lines ? plan->group : stage->butterflies);
    }
}

template <heddle_fft_kind KIND, int GROUPS>
static cudaError_t run(const fft_pass *pass, const register_plan *plan, cudaStream_t stream)
{
    const int threads = (plan->group * plan->stage[0].butterflies + 31) / 32 * 32;
    const int bytes = GROUPS * plan->group_step * (int)sizeof(float2);
    cudaError_t error = cudaSuccess;
    if (bytes > PLAIN_BYTES)
        error = cudaFuncSetAttribute(fft_registers<KIND, GROUPS>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error == cudaSuccess)
        fft_registers<KIND, GROUPS>
            <<<heddle_ceil_div(pass->lines, GROUPS * plan->group), threads, bytes, stream>>>(*pass, *plan);
    return error;
}

template <int GROUPS>
static cudaError_t run_kind(const fft_pass *pass, const register_plan *plan, heddle_fft_kind kind, cudaStream_t stream)
{
    switch (kind) {
    case HEDDLE_FFT_COMPLEX: return run<HEDDLE_FFT_COMPLEX, GROUPS>(pass, plan, stream);
    case HEDDLE_FFT_TO_HALF: return run<HEDDLE_FFT_TO_HALF, GROUPS>(pass, plan, stream);
    default: return run<HEDDLE_FFT_OF_HALF, GROUPS>(pass, plan, stream);
    }
}

// Whether the lines are read or written as whole numbers of 8 bytes, or pairs of reals: all `length` of each.
static bool has_numbers(const float *pointer, heddle_fft_lines lines, int length, bool real)
{
    bool even = !real || (lines.outer_stride % 2 == 0 && lines.inner_stride % 2 == 0);
    return (size_t)pointer % sizeof(float2) == 0 && even && lines.length >= length;
}

static bool is_possible(const fft_pass *pass, int n, heddle_fft_kind kind)
{
    const bool real_in = kind == HEDDLE_FFT_TO_HALF, real_out = kind == HEDDLE_FFT_OF_HALF;
    const int input_length = real_in ? 2 * n : n + real_out, output_length = real_out ? 2 * n : n + real_in;
    const bool rows = pass->from.stride == 1 && pass->to.stride == 1;
    return n > 1 && (rows || kind == HEDDLE_FFT_COMPLEX) &&
           has_numbers(pass->input, pass->from, input_length, real_in) &&
           has_numbers(pass->output, pass->to, output_length, real_out);
}

cudaError_t fft_pass_registers(const fft_pass *pass, int n, heddle_fft_kind kind, cudaStream_t stream)
{
    const bool by_lines_in = pass->from.stride != 1, by_lines_out = pass->to.stride != 1;
    const bool columns = by_lines_in || by_lines_out, is_complex = kind == HEDDLE_FFT_COMPLEX;
    int radix[STAGES], wide[STAGES];
    register_plan plan;
    if (pass->lines == 0)
        return cudaSuccess;
    plan.n = n;
    plan.count = is_possible(pass, n, kind) ? radices_of(n, MOST_RADIX, radix) : 0;
    if (is_complex && plan.count > FEW_STAGES && radices_of(n, WIDE_RADIX, wide) <= FEW_STAGES)
        plan.count = radices_of(n, WIDE_RADIX, radix);
    if (plan.count == 0)
        return fft_pass_mixed(pass, n, kind, stream);
    const bool narrow = radix[plan.count - 1] <= MOST_RADIX;
    const int butterflies = n / radix[0], most_rows = is_complex ? PAIR_THREADS : USUAL_THREADS;
    const bool pairs = narrow && (columns ? columns_of(butterflies, PAIR_THREADS) > 0 : butterflies <= most_rows);
    plan.group = columns ? columns_of(butterflies, pairs ? PAIR_THREADS : MOST_THREADS) : rows_of(butterflies);
    while (!columns && plan.group > 1 && pass->lines < 2u * plan.group * heddle_cuda_multiprocessors())
        plan.group--; // so that every SM has a block
    if (plan.group == 0 || plan.group * butterflies > MOST_THREADS)
        return fft_pass_mixed(pass, n, kind, stream);
    fill_stages(&plan, radix, by_lines_in, by_lines_out);
    if ((pairs ? 2 : 1) * plan.group_step * (int)sizeof(float2) > heddle_cuda_shared_bytes())
        return fft_pass_mixed(pass, n, kind, stream);
    return pairs ? run_kind<2>(pass, &plan, kind, stream) : run_kind<1>(pass, &plan, kind, stream);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_fft_shape *shape = (const heddle_fft_shape *)call->shape;
    heddle_fft_job job = heddle_fft_job_of(shape, call->input[0], call->output[0]);
    fft_pass pass = fft_pass_of(&job);
    HEDDLE_CUDA_TRY(fft_pass_registers(&pass, shape->n, HEDDLE_FFT_COMPLEX, heddle_cuda_stream_of(call)));
    return heddle_cuda_launched("09_mixed_registers");
}

HEDDLE_CUDA_RUNG("fft", "09_mixed_registers", launch)
