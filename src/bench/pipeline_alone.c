// The limit of a pipeline: what each stage takes for all batches when nothing else runs, back to back on one stream;
// and how much arithmetic it takes for compute to last as long as the copies.

#include <math.h>

#include "bench/pipeline_parts.h"
#include "bench/statistics.h"

typedef struct stage_meter {
    heddle_pipeline *pipeline;
    heddle_stream *first, *second;
    heddle_event *start, *first_end, *second_end;
} stage_meter;

static heddle_status open_meter(stage_meter *meter)
{
    heddle_device *device = meter->pipeline->device;
    HEDDLE_TRY(heddle_stream_create(device, 0, &meter->first));
    HEDDLE_TRY(heddle_stream_create(device, 0, &meter->second));
    HEDDLE_TRY(heddle_event_create(device, &meter->start));
    HEDDLE_TRY(heddle_event_create(device, &meter->first_end));
    return heddle_event_create(device, &meter->second_end);
}

static void close_meter(stage_meter *meter)
{
    heddle_stream_destroy(meter->first);
    heddle_stream_destroy(meter->second);
    heddle_event_destroy(meter->start);
    heddle_event_destroy(meter->first_end);
    heddle_event_destroy(meter->second_end);
}

static heddle_status queue_all(const stage_meter *meter, heddle_stream *stream, heddle_pipeline_stage stage, int work)
{
    for (int b = 0; b < meter->pipeline->options.batches; b++)
        HEDDLE_TRY(heddle_pipeline_queue(meter->pipeline, stage, stream, &meter->pipeline->parts->pinned, b, 0, work));
    return HEDDLE_OK;
}

// All batches through one stage; and, where `beside` is one too, through that on the second stream meanwhile.
static heddle_status time_once(const stage_meter *meter, heddle_pipeline_stage stage, heddle_pipeline_stage beside,
                               int work, double *milliseconds)
{
    double first = 0, second = 0;
    HEDDLE_TRY(heddle_event_record(meter->start, meter->first));
    HEDDLE_TRY(heddle_stream_wait(meter->second, meter->start));
    HEDDLE_TRY(queue_all(meter, meter->first, stage, work));
    HEDDLE_TRY(heddle_event_record(meter->first_end, meter->first));
    if (beside != HEDDLE_PIPELINE_STAGES)
        HEDDLE_TRY(queue_all(meter, meter->second, beside, work));
    HEDDLE_TRY(heddle_event_record(meter->second_end, meter->second));
    HEDDLE_TRY(heddle_stream_synchronize(meter->first));
    HEDDLE_TRY(heddle_stream_synchronize(meter->second));
    HEDDLE_TRY(heddle_event_elapsed(meter->start, meter->first_end, &first));
    HEDDLE_TRY(heddle_event_elapsed(meter->start, meter->second_end, &second));
    *milliseconds = fmax(first, second);
    return HEDDLE_OK;
}

static heddle_status time_stage(const stage_meter *meter, heddle_pipeline_stage stage, heddle_pipeline_stage beside,
                                int work, double *milliseconds)
{
    double times[HEDDLE_PIPELINE_MOST_ROUNDS];
    const int rounds = meter->pipeline->options.rounds;
    HEDDLE_TRY(time_once(meter, stage, beside, work, milliseconds)); // warms up
    for (int i = 0; i < rounds; i++)
        HEDDLE_TRY(time_once(meter, stage, beside, work, &times[i]));
    *milliseconds = heddle_bench_median(times, rounds);
    return HEDDLE_OK;
}

static heddle_status measure_stages(const stage_meter *meter, int work, heddle_pipeline_alone *alone)
{
    alone->work = work;
    alone->serial = alone->limit = 0;
    for (int stage = 0; stage < HEDDLE_PIPELINE_STAGES; stage++) {
        double *time = &alone->milliseconds[stage];
        HEDDLE_TRY(time_stage(meter, (heddle_pipeline_stage)stage, HEDDLE_PIPELINE_STAGES, work, time));
        alone->serial += *time;
        if (*time > alone->limit) {
            alone->limit = *time;
            alone->slowest = (heddle_pipeline_stage)stage;
        }
    }
    return time_stage(meter, HEDDLE_PIPELINE_COPY_IN, HEDDLE_PIPELINE_COPY_OUT, work, &alone->both_ways);
}

heddle_status heddle_pipeline_measure_alone(heddle_pipeline *pipeline, int work, heddle_pipeline_alone *alone)
{
    stage_meter meter = {.pipeline = pipeline};
    for (int i = 0; i < pipeline->count; i++) // the same stages need no second measurement
        if (pipeline->runs[i].alone.work == work) {
            *alone = pipeline->runs[i].alone;
            return HEDDLE_OK;
        }
    *alone = (heddle_pipeline_alone){.work = work};
    if (!pipeline->timed)
        return HEDDLE_OK;
    heddle_status status = open_meter(&meter);
    if (status == HEDDLE_OK)
        status = measure_stages(&meter, work, alone);
    close_meter(&meter);
    return status;
}

// --- balance --------------------------------------------------------------------------------------------------------

// Compute gets so much more than the copies take: it stays the slowest stage when they vary a little.
static const double more_than_copies = 1.1;
enum { FEW_ROUNDS = 16, MANY_ROUNDS = 256, UNTIMED_ROUNDS = 3 };

// What compute has beside it: on a GPU the copies both ways at once, by two engines; on cpu one after the other, for
// the threads that copy share what cores compute leaves, and that may be one.
static heddle_status time_copies(const stage_meter *meter, double *milliseconds)
{
    double in = 0, out = 0;
    if (meter->pipeline->info.kind != HEDDLE_CPU)
        return time_stage(meter, HEDDLE_PIPELINE_COPY_IN, HEDDLE_PIPELINE_COPY_OUT, 1, milliseconds);
    HEDDLE_TRY(time_stage(meter, HEDDLE_PIPELINE_COPY_IN, HEDDLE_PIPELINE_STAGES, 1, &in));
    HEDDLE_TRY(time_stage(meter, HEDDLE_PIPELINE_COPY_OUT, HEDDLE_PIPELINE_STAGES, 1, &out));
    *milliseconds = in + out;
    return HEDDLE_OK;
}

static heddle_status find_work(const stage_meter *meter, int *work)
{
    double copies = 0, few = 0, many = 0;
    HEDDLE_TRY(time_copies(meter, &copies));
    HEDDLE_TRY(time_stage(meter, HEDDLE_PIPELINE_COMPUTE, HEDDLE_PIPELINE_STAGES, FEW_ROUNDS, &few));
    HEDDLE_TRY(time_stage(meter, HEDDLE_PIPELINE_COMPUTE, HEDDLE_PIPELINE_STAGES, MANY_ROUNDS, &many));
    double a_round = (many - few) / (MANY_ROUNDS - FEW_ROUNDS);
    double wanted = a_round > 0 ? FEW_ROUNDS + (more_than_copies * copies - few) / a_round : FEW_ROUNDS;
    *work = (int)fmin(fmax(ceil(wanted), 1), HEDDLE_PIPELINE_MOST_WORK);
    return HEDDLE_OK;
}

heddle_status heddle_pipeline_balance(heddle_pipeline *pipeline, int *work)
{
    stage_meter meter = {.pipeline = pipeline};
    *work = UNTIMED_ROUNDS;
    if (!pipeline->timed)
        return HEDDLE_OK;
    heddle_status status = open_meter(&meter);
    if (status == HEDDLE_OK)
        status = find_work(&meter, work);
    close_meter(&meter);
    return status;
}
