// The training loop: set up, take steps, evaluate after each epoch, save. How steps are taken is trainer_host.c's and
// trainer_device.c's business, what both need trainer_step.c's, what is on disk trainer_save.c's, what a step computes
// the plan's.

#include "nn/trainer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/place.h"
#include "base/text.h"
#include "data/augment.h"
#include "data/prepare.h"
#include "nn/init.h"
#include "nn/optimizer.h"
#include "nn/ring.h"
#include "nn/rows.h"

enum {
    EVALUATION_BATCH = 256,
    EVALUATION_BATCH_GPU = 1024,
    MESSAGE_SIZE = 1024,
    REASON_SIZE = 128,
};

const char *const heddle_data_place_names[] = {"auto", "resident", "streamed", NULL};

// --- setting up -----------------------------------------------------------------------------------------------------

static heddle_status check_data(const heddle_model *model, const heddle_dataset *dataset)
{
    const heddle_input_shape *input = &model->input;
    if (dataset->channels != input->channels || dataset->height != input->height || dataset->width != input->width ||
        dataset->classes > input->classes)
        return heddle_fail(HEDDLE_INVALID,
                           "model %s takes %d×%d×%d images of %d classes, dataset %s has %d×%d×%d of %d", model->name,
                           input->channels, input->height, input->width, input->classes, dataset->name,
                           dataset->channels, dataset->height, dataset->width, dataset->classes);
    if (dataset->count < 1)
        return heddle_fail(HEDDLE_INVALID, "dataset %s is empty", dataset->name);
    return HEDDLE_OK;
}

static heddle_status make_plans(heddle_trainer *trainer)
{
    const heddle_train_options *options = trainer->options;
    int whole = trainer->train->count / trainer->batch, rest = trainer->train->count % trainer->batch;
    // As many steps a graph as there are together: in an epoch, or in a slot of the ring.
    int together = !trainer->feed        ? 0
                   : trainer->feed->ring ? heddle_ring_slot_batches(trainer->train, trainer->batch)
                                         : heddle_plan_steps_for(whole, whole);
    heddle_plan_options plan = {
        .training = true,
        .kernels = options->kernels,
        .arithmetic = options->arithmetic,
        .deterministic = options->deterministic,
        .optimizer = options->optimizer,
        .feed = trainer->feed,
        .several = together < whole ? together : whole,
        .dist = options->dist,
        .bucket = options->bucket,
        .probe = options->probe,
    };
    heddle_trainer_take_share(trainer, trainer->batch, &plan);
    heddle_status status = heddle_plan_create(trainer->state, trainer->stream, &plan, &trainer->full);
    if (status == HEDDLE_INVALID && plan.batch == 1)
        return heddle_fail(status, "%s; choose a larger --batch", heddle_last_error());
    HEDDLE_TRY(status);
    heddle_trainer_take_share(trainer, rest, &plan);
    plan.several = 0;
    status = rest ? heddle_plan_create(trainer->state, trainer->stream, &plan, &trainer->rest) : HEDDLE_OK;
    if (status == HEDDLE_INVALID && rest == 1)
        return heddle_fail(status,
                           "%s; the last batch of an epoch has 1 image, the rest of %d in batches of %d: choose "
                           "another --batch",
                           heddle_last_error(), trainer->train->count, trainer->batch);
    return status;
}

static void drop_plans(heddle_trainer *trainer)
{
    heddle_plan_destroy(trainer->full);
    heddle_plan_destroy(trainer->rest);
    heddle_feed_destroy(trainer->feed);
    trainer->full = trainer->rest = NULL;
    trainer->feed = NULL;
}

static heddle_status make_feed_and_plans(heddle_trainer *trainer, bool streamed)
{
    heddle_feed_options feed = {.training = true,
                                .streamed = streamed,
                                .seed = trainer->options->seed,
                                .augment = trainer->options->augment,
                                .rank = trainer->ranks.rank,
                                .ranks = trainer->ranks.ranks,
                                .whole = trainer->batch};
    HEDDLE_TRY(heddle_trainer_check_shards(trainer, streamed, &feed.batch));
    HEDDLE_TRY(heddle_feed_create(trainer->train, trainer->stream, &feed, &trainer->feed));
    return make_plans(trainer);
}

// The images stay on the device where they fit beside all else, which trying tells.
static heddle_status place_data(heddle_trainer *trainer)
{
    heddle_data_place place = trainer->options->data;
    if (heddle_device_get_kind(trainer->device) == HEDDLE_CPU)
        return make_plans(trainer);
    heddle_status status = make_feed_and_plans(trainer, place == HEDDLE_DATA_STREAMED);
    if (status == HEDDLE_OUT_OF_MEMORY && place == HEDDLE_DATA_AUTO) {
        drop_plans(trainer);
        status = make_feed_and_plans(trainer, true);
    }
    if (status == HEDDLE_OUT_OF_MEMORY && place == HEDDLE_DATA_RESIDENT)
        return heddle_fail(status, "%s, or have the images streamed", heddle_last_error());
    return status;
}

