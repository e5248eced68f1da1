// fft, rfft and fft2d, the vendor's rungs: FFTW makes a plan for one line or image, heddle's pool runs it on each.
//
// Plans are measured, which takes longer than many transforms, and cached: one for each kind, size and direction.
// FFTW's planner is not thread-safe; its plans are.
//
// Limited by: cache bandwidth if lines are long.

#include "ops/fft/operators.h"

#if HEDDLE_HAVE_FFTW

#include <fftw3.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/threads.h"

typedef enum plan_kind { LINE, TO_HALF, OF_HALF, IMAGE } plan_kind;

typedef struct kept_plan {
    plan_kind kind;
    int h, w; // of an image; w alone of a line
    int inverse;
    fftwf_plan plan;
    struct kept_plan *next;
} kept_plan;

static kept_plan *kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Measured on separate memory. Operands may lie anywhere, so FFTW must not assume aligned vectors. An inverse of a half
// may otherwise use its input as scratch.
static fftwf_plan make_plan(const kept_plan *wanted)
{
    const unsigned flags = FFTW_MEASURE | FFTW_UNALIGNED | FFTW_PRESERVE_INPUT;
    size_t numbers = (size_t)(wanted->h > 0 ? wanted->h : 1) * ((size_t)wanted->w + 2);
    fftwf_complex *input = fftwf_alloc_complex(numbers), *output = fftwf_alloc_complex(numbers);
    int direction = wanted->inverse ? FFTW_BACKWARD : FFTW_FORWARD;
    fftwf_plan plan = NULL;
    // Without a cycle counter, measuring takes seconds even for a short line; when time is up FFTW estimates.
    fftwf_set_timelimit(0.02 + 2e-6 * (double)numbers);
    if (input && output)
        switch (wanted->kind) {
        case LINE: plan = fftwf_plan_dft_1d(wanted->w, input, output, direction, flags); break;
        case TO_HALF: plan = fftwf_plan_dft_r2c_1d(wanted->w, (float *)input, output, flags); break;
        case OF_HALF: plan = fftwf_plan_dft_c2r_1d(wanted->w, input, (float *)output, flags); break;
        case IMAGE: plan = fftwf_plan_dft_2d(wanted->h, wanted->w, input, output, direction, flags); break;
        }
    fftwf_free(input);
    fftwf_free(output);
    return plan;
}

static heddle_status find_plan(kept_plan wanted, fftwf_plan *plan)
{
    pthread_mutex_lock(&lock);
    kept_plan *one = kept;
    while (one &&
           (one->kind != wanted.kind || one->h != wanted.h || one->w != wanted.w || one->inverse != wanted.inverse))
        one = one->next;
    if (!one && (wanted.plan = make_plan(&wanted)) && (one = malloc(sizeof *one))) {
        *one = wanted;
        one->next = kept;
        kept = one;
    }
    pthread_mutex_unlock(&lock);
    *plan = one ? one->plan : NULL;
    return one ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "FFTW made no plan: no memory for one");
}

typedef struct work {
    fftwf_plan plan;
    plan_kind kind;
    const float *input;
    float *output;
    size_t input_floats, output_floats; // from one transform to the next
    float scale;
} work;

static void run_one(void *context, int index, int worker)
{
    const work *job = context;
    float *input = (float *)(job->input + job->input_floats * (size_t)index); // FFTW's interface is not const-correct
    float *output = job->output + job->output_floats * (size_t)index;
    (void)worker;
    if (job->kind == TO_HALF)
        fftwf_execute_dft_r2c(job->plan, input, (fftwf_complex *)output);
    else if (job->kind == OF_HALF)
        fftwf_execute_dft_c2r(job->plan, (fftwf_complex *)input, output);
    else
        fftwf_execute_dft(job->plan, (fftwf_complex *)input, (fftwf_complex *)output);
    for (size_t i = 0; job->scale != 1.0f && i < job->output_floats; i++)
        output[i] *= job->scale;
}

static heddle_status run(const heddle_call *call, kept_plan wanted, size_t input_floats, size_t output_floats,
                         int batch, float scale)
{
    work job = {.kind = wanted.kind,
                .input = call->input[0],
                .output = call->output[0],
                .input_floats = input_floats,
                .output_floats = output_floats,
                .scale = scale};
    heddle_status status = batch > 0 ? find_plan(wanted, &job.plan) : HEDDLE_OK;
    if (status == HEDDLE_OK)
        heddle_pool_run(call->pool, batch, run_one, &job);
    return status;
}

heddle_status heddle_fft_cpu_fftw(const heddle_call *call)
{
    const heddle_fft_shape *shape = call->shape;
    kept_plan wanted = {.kind = LINE, .w = shape->n, .inverse = shape->inverse};
    return run(call, wanted, 2 * (size_t)shape->n, 2 * (size_t)shape->n, shape->batch, shape->scale);
}

heddle_status heddle_rfft_cpu_fftw(const heddle_call *call)
{
    const heddle_fft_shape *shape = call->shape;
    kept_plan wanted = {.kind = shape->inverse ? OF_HALF : TO_HALF, .w = shape->n};
    size_t half = 2 * ((size_t)shape->n / 2 + 1), whole = (size_t)shape->n;
    return run(call, wanted, shape->inverse ? half : whole, shape->inverse ? whole : half, shape->batch, shape->scale);
}

heddle_status heddle_fft2d_cpu_fftw(const heddle_call *call)
{
    const heddle_fft2d_shape *shape = call->shape;
    kept_plan wanted = {.kind = IMAGE, .h = shape->h, .w = shape->w, .inverse = shape->inverse};
    size_t floats = 2 * (size_t)shape->h * (size_t)shape->w;
    return run(call, wanted, floats, floats, shape->batch, shape->scale);
}

#endif
