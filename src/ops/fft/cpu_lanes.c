// fft, rfft and fft2d, heddle's best rung on the CPU, and the jobs of fft.h: Stockham's algorithm on eight lines at
// once.
//
// The iterative rung's strides double from stage to stage, and vectors would have to be assembled number by number.
// Here lane i of every vector belongs to line i: all stages are plain vector arithmetic, for any radix. A line too long
// for the cache is cut into columns and rows (the passes of plan.h), and neighbouring ones form the eight. Lengths with
// prime factors other than 2, 3, 5 and 7 are a convolution (Bluestein) of a power-of-two length.
//
// Limited by: cache bandwidth; a stage reads and writes 64 bytes for every eight numbers and does little with them.

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "ops/fft/cpu_stages.h"
#include "ops/fft/operators.h"
#include "ops/fft/plan.h"

enum {
    LONGEST = 4096, // numbers per pass, if it can be chosen: 512 KiB for eight lines and their next stage
    ALIGNMENT = 64,
};

// What all lines of a pass share.
typedef struct engine {
    const heddle_fft_job *job;
    int n;      // complex numbers per line: job->n, half of it if reals come in pairs, or a factor of it
    int length; // of the transform that is run: n, or Bluestein's power of two
    bool paired, rough;
    int count, radix[FFT_RADICES];
    float *roots;    // exp(-2πi k / length)
    float *unpair;   // exp(-2πi k / job->n), if paired
    float *chirp;    // exp(-πi q² / n), if rough
    float *spectrum; // of the conjugate chirp, over length
    float *turns;    // exp(-2πi k / modulus), if a pass before left them to this one
    long long modulus;
    heddle_fft_lines from, to;
    const float *input;
    float *output;
    long long lines;
    float input_sign, scale, output_sign;
    char *scratch; // per worker, scratch_bytes apart
    size_t scratch_bytes;
} engine;

// Allocates from a workspace; with NULL, only computes its size.
static void *take(char *workspace, size_t *used, size_t bytes)
{
    void *room = workspace ? workspace + *used : NULL;
    *used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return room;
}

static void prepare(engine *e, int n, char *workspace, size_t *used, int threads)
{
    static const int radices[] = {4, 2, 3, 5, 7};
    e->n = n;
    e->rough = !heddle_fft_is_smooth(n);
    e->length = e->rough ? (int)fft_bluestein_length(n) : n;
    e->count = fft_radices_of(e->length, radices, 5, e->radix);
    e->roots = take(workspace, used, 2 * sizeof(float) * (size_t)e->length);
    e->unpair = e->paired ? take(workspace, used, 2 * sizeof(float) * ((size_t)n + 1)) : NULL;
    e->chirp = e->rough ? take(workspace, used, 2 * sizeof(float) * (size_t)n) : NULL;
    e->spectrum = e->rough ? take(workspace, used, 2 * sizeof(float) * (size_t)e->length) : NULL;
    e->turns = e->modulus ? take(workspace, used, 2 * sizeof(float) * (size_t)e->modulus) : NULL;
    e->scratch_bytes = 2 * sizeof(fft_lanes) * ((size_t)e->length + 1);
    e->scratch = take(workspace, used, e->scratch_bytes * (size_t)threads);
}

// All stages of e->length numbers in x; returns where the result is, x or y.
static fft_lanes *transform(const engine *e, fft_lanes *x, fft_lanes *y)
{
    int before = 1;
    for (int i = 0; i < e->count; i++) {
        heddle_fft_cpu_stage(e->radix[i], x, y, e->length, before, e->roots);
        before *= e->radix[i];
        fft_lanes *other = x;
        x = y;
        y = other;
    }
    return x;
}

static void multiply(fft_lanes *x, const float *factor, float conjugate)
{
    for (int i = 0; i < FFT_LANES; i++) {
        float real = x->real[i] * factor[0] - x->imaginary[i] * factor[1];
        x->imaginary[i] = conjugate * (x->real[i] * factor[1] + x->imaginary[i] * factor[0]);
        x->real[i] = real;
    }
}