// Asked for 16 bits, a model that does not run over rows is slower than it could be.
static void warn_of_misfit(const heddle_trainer *trainer)
{
    const struct heddle_rows *rows = trainer->full->rows;
    char page[HEDDLE_PLACE_SIZE], why[REASON_SIZE];
    if (rows && rows->misfit)
        heddle_log(
            HEDDLE_LOG_WARN,
            "model %s trains with float32 activations, which is slower: no 16-bit kernels for layer %s %s; see %s",
            trainer->model->name, rows->misfit->name, heddle_rows_misfit_reason(rows->misfit, why, sizeof why),
            heddle_page("models.md", page));
}

static heddle_status make_evaluator(heddle_trainer *trainer)
{
    const heddle_train_options *options = trainer->options;
    bool cpu = heddle_device_get_kind(trainer->device) == HEDDLE_CPU;
    heddle_network_options network = {
        .batch = cpu ? EVALUATION_BATCH : EVALUATION_BATCH_GPU,
        .kernels = options->kernels,
        .arithmetic = options->arithmetic,
        .deterministic = options->deterministic,
    };
    return trainer->test ? heddle_network_over(trainer->state, trainer->stream, &network, &trainer->evaluator)
                         : HEDDLE_OK;
}

static heddle_status set_up(heddle_trainer *trainer)
{
    const heddle_train_options *options = trainer->options;
    HEDDLE_TRY(heddle_train_options_check(options));
    HEDDLE_TRY(check_data(trainer->model, trainer->train));
    HEDDLE_TRY(heddle_augment_check(&options->augment, trainer->train->height, trainer->train->width));
    if (trainer->test)
        HEDDLE_TRY(check_data(trainer->model, trainer->test));
    HEDDLE_TRY(heddle_trainer_ranks_set_up(trainer));
    if (options->folder && heddle_trainer_is_first(trainer))
        HEDDLE_TRY(heddle_trainer_prepare_folder(trainer));
    trainer->batch = options->batch < trainer->train->count ? options->batch : trainer->train->count;
    trainer->batches = trainer->train->count / trainer->batch + (trainer->train->count % trainer->batch != 0);
    trainer->steps = (int64_t)options->epochs * trainer->batches;
    HEDDLE_TRY(heddle_stream_create(trainer->device, 0, &trainer->stream));
    HEDDLE_TRY(heddle_state_create(trainer->device, trainer->model, true, options->optimizer, &trainer->state));
    HEDDLE_TRY(heddle_state_start(trainer->state, trainer->stream, options->seed));
    if (options->init && !options->resume)
        HEDDLE_TRY(heddle_state_start_from(trainer->state, trainer->stream, options->init));
    HEDDLE_TRY(place_data(trainer));
    warn_of_misfit(trainer);
    HEDDLE_TRY(make_evaluator(trainer));
    trainer->position = heddle_position_start();
    trainer->fingerprint = heddle_trainer_fingerprint(trainer->train);
    trainer->traits = heddle_measure_traits(trainer->train);
    trainer->smooth_loss = NAN;
    if (options->resume) {
        HEDDLE_TRY(heddle_trainer_resume(trainer));
        HEDDLE_TRY(heddle_trainer_try_files(trainer));
    }
    heddle_trainer_report(trainer, HEDDLE_TRAIN_STARTED, NULL);
    if (!options->resume) // an unwritable folder shows now, not after an hour
        HEDDLE_TRY(heddle_trainer_begin_files(trainer));
    HEDDLE_TRY(heddle_trainer_curve_begin(trainer));
    trainer->last_save = heddle_now();
    return trainer->feed ? heddle_trainer_device_set_up(trainer) : heddle_trainer_host_set_up(trainer);
}

static void tear_down(heddle_trainer *trainer)
{
    // A step that failed half-way may have left copies queued that read what is freed here.
    if (trainer->stream)
        (void)heddle_stream_synchronize(trainer->stream);
    heddle_trainer_host_tear_down(trainer);
    heddle_trainer_device_tear_down(trainer);
    heddle_network_close(trainer->evaluator);
    drop_plans(trainer);
    heddle_trainer_ranks_tear_down(trainer);
    heddle_state_destroy(trainer->state);
    if (trainer->stream)
        heddle_stream_destroy(trainer->stream);
    if (trainer->folder_lock >= 0)
        close(trainer->folder_lock);
}

// --- epochs ---------------------------------------------------------------------------------------------------------

