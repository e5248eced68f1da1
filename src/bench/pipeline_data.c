// The batches in host memory: what goes in, and whether what comes out is right. An element's value follows from its
// batch and its place, so that a batch that took another's place, or came too late, is found.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bench/pipeline_parts.h"
#include "ops/clones.h"

enum { PAGE = 4096 };

// In [0, 2), in steps of 2^-15.
static inline float value_of(int batch, int element)
{
    uint32_t mixed = ((uint32_t)element + 1) * 2654435761u + (uint32_t)batch * 2246822519u;
    mixed ^= mixed >> 15;
    mixed *= 2654435761u;
    return (float)(mixed >> 16) * 0x1p-15f;
}

typedef struct data_work {
    const heddle_pipeline *pipeline;
    const heddle_pipeline_host *host;
    float kept, allowed; // of what an element differs from 1 by, what is left of it; how far it may be off
    int *wrong;          // of each batch, the first wrong element; -1: none
} data_work;

static int elements_of(const heddle_pipeline *pipeline)
{
    return (int)(pipeline->options.bytes / sizeof(float));
}

static float *batch_of(const data_work *work, float *all, int batch)
{
    return all + (size_t)batch * (size_t)elements_of(work->pipeline);
}

// --- memory ---------------------------------------------------------------------------------------------------------

HEDDLE_CLONES static void fill(int batch, int count, float *input)
{
    for (int i = 0; i < count; i++)
        input[i] = value_of(batch, i);
}

static void fill_batch(void *context, int batch, int worker)
{
    (void)worker;
    const data_work *work = context;
    fill(batch, elements_of(work->pipeline), batch_of(work, work->host->input, batch));
}

static heddle_status allocate(heddle_pipeline *pipeline, bool pageable, size_t bytes, float **memory)
{
    char text[32];
    if (!pageable)
        return heddle_alloc_pinned(pipeline->device, bytes, (void **)memory);
    *memory = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
    if (!*memory)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no %s of host memory: fewer or smaller batches",
                           heddle_text_bytes((double)bytes, text, sizeof text));
    return HEDDLE_OK;
}

heddle_status heddle_pipeline_host_make(heddle_pipeline *pipeline, bool pageable)
{
    struct heddle_pipeline_parts *parts = pipeline->parts;
    heddle_pipeline_host *host = pageable ? &parts->pageable : &parts->pinned;
    const size_t bytes = pipeline->options.bytes * (size_t)pipeline->options.batches;
    if (host->output)
        return HEDDLE_OK;
    if (!host->input)
        HEDDLE_TRY(allocate(pipeline, pageable, bytes, &host->input));
    HEDDLE_TRY(allocate(pipeline, pageable, bytes, &host->output));
    data_work work = {.pipeline = pipeline, .host = host};
    heddle_pool_run(parts->pool, pipeline->options.batches, fill_batch, &work);
    heddle_pipeline_poison(pipeline, host);
    return HEDDLE_OK;
}

void heddle_pipeline_host_free(heddle_pipeline *pipeline)
{
    struct heddle_pipeline_parts *parts = pipeline->parts;
    heddle_free_pinned(pipeline->device, parts->pinned.input);
    heddle_free_pinned(pipeline->device, parts->pinned.output);
    free(parts->pageable.input);
    free(parts->pageable.output);
}

// --- checking -------------------------------------------------------------------------------------------------------

static void poison_batch(void *context, int batch, int worker)
{
    (void)worker;
    const data_work *work = context;
    memset(batch_of(work, work->host->output, batch), 0xff, work->pipeline->options.bytes); // NaN
}

void heddle_pipeline_poison(const heddle_pipeline *pipeline, const heddle_pipeline_host *host)
{
    data_work work = {.pipeline = pipeline, .host = host};
    heddle_pool_run(pipeline->parts->pool, pipeline->options.batches, poison_batch, &work);
}

static inline float expected_of(float kept, int batch, int element)
{
    return 1 + kept * (value_of(batch, element) - 1);
}

static inline bool is_wrong(float kept, float allowed, int batch, int element, float output)
{
    return !(fabsf(output - expected_of(kept, batch, element)) <= allowed); // NaN is
}

// No way out of the loop, so that it takes several elements at once.
HEDDLE_CLONES static int count_wrong(float kept, float allowed, int batch, int count, const float *output)
{
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += is_wrong(kept, allowed, batch, i, output[i]);
    return wrong;
}

static void check_batch(void *context, int batch, int worker)
{
    (void)worker;
    data_work *work = context;
    const float *output = batch_of(work, work->host->output, batch);
    int first = -1;
    if (count_wrong(work->kept, work->allowed, batch, elements_of(work->pipeline), output) > 0)
        for (first = 0; !is_wrong(work->kept, work->allowed, batch, first, output[first]);)
            first++;
    work->wrong[batch] = first;
}

heddle_status heddle_pipeline_check(const heddle_pipeline *pipeline, const heddle_pipeline_host *host, int work)
{
    const heddle_polynomial_shape shape = heddle_pipeline_shape(pipeline, work);
    data_work check = {.pipeline = pipeline, .host = host, .kept = (float)pow(shape.factor, shape.rounds)};
    // A round rounds once or twice, values are below 2, and errors do not grow; what is expected is rounded too.
    check.allowed = (float)(work + 2) * 2 * 0x1p-24f * 2;
    check.wrong = calloc((size_t)pipeline->options.batches, sizeof *check.wrong);
    if (!check.wrong)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to check the batches");
    heddle_pool_run(pipeline->parts->pool, pipeline->options.batches, check_batch, &check);
    heddle_status status = HEDDLE_OK;
    for (int b = 0; status == HEDDLE_OK && b < pipeline->options.batches; b++) {
        int i = check.wrong[b];
        if (i >= 0)
            status = heddle_fail(HEDDLE_DEVICE, "batch %d came back wrong: element %d is %g, expected %g", b, i,
                                 (double)batch_of(&check, host->output, b)[i], (double)expected_of(check.kept, b, i));
    }
    free(check.wrong);
    return status;
}