// exp(-πi q² / n) times the numbers, convolved with its conjugate, times it again.
static fft_lanes *transform_rough(const engine *e, fft_lanes *x, fft_lanes *y)
{
    for (int q = 0; q < e->n; q++)
        multiply(&x[q], e->chirp + 2 * q, 1);
    memset(x + e->n, 0, (size_t)(e->length - e->n) * sizeof *x);
    fft_lanes *middle = transform(e, x, y);
    for (int k = 0; k < e->length; k++)
        multiply(&middle[k], e->spectrum + 2 * k, -1);
    fft_lanes *end = transform(e, middle, middle == x ? y : x);
    for (int k = 0; k < e->n; k++) {
        for (int i = 0; i < FFT_LANES; i++)
            end[k].imaginary[i] = -end[k].imaginary[i];
        multiply(&end[k], e->chirp + 2 * k, 1);
    }
    return end;
}

static void fill_tables(engine *e)
{
    heddle_fft_cpu_roots(e->roots, e->length, e->length);
    if (e->unpair)
        heddle_fft_cpu_roots(e->unpair, e->n + 1, e->job->n);
    if (e->turns)
        heddle_fft_cpu_roots(e->turns, e->modulus, e->modulus);
    if (!e->rough)
        return;
    fft_lanes *x = (fft_lanes *)e->scratch, *y = x + e->length + 1;
    memset(x, 0, (size_t)e->length * sizeof *x);
    for (long long q = 0; q < e->n; q++) {
        double angle = acos(-1.0) * (double)(q * q % (2LL * e->n)) / e->n;
        e->chirp[2 * q] = x[q].real[0] = (float)cos(angle);
        x[q].imaginary[0] = (float)sin(angle);
        e->chirp[2 * q + 1] = -x[q].imaginary[0];
        if (q > 0)
            x[e->length - q] = x[q];
    }
    const fft_lanes *spectrum = transform(e, x, y);
    for (int k = 0; k < e->length; k++) { // 1 / length here saves it in every line
        e->spectrum[2 * k] = spectrum[k].real[0] / (float)e->length;
        e->spectrum[2 * k + 1] = spectrum[k].imaginary[0] / (float)e->length;
    }
}

static long long start_of(const heddle_fft_lines *lines, long long line)
{
    return line / lines->inner * lines->outer_stride + line % lines->inner * lines->inner_stride;
}

// Element q of a line, zero beyond its end.
static float real_at(const engine *e, long long start, int q)
{
    return q < e->from.length ? e->input[start + q * e->from.stride] : 0;
}

static void complex_at(const engine *e, long long start, int q, float *real, float *imaginary)
{
    const float *at = e->input + 2 * (start + q * e->from.stride);
    bool there = q < e->from.length;
    *real = there ? at[0] : 0;
    *imaginary = there ? at[1] : 0;
}

// Half a transform as the line of pairs that it belongs to, conjugated: z = a + i b of a = X[k] + conj X[n - k], b =
// (X[k] - conj X[n - k]) exp(2πi k / job->n).
static void read_paired_half(const engine *e, fft_lanes *x, int lane, long long start)
{
    for (int k = 0; k < e->n; k++) {
        float real, imaginary, mirror, mirror_i, c = e->unpair[2 * k], s = -e->unpair[2 * k + 1];
        complex_at(e, start, k, &real, &imaginary);
        complex_at(e, start, e->n - k, &mirror, &mirror_i);
        imaginary = k == 0 ? 0 : imaginary;
        mirror_i = k == 0 ? 0 : mirror_i;
        float difference = real - mirror, difference_i = imaginary + mirror_i;
        float b = difference * c - difference_i * s, b_i = difference * s + difference_i * c;
        x[k].real[lane] = real + mirror - b_i;
        x[k].imaginary[lane] = -(imaginary - mirror_i + b);
    }
}

// The same if n is odd: every number stands for itself and its mirror image.
static void read_whole_half(const engine *e, fft_lanes *x, int lane, long long start)
{
    for (int k = 0; k <= e->n / 2; k++) {
        int mirror = (e->n - k) % e->n;
        float real, imaginary;
        complex_at(e, start, k, &real, &imaginary);
        x[mirror].real[lane] = x[k].real[lane] = real;
        x[mirror].imaginary[lane] = imaginary;
        x[k].imaginary[lane] = k == 0 ? 0 : -imaginary;
    }
}