static heddle_status finish_epoch(heddle_trainer *trainer)
{
    heddle_position *position = &trainer->position;
    HEDDLE_TRY(heddle_trainer_align(trainer));
    position->train_loss = position->loss_sum / (double)position->images;
    position->train_accuracy = (double)position->correct / (double)position->images;
    position->epoch++;
    position->epochs_done++;
    position->batch = 0;
    position->loss_sum = 0;
    position->correct = position->images = 0;
    bool best = false;
    if (trainer->test) {
        heddle_evaluation evaluation = {0};
        heddle_status status = heddle_trainer_evaluate(trainer, &evaluation);
        if (status != HEDDLE_OK)
            return heddle_fail_within(status, "evaluating after epoch %d%s", position->epoch,
                                      trainer->options->folder ? ", the last checkpoint is whole" : "");
        if (!isfinite(evaluation.loss))
            return heddle_fail(
                HEDDLE_DIVERGED,
                "training diverged: the loss on the test set is %g after epoch %d, which is not saved; try a "
                "smaller learning rate%s",
                evaluation.loss, position->epoch, heddle_trainer_kept(trainer));
        position->test_loss = evaluation.loss;
        position->test_accuracy = evaluation.accuracy;
        // Also when there is none yet; among equals the one that is surer of its answers.
        best = !(evaluation.accuracy <= position->best_accuracy) ||
               (evaluation.accuracy == position->best_accuracy && evaluation.loss < position->best_loss);
        position->best_accuracy = best ? evaluation.accuracy : position->best_accuracy;
        position->best_loss = best ? evaluation.loss : position->best_loss;
        trainer->best_now = best;
        heddle_trainer_report(trainer, HEDDLE_TRAIN_EVALUATED, NULL);
    }
    // The best first: a crash between the two repeats the epoch and writes the same file again.
    if (best)
        HEDDLE_TRY(heddle_trainer_save_best(trainer));
    trainer->last_save = heddle_now();
    return heddle_trainer_save_last(trainer);
}

// Saves in the middle of an epoch when it is time.
static heddle_status save_if_due(heddle_trainer *trainer)
{
    if (!heddle_trainer_save_is_due(trainer))
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_trainer_save_last(trainer));
    trainer->last_save = heddle_now();
    return HEDDLE_OK;
}

static heddle_status advance(heddle_trainer *trainer)
{
    return trainer->feed ? heddle_trainer_device_advance(trainer) : heddle_trainer_host_advance(trainer);
}

static heddle_status run(heddle_trainer *trainer)
{
    heddle_probe *probe = trainer->options->probe;
    while (trainer->position.epoch < trainer->options->epochs) {
        HEDDLE_TRY(advance(trainer));
        const double paused = probe ? heddle_now() : 0;
        if (trainer->position.batch == trainer->batches) {
            HEDDLE_TRY(finish_epoch(trainer));
            HEDDLE_TRY(heddle_trainer_agree_to_stop(trainer));
        } else if (!heddle_trainer_asked_to_stop(trainer)) {
            HEDDLE_TRY(save_if_due(trainer));
        }
        if (probe)
            probe->host(probe, "evaluate and save", HEDDLE_PHASE_PAUSE, paused, heddle_now());
        if (heddle_trainer_asked_to_stop(trainer) && trainer->position.epoch < trainer->options->epochs) {
            if (trainer->position.batch > 0)
                HEDDLE_TRY(heddle_trainer_save_last(trainer));
            return heddle_fail(HEDDLE_INTERRUPTED, "stopped on request at epoch %d, step %d%s",
                               trainer->position.epoch + 1, trainer->position.batch,
                               trainer->options->folder ? "; saved, resume to go on" : "");
        }
    }
    return HEDDLE_OK;
}

heddle_status heddle_train(heddle_device *device, const heddle_model *model, const heddle_dataset *train,
                           const heddle_dataset *test, const heddle_train_options *options, heddle_train_result *result)
{
    if (!device || !model || !train || !options)
        return heddle_fail(HEDDLE_INVALID, "heddle_train needs a device, a model, training data and options");
    heddle_trainer trainer = {
        .device = device, .model = model, .train = train, .test = test, .options = options, .folder_lock = -1};
    heddle_status status = heddle_dist_agree(options->dist, set_up(&trainer));
    if (status == HEDDLE_OK)
        status = heddle_trainer_align(&trainer);
    if (status == HEDDLE_OK) {
        status = run(&trainer);
        // What a device refuses by now, such as the handles of a context that is gone, is no caller's mistake.
        if (status == HEDDLE_INVALID && trainer.feed)
            status = HEDDLE_DEVICE;
    }
    if (result) {
        const heddle_position *position = &trainer.position;
        *result = (heddle_train_result){
            .epochs = position->epochs_done,
            .train_loss = position->train_loss,
            .train_accuracy = position->train_accuracy,
            .test_loss = position->test_loss,
            .test_accuracy = position->test_accuracy,
            .best_accuracy = position->best_accuracy,
            .seconds = trainer.seconds,
            .images_per_second = trainer.seconds > 0 ? (double)trainer.images / trainer.seconds : 0,
        };
    }
    char message[MESSAGE_SIZE];
    snprintf(message, sizeof message, "%s", heddle_last_error());
    heddle_trainer_curve_end(&trainer, status);
    if (status == HEDDLE_DIVERGED || (status != HEDDLE_OK && !trainer.begun))
        heddle_trainer_bring_back(&trainer);
    else if (status == HEDDLE_OK && options->folder && heddle_trainer_is_first(&trainer)) // of no epochs at all
        heddle_trainer_drop_set_aside(&trainer);
    tear_down(&trainer); // after a failure of the device this fails too, which is no news
    return status == HEDDLE_OK ? HEDDLE_OK : heddle_fail(status, "%s", message);
}
