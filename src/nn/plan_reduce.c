// Gradients of several ranks: the bank is cut into buckets, and as soon as the backward pass has written the last
// gradient of one, its sum over the ranks begins on a stream of its own, while the pass goes on. The update waits for
// all of them.

#include <stdlib.h>

#include "nn/plan.h"

// The last call that writes the gradient of parameter `index`.
static int written_by(const heddle_plan *plan, heddle_value parameter)
{
    heddle_value gradient = plan->trace.values[parameter].gradient;
    int last = 0;
    for (int call = 0; call < plan->update_call; call++)
        for (int i = 0; i < plan->trace.nodes[call].op->operand_count; i++)
            if (plan->trace.nodes[call].operand[i] == gradient &&
                plan->trace.nodes[call].op->operands[i].role != HEDDLE_INPUT)
                last = call;
    return last;
}

// From the end of the bank to its beginning, where those with weight decay stand; so gradients come, by and large.
// Those that one call gives stay together: there is nothing to be won by parting them.
static void cut(heddle_plan *plan, const heddle_state *state, const heddle_value *parameters)
{
    size_t least = plan->options.bucket / sizeof(float), end = state->floats[HEDDLE_BANK_GRADIENTS];
    heddle_bucket *open = NULL;
    const int count = state->model->parameter_count;
    for (int at = 2 * count - 1; at >= 0; at--) {
        const int i = at % count;
        if (!state->model->parameters[i].trained || state->model->parameters[i].decay != (at < count))
            continue;
        int call = written_by(plan, parameters[i]);
        if (!open || (least > 0 && open->floats >= least && call > open->after)) {
            open = &plan->buckets[plan->bucket_count++];
            *open = (heddle_bucket){.after = call};
        }
        open->first = state->offset[i];
        open->floats += end - state->offset[i];
        open->after = call > open->after ? call : open->after;
        end = state->offset[i];
    }
}

heddle_status heddle_plan_cut(heddle_plan *plan, const heddle_state *state, const heddle_value *parameters)
{
    plan->buckets = calloc((size_t)state->model->parameter_count + 1, sizeof *plan->buckets);
    if (!plan->buckets)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the buckets of a plan");
    plan->gradients = state->bank[HEDDLE_BANK_GRADIENTS];
    cut(plan, state, parameters);
    // No sum of statistics is longer than all gradients of its layer, twice: they are float64.
    HEDDLE_TRY(heddle_dist_reserve(plan->options.dist, plan->device,
                                   2 * state->floats[HEDDLE_BANK_GRADIENTS] * sizeof(float) + sizeof(double)));
    // Where the update is next there is nothing to run beside, and the calls' own stream does.
    if (plan->bucket_count == 1 && plan->buckets[0].after + 1 == plan->update_call)
        return HEDDLE_OK;
    heddle_device_info info;
    HEDDLE_TRY(heddle_device_describe(plan->device, &info));
    HEDDLE_TRY(heddle_stream_create(plan->device, info.priority_greatest, &plan->exchanges));
    HEDDLE_TRY(heddle_event_create(plan->device, &plan->ready));
    return heddle_event_create(plan->device, &plan->summed);
}

// What is queued on the calls' stream from now on waits for all sums so far.
static heddle_status wait_for_sums(heddle_plan *plan, heddle_stream *stream)
{
    if (!plan->exchanges)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_event_record(plan->summed, plan->exchanges));
    return heddle_stream_wait(stream, plan->summed);
}

heddle_status heddle_plan_reduce_before(heddle_plan *plan, heddle_stream *stream, int call)
{
    return plan->bucket_count && call == plan->update_call ? wait_for_sums(plan, stream) : HEDDLE_OK;
}

// Behind what is on `stream` by now, and behind all exchanges before it: they follow each other, on all ranks alike.
static heddle_status queue_sum(heddle_plan *plan, heddle_stream *stream, heddle_channel channel, heddle_dtype dtype,
                               void *values, size_t count)
{
    heddle_exchange sum = {
        .kind = HEDDLE_ALL_REDUCE, .dtype = dtype, .send = values, .receive = values, .count = count};
    heddle_stream *lane = plan->exchanges ? plan->exchanges : stream;
    if (plan->exchanges) {
        HEDDLE_TRY(heddle_event_record(plan->ready, stream));
        HEDDLE_TRY(heddle_stream_wait(plan->exchanges, plan->ready));
    }
    // A stand-in's loss counts for nothing, but the batch statistics that it is normalised by lead back to it.
    if (plan->options.share == 0)
        HEDDLE_TRY(heddle_fill(lane, values, 0, count * heddle_dtype_size(dtype)));
    return heddle_dist_queue(plan->options.dist, channel, &sum, lane);
}

// Sums that the next call reads.
static heddle_status queue_statistics(heddle_plan *plan, heddle_stream *stream, int call)
{
    const char *name = heddle_plan_summed_operand(plan->calls[call].op);
    if (!name)
        return HEDDLE_OK;
    heddle_value value = heddle_trace_operand(&plan->trace, call, name);
    const heddle_trace_value *sums = &plan->trace.values[plan->trace.values[value].root];
    HEDDLE_TRY(queue_sum(plan, stream, HEDDLE_CHANNEL_STATISTICS, sums->dtype, sums->memory, sums->elements));
    return wait_for_sums(plan, stream);
}

heddle_status heddle_plan_reduce_behind(heddle_plan *plan, heddle_stream *stream, int call)
{
    if (!plan->bucket_count)
        return HEDDLE_OK;
    HEDDLE_TRY(queue_statistics(plan, stream, call));
    for (int i = 0; i < plan->bucket_count; i++) {
        const heddle_bucket *bucket = &plan->buckets[i];
        if (bucket->after == call)
            HEDDLE_TRY(queue_sum(plan, stream, HEDDLE_CHANNEL_GRADIENTS, HEDDLE_F32, plan->gradients + bucket->first,
                                 bucket->floats));
    }
    return HEDDLE_OK;
}

void heddle_plan_reduce_destroy(heddle_plan *plan)
{
    if (plan->exchanges)
        heddle_stream_destroy(plan->exchanges);
    if (plan->ready)
        heddle_event_destroy(plan->ready);
    if (plan->summed)
        heddle_event_destroy(plan->summed);
    free(plan->buckets);
}