static void read_line(const engine *e, fft_lanes *x, int lane, long long line)
{
    long long start = start_of(&e->from, line), turn = e->modulus ? line % e->to.inner : 0;
    if (e->job->kind == HEDDLE_FFT_OF_HALF) {
        if (e->paired)
            read_paired_half(e, x, lane, start);
        else
            read_whole_half(e, x, lane, start);
        return;
    }
    for (int q = 0; q < e->n; q++) {
        float real, imaginary = 0;
        if (e->job->kind == HEDDLE_FFT_COMPLEX) {
            complex_at(e, start, q, &real, &imaginary);
        } else {
            real = real_at(e, start, e->paired ? 2 * q : q);
            imaginary = e->paired ? real_at(e, start, 2 * q + 1) : 0;
        }
        imaginary *= e->input_sign;
        if (turn > 0) {
            const float *root = e->turns + 2 * turn * q;
            float turned = real * root[0] - imaginary * root[1];
            imaginary = real * root[1] + imaginary * root[0];
            real = turned;
        }
        x[q].real[lane] = real;
        x[q].imaginary[lane] = imaginary;
    }
}

static void write_complex(const engine *e, long long start, int k, float real, float imaginary)
{
    if (k < e->to.length) {
        float *at = e->output + 2 * (start + k * e->to.stride);
        at[0] = e->scale * real;
        at[1] = e->scale * imaginary;
    }
}

// X[k] = (z + conj z' - i (z - conj z') exp(-2πi k / job->n)) / 2, where z' is the mirror image of z = Z[k].
static void write_unpaired(const engine *e, const fft_lanes *x, int lane, long long start)
{
    for (int k = 0; k <= e->n; k++) {
        bool end = k == 0 || k == e->n; // both of which are number 0 of the pairs
        const fft_lanes *z = &x[end ? 0 : k], *mirror = &x[end ? 0 : e->n - k];
        float c = e->unpair[2 * k], s = e->unpair[2 * k + 1];
        float even = z->real[lane] + mirror->real[lane], even_i = z->imaginary[lane] - mirror->imaginary[lane];
        float odd = z->imaginary[lane] + mirror->imaginary[lane], odd_i = mirror->real[lane] - z->real[lane];
        write_complex(e, start, k, 0.5f * (even + odd * c - odd_i * s), 0.5f * (even_i + odd * s + odd_i * c));
    }
}

static void write_reals(const engine *e, const fft_lanes *x, int lane, long long start)
{
    for (int q = 0; q < e->job->n && q < e->to.length; q++) {
        float value = !e->paired ? x[q].real[lane] : q % 2 == 0 ? x[q / 2].real[lane] : -x[q / 2].imaginary[lane];
        e->output[start + q * e->to.stride] = e->scale * value;
    }
}

static void write_line(const engine *e, const fft_lanes *x, int lane, long long line)
{
    long long start = start_of(&e->to, line);
    if (e->job->kind == HEDDLE_FFT_OF_HALF)
        write_reals(e, x, lane, start);
    else if (e->paired)
        write_unpaired(e, x, lane, start);
    else
        for (int k = 0; k < (e->job->kind == HEDDLE_FFT_COMPLEX ? e->n : e->n / 2 + 1); k++)
            write_complex(e, start, k, x[k].real[lane], e->output_sign * x[k].imaginary[lane]);
}

// Eight whole complex lines at once, numbers of one index adjacent: most jobs are made of these.
static void read_eight(const engine *e, fft_lanes *x, long long first)
{
    const float *from[FFT_LANES];
    long long stride = 2 * e->from.stride;
    for (int lane = 0; lane < FFT_LANES; lane++)
        from[lane] = e->input + 2 * start_of(&e->from, first + lane);
    for (long long q = 0; q < e->n; q++)
        for (int lane = 0; lane < FFT_LANES; lane++) {
            x[q].real[lane] = from[lane][q * stride];
            x[q].imaginary[lane] = e->input_sign * from[lane][q * stride + 1];
        }
    for (int lane = 0; lane < FFT_LANES && e->modulus; lane++) {
        const float *root = e->turns;
        long long turn = (first + lane) % e->to.inner;
        for (int q = 0; q < e->n; q++, root += 2 * turn) {
            float real = x[q].real[lane], imaginary = x[q].imaginary[lane];
            x[q].real[lane] = real * root[0] - imaginary * root[1];
            x[q].imaginary[lane] = real * root[1] + imaginary * root[0];
        }
    }
}

