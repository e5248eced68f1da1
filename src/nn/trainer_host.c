// Training step by step, as on cpu: the loader brings a batch, the plan runs, the host looks at the loss.

#include <string.h>

#include "base/text.h"
#include "nn/optimizer.h"
#include "nn/trainer.h"

heddle_status heddle_trainer_host_set_up(heddle_trainer *trainer)
{
    HEDDLE_TRY(heddle_alloc_pinned(trainer->device, sizeof(heddle_step_exchange), (void **)&trainer->exchange));
    memset(trainer->exchange, 0, sizeof *trainer->exchange);
    heddle_loader_options loading = {.batch = trainer->batch,
                                     .seed = trainer->options->seed,
                                     .shuffle = true,
                                     .augment = trainer->options->augment,
                                     .rank = trainer->ranks.rank,
                                     .ranks = trainer->ranks.ranks};
    HEDDLE_TRY(heddle_loader_create(trainer->train, &loading, &trainer->loader));
    return heddle_loader_seek(trainer->loader, trainer->position.epoch, trainer->position.batch);
}

void heddle_trainer_host_tear_down(heddle_trainer *trainer)
{
    heddle_loader_destroy(trainer->loader);
    if (trainer->exchange)
        heddle_free_pinned(trainer->device, trainer->exchange);
}

static heddle_status run_step(heddle_trainer *trainer, heddle_plan *plan, const heddle_batch *batch)
{
    heddle_step_exchange *exchange = trainer->exchange;
    heddle_stream *stream = trainer->stream;
    const heddle_input_shape *input = &trainer->model->input;
    size_t pixels = (size_t)input->channels * (size_t)input->height * (size_t)input->width;
    heddle_hyper_fill(trainer->options, trainer->position.step, trainer->position.left_out, trainer->steps,
                      exchange->hyper);
    HEDDLE_TRY(heddle_copy(stream, trainer->state->hyper, exchange->hyper, sizeof exchange->hyper));
    if (plan->lowering.dropouts) {
        heddle_trainer_random(trainer, trainer->position.step, batch->first, exchange->random);
        HEDDLE_TRY(heddle_copy(stream, plan->random, exchange->random, sizeof exchange->random));
    }
    trainer->across.absent = batch->count == 0;
    if (batch->count == 0) { // the stand-in: what it gives counts for nothing
        HEDDLE_TRY(heddle_fill(stream, plan->images, 0, pixels * sizeof(float)));
        HEDDLE_TRY(heddle_fill(stream, plan->labels, 0, sizeof(int32_t)));
    }
    heddle_probe *probe = trainer->options->probe;
    const heddle_probed_work work = {.name = "images in",
                                     .phase = HEDDLE_PHASE_LOAD,
                                     .bytes = (double)batch->count * (double)(pixels + 1) * sizeof(float),
                                     .stream = stream};
    if (probe)
        HEDDLE_TRY(probe->begin(probe, &work));
    HEDDLE_TRY(heddle_copy(stream, plan->images, batch->images, (size_t)batch->count * pixels * sizeof(float)));
    HEDDLE_TRY(heddle_copy(stream, plan->labels, batch->labels, (size_t)batch->count * sizeof(int32_t)));
    if (probe)
        HEDDLE_TRY(probe->end(probe, &work));
    HEDDLE_TRY(heddle_plan_run(plan, stream));
    HEDDLE_TRY(heddle_copy(stream, &exchange->loss, plan->loss, sizeof exchange->loss));
    HEDDLE_TRY(heddle_copy(stream, &exchange->correct, plan->correct, sizeof exchange->correct));
    return heddle_stream_synchronize(stream);
}

heddle_status heddle_trainer_host_advance(heddle_trainer *trainer)
{
    heddle_position *position = &trainer->position;
    double begin = heddle_now();
    heddle_batch batch;
    HEDDLE_TRY(heddle_loader_next(trainer->loader, &batch));
    heddle_probe *probe = trainer->options->probe;
    if (probe)
        probe->host(probe, "load", HEDDLE_PHASE_LOAD, begin, heddle_now());
    heddle_plan *plan = batch.whole == trainer->batch ? trainer->full : trainer->rest;
    HEDDLE_TRY(run_step(trainer, plan, &batch));
    double loss_sum = (double)trainer->exchange->loss * batch.count;
    int64_t correct = batch.count ? trainer->exchange->correct : 0;
    HEDDLE_TRY(heddle_trainer_sum_step(trainer, &loss_sum, &correct));
    trainer->seconds += heddle_now() - begin;
    trainer->images += batch.whole;
    HEDDLE_TRY(heddle_trainer_check_loss(trainer, loss_sum / batch.whole, 1));
    position->loss_sum += loss_sum;
    position->correct += correct;
    position->images += batch.whole;
    position->step++;
    position->batch++;
    heddle_trainer_report(trainer, HEDDLE_TRAIN_STEP, NULL);
    return HEDDLE_OK;
}
