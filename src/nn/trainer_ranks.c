// Training in several processes: each has a shard of every batch, the same numbers in the same order, and after every
// step the same parameters. What is added up inside a step is the plan's business and the rungs'.

#include <math.h>
#include <stdlib.h>

#include "base/threads.h"
#include "device/device.h"
#include "nn/trainer.h"

static heddle_status sum_statistics(void *context, double *values, int count)
{
    return heddle_dist_sum(context, HEDDLE_CHANNEL_STATISTICS, values, count);
}

heddle_status heddle_trainer_ranks_set_up(heddle_trainer *trainer)
{
    heddle_dist *dist = trainer->options->dist;
    trainer->ranks = dist ? *heddle_dist_ranks(dist) : (heddle_ranks){.ranks = 1, .local_ranks = 1};
    if (!dist)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_dist_use(dist, trainer->device));
    heddle_pool *pool = heddle_device_pool(trainer->device);
    trainer->across = (heddle_across){.sum = sum_statistics, .context = dist};
    if (trainer->ranks.ranks > 1 && pool)
        heddle_pool_set_companion(pool, &trainer->across);
    return HEDDLE_OK;
}

void heddle_trainer_ranks_tear_down(heddle_trainer *trainer)
{
    heddle_pool *pool = heddle_device_pool(trainer->device);
    if (!trainer->options->dist)
        return;
    if (pool)
        heddle_pool_set_companion(pool, NULL);
    heddle_dist_release(trainer->options->dist);
}

bool heddle_trainer_is_first(const heddle_trainer *trainer)
{
    return trainer->ranks.rank == 0;
}

void heddle_trainer_take_share(const heddle_trainer *trainer, int whole, heddle_plan_options *plan)
{
    int first, own = heddle_shard(whole, trainer->ranks.rank, trainer->ranks.ranks, &first);
    plan->batch = own > 0 ? own : 1;
    plan->share = whole > 0 ? (double)own / whole : 0;
}

heddle_status heddle_trainer_check_shards(const heddle_trainer *trainer, bool streamed, int *batch)
{
    int ranks = trainer->ranks.ranks, rest = trainer->train->count % trainer->batch, first;
    *batch = heddle_shard(trainer->batch, trainer->ranks.rank, ranks, &first);
    if (ranks > 1 && streamed)
        return heddle_fail(HEDDLE_UNSUPPORTED, "several ranks train from images in their GPUs' memory; choose "
                                               "--data-place resident");
    if (trainer->batch < ranks || (rest > 0 && rest < ranks))
        return heddle_fail(HEDDLE_UNSUPPORTED,
                           "a batch of %d images for %d ranks: on a GPU each needs one of every batch; choose another "
                           "--batch, so that none of %d images is smaller",
                           trainer->batch < ranks ? trainer->batch : rest, ranks, trainer->train->count);
    return HEDDLE_OK;
}

heddle_status heddle_trainer_agree_to_stop(heddle_trainer *trainer)
{
    if (trainer->ranks.ranks == 1)
        return HEDDLE_OK;
    const volatile int *stop = trainer->options->stop;
    double asked = stop && *stop;
    HEDDLE_TRY(heddle_dist_sum(trainer->options->dist, HEDDLE_CHANNEL_HOST, &asked, 1));
    trainer->stop_agreed = asked > 0;
    return HEDDLE_OK;
}

heddle_status heddle_trainer_sum_step(heddle_trainer *trainer, double *loss_sum, int64_t *correct)
{
    if (trainer->ranks.ranks == 1)
        return HEDDLE_OK;
    const volatile int *stop = trainer->options->stop;
    double values[] = {*loss_sum, (double)*correct, stop && *stop};
    HEDDLE_TRY(heddle_dist_sum(trainer->options->dist, HEDDLE_CHANNEL_HOST, values, 3));
    *loss_sum = values[0];
    *correct = (int64_t)values[1];
    trainer->stop_agreed = values[2] > 0;
    return HEDDLE_OK;
}

heddle_status heddle_trainer_sum_report(heddle_trainer *trainer, heddle_feed_report *report)
{
    if (!trainer->options->dist)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_dist_check(trainer->options->dist)); // a host function in a graph cannot fail
    if (trainer->ranks.ranks == 1)
        return HEDDLE_OK;
    const volatile int *stop = trainer->options->stop;
    // Losses that are not finite count as steps on each rank that has seen one.
    double bad = report->tally[2] > 0, values[] = {report->tally[0], report->tally[1], bad, stop && *stop};
    HEDDLE_TRY(heddle_dist_sum(trainer->options->dist, HEDDLE_CHANNEL_HOST, values, 4));
    report->tally[0] = values[0];
    report->tally[1] = values[1];
    if (values[2] > 0 && bad == 0) {
        report->tally[2] = 1;
        report->tally[3] = NAN;
    }
    trainer->stop_agreed = values[3] > 0;
    return HEDDLE_OK;
}

static heddle_status align_bank(heddle_trainer *trainer, heddle_bank bank)
{
    size_t floats = trainer->state->floats[bank];
    if (floats == 0)
        return HEDDLE_OK;
    float *values = malloc(floats * sizeof *values);
    if (!values)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %zu parameters", floats);
    heddle_exchange exchange = {
        .kind = HEDDLE_BROADCAST, .dtype = HEDDLE_F32, .send = values, .receive = values, .count = floats};
    heddle_status status = heddle_state_read(trainer->state, trainer->stream, bank, values);
    if (status == HEDDLE_OK)
        status = heddle_dist_exchange(trainer->options->dist, HEDDLE_CHANNEL_HOST, &exchange);
    if (status == HEDDLE_OK && !heddle_trainer_is_first(trainer))
        status = heddle_state_write(trainer->state, trainer->stream, bank, values);
    free(values);
    return status;
}

heddle_status heddle_trainer_align(heddle_trainer *trainer)
{
    static const heddle_bank banks[] = {HEDDLE_BANK_PARAMETERS, HEDDLE_BANK_STATISTICS, HEDDLE_BANK_MOMENT1,
                                        HEDDLE_BANK_MOMENT2};
    for (size_t i = 0; i < sizeof banks / sizeof *banks && trainer->ranks.ranks > 1; i++)
        HEDDLE_TRY(align_bank(trainer, banks[i]));
    return HEDDLE_OK;
}

heddle_status heddle_trainer_evaluate(heddle_trainer *trainer, heddle_evaluation *evaluation)
{
    if (trainer->ranks.ranks == 1)
        return heddle_network_evaluate(trainer->evaluator, trainer->test, evaluation);
    heddle_dataset part = *trainer->test;
    int first;
    part.count = heddle_shard(part.count, trainer->ranks.rank, trainer->ranks.ranks, &first);
    part.images += (size_t)first * (size_t)part.channels * (size_t)part.height * (size_t)part.width;
    part.labels += first;
    if (part.count > 0)
        HEDDLE_TRY(heddle_network_evaluate(trainer->evaluator, &part, evaluation));
    double values[] = {evaluation->loss * evaluation->count, evaluation->correct, evaluation->count};
    HEDDLE_TRY(heddle_dist_sum(trainer->options->dist, HEDDLE_CHANNEL_HOST, values, 3));
    evaluation->loss = values[0] / values[2];
    evaluation->correct = (int)values[1];
    evaluation->count = (int)values[2];
    evaluation->accuracy = values[1] / values[2];
    return HEDDLE_OK;
}