static void write_eight(const engine *e, const fft_lanes *x, long long first)
{
    float *to[FFT_LANES], sign = e->scale * e->output_sign;
    long long stride = 2 * e->to.stride;
    for (int lane = 0; lane < FFT_LANES; lane++)
        to[lane] = e->output + 2 * start_of(&e->to, first + lane);
    for (long long k = 0; k < e->n; k++)
        for (int lane = 0; lane < FFT_LANES; lane++) {
            to[lane][k * stride] = e->scale * x[k].real[lane];
            to[lane][k * stride + 1] = sign * x[k].imaginary[lane];
        }
}

static void run_group(void *context, int index, int worker)
{
    const engine *e = context;
    fft_lanes *x = (fft_lanes *)(e->scratch + e->scratch_bytes * (size_t)worker), *y = x + e->length + 1;
    long long first = (long long)index * FFT_LANES, rest = e->lines - first;
    int lanes = rest < FFT_LANES ? (int)rest : FFT_LANES;
    bool full = lanes == FFT_LANES && e->job->kind == HEDDLE_FFT_COMPLEX;
    if (full && e->from.length >= e->n) {
        read_eight(e, x, first);
    } else {
        memset(x, 0, (size_t)e->n * sizeof *x); // lanes without a line compute with zeros
        for (int lane = 0; lane < lanes; lane++)
            read_line(e, x, lane, first + lane);
    }
    const fft_lanes *result = e->rough ? transform_rough(e, x, y) : transform(e, x, y);
    if (full && e->to.length >= e->n)
        write_eight(e, result, first);
    else
        for (int lane = 0; lane < lanes; lane++)
            write_line(e, result, lane, first + lane);
}

static void run_pass(engine *e, heddle_pool *pool)
{
    fill_tables(e);
    heddle_pool_run(pool, (int)((e->lines + FFT_LANES - 1) / FFT_LANES), run_group, e);
}

static engine engine_of(const heddle_fft_job *job)
{
    float sign = job->kind == HEDDLE_FFT_COMPLEX && job->inverse ? -1.0f : 1.0f;
    return (engine){.job = job,
                    .paired = job->kind != HEDDLE_FFT_COMPLEX && job->n % 2 == 0,
                    .from = job->from,
                    .to = job->to,
                    .input = job->input,
                    .output = job->output,
                    .lines = job->lines,
                    .input_sign = sign,
                    .scale = job->scale,
                    .output_sign = sign};
}

// Whether a job can be cut into passes, and how.
static bool can_be_cut(const heddle_fft_job *job, fft_plan *plan)
{
    if (job->kind != HEDDLE_FFT_COMPLEX || job->n <= LONGEST || !heddle_fft_is_smooth(job->n) ||
        !fft_is_contiguous(job->from, job->n) || !fft_is_contiguous(job->to, job->n))
        return false;
    *plan = fft_plan_of(job->n, LONGEST);
    return true;
}

// The first of an odd number of passes overwrites the job's input, if that is also its output.
static bool is_cut(const heddle_fft_job *job, fft_plan *plan)
{
    return can_be_cut(job, plan) && (plan->count % 2 == 0 || job->input != job->output);
}

// Runs a job's passes; with no workspace, only counts its bytes.
static size_t run_passes(const heddle_fft_job *job, const fft_plan *plan, heddle_pool *pool, int threads,
                         char *workspace)
{
    size_t used = 0, most = 0;
    float *between = take(workspace, &used, 2 * sizeof(float) * (size_t)job->lines * (size_t)job->n);
    for (int i = 0; i < plan->count; i++) {
        engine e = engine_of(job);
        bool first = i == 0, last = i == plan->count - 1, odd = (plan->count - 1 - i) % 2 != 0;
        size_t here = used;
        fft_pass_lines(plan, i, job->n, &e.from, &e.to);
        e.lines = job->lines * (job->n / plan->factor[i]);
        e.modulus = first ? 0 : (long long)e.to.inner * plan->factor[i];
        e.input = first ? job->input : odd ? job->output : between;
        e.output = odd ? between : job->output;
        e.input_sign = first ? e.input_sign : 1;
        e.output_sign = last ? e.output_sign : 1;
        e.scale = last ? e.scale : 1;
        prepare(&e, plan->factor[i], workspace, &here, threads);
        most = here > most ? here : most;
        if (workspace)
            run_pass(&e, pool);
    }
    return most;
}

static size_t run_whole(const heddle_fft_job *job, heddle_pool *pool, int threads, char *workspace)
{
    engine e = engine_of(job);
    size_t used = 0;
    prepare(&e, e.paired ? job->n / 2 : job->n, workspace, &used, threads);
    if (workspace)
        run_pass(&e, pool);
    return used;
}

bool heddle_fft_cpu_takes(heddle_fft_kind kind, int n)
{
    int length = kind != HEDDLE_FFT_COMPLEX && n % 2 == 0 ? n / 2 : n;
    return heddle_fft_is_smooth(length) || fft_bluestein_length(length) <= INT_MAX;
}

// Enough for the job wherever its operands are: the caller may not know yet.
size_t heddle_fft_cpu_workspace(const heddle_fft_job *job, int threads)
{
    fft_plan plan;
    if (!can_be_cut(job, &plan))
        return run_whole(job, NULL, threads, NULL);
    size_t passes = run_passes(job, &plan, NULL, threads, NULL);
    size_t whole = plan.count % 2 == 0 ? 0 : run_whole(job, NULL, threads, NULL);
    return passes > whole ? passes : whole;
}

void heddle_fft_cpu(const heddle_fft_job *job, heddle_pool *pool, void *workspace)
{
    fft_plan plan;
    int threads = heddle_pool_threads(pool);
    if (job->lines == 0)
        return;
    if (is_cut(job, &plan))
        run_passes(job, &plan, pool, threads, workspace);
    else
        run_whole(job, pool, threads, workspace);
}

// --- the rungs -------------------------------------------------------------------------------------------------------

heddle_status heddle_fft_cpu_lanes(const heddle_call *call)
{
    heddle_fft_job job = heddle_fft_job_of(call->shape, call->input[0], call->output[0]);
    heddle_fft_cpu(&job, call->pool, call->workspace);
    return HEDDLE_OK;
}

size_t heddle_fft_cpu_lanes_workspace(const void *shape, int threads)
{
    heddle_fft_job job = heddle_fft_job_of(shape, NULL, NULL);
    return heddle_fft_cpu_workspace(&job, threads);
}

heddle_status heddle_rfft_cpu_lanes(const heddle_call *call)
{
    heddle_fft_job job = heddle_rfft_job_of(call->shape, call->input[0], call->output[0]);
    heddle_fft_cpu(&job, call->pool, call->workspace);
    return HEDDLE_OK;
}

size_t heddle_rfft_cpu_lanes_workspace(const void *shape, int threads)
{
    heddle_fft_job job = heddle_rfft_job_of(shape, NULL, NULL);
    return heddle_fft_cpu_workspace(&job, threads);
}

heddle_status heddle_fft2d_cpu_lanes(const heddle_call *call)
{
    heddle_fft_job jobs[2];
    heddle_fft2d_jobs_of(call->shape, call->input[0], call->output[0], jobs);
    heddle_fft_cpu(&jobs[0], call->pool, call->workspace);
    heddle_fft_cpu(&jobs[1], call->pool, call->workspace);
    return HEDDLE_OK;
}

size_t heddle_fft2d_cpu_lanes_workspace(const void *shape, int threads)
{
    heddle_fft_job jobs[2];
    heddle_fft2d_jobs_of(shape, NULL, NULL, jobs);
    size_t rows = heddle_fft_cpu_workspace(&jobs[0], threads), columns = heddle_fft_cpu_workspace(&jobs[1], threads);
    return rows > columns ? rows : columns;
}
