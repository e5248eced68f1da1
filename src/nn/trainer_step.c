// What the files that take steps, and those that save them, share: reports, random numbers, whether the loss is still
// one to go on with, whether to stop or save. Calls none of them but the curve, which is told what is reported.

#include <math.h>

#include "base/text.h"
#include "nn/optimizer.h"
#include "nn/trainer.h"

enum { SEQUENCE_DROPOUT = 0x10000 }; // Philox sequence of dropout layer i is this + i

// A run whose smoothed loss is this many times that of guessing has diverged, NaN or not. Early steps may jump about.
static const double DIVERGED_FACTOR = 20.0;
static const double SMOOTHING = 0.95;

void heddle_trainer_report(const heddle_trainer *trainer, heddle_train_event_kind kind, const char *path)
{
    heddle_trainer_curve_note(trainer, kind);
    if (!trainer->options->listener)
        return;
    const heddle_position *position = &trainer->position;
    bool evaluated = kind == HEDDLE_TRAIN_EVALUATED;
    // Between two epochs what is told and saved belongs to the one that is over.
    bool between = position->epochs_done > 0 && position->batch == 0 && kind != HEDDLE_TRAIN_STARTED;
    double seen = position->images ? (double)position->images : NAN;
    heddle_train_event event = {
        .kind = kind,
        .epoch = between ? position->epochs_done - 1 : position->epoch,
        .epochs = trainer->options->epochs,
        .images = position->images,
        .images_total = trainer->train->count,
        .loss = evaluated ? position->test_loss : position->loss_sum / seen,
        .accuracy = evaluated ? position->test_accuracy : (double)position->correct / seen,
        .best_accuracy = position->best_accuracy,
        .best = evaluated && trainer->best_now,
        .seconds = trainer->seconds,
        .path = path,
        .late = kind == HEDDLE_TRAIN_STEP && trainer->late,
        .arithmetic = trainer->full ? heddle_plan_arithmetic(trainer->full) : trainer->options->arithmetic,
    };
    trainer->options->listener(trainer->options->listener_context, &event);
}

const char *heddle_trainer_kept(const heddle_trainer *trainer)
{
    if (!trainer->options->folder)
        return "";
    if (trainer->set_aside)
        return "; the run that it was to replace is still there";
    return trainer->saved_step > 0 ? "; the last checkpoint is from before"
                                   : "; the last checkpoint is from before the first step";
}

void heddle_trainer_random(const heddle_trainer *trainer, int64_t step, int first, int64_t *words)
{
    const heddle_lowering *lowering = &trainer->full->lowering;
    for (int i = 0; i < lowering->dropouts; i++, words += HEDDLE_RANDOM_WORDS) {
        int64_t elements = lowering->dropout_elements[i] / trainer->full->options.batch; // of a sample
        words[0] = (int64_t)trainer->options->seed;
        words[1] = SEQUENCE_DROPOUT + i;
        words[2] = (step * trainer->batch + first) * elements;
    }
}

heddle_status heddle_trainer_check_loss(heddle_trainer *trainer, double loss, int steps)
{
    double guessing = log(trainer->model->input.classes), keep = pow(SMOOTHING, steps);
    const heddle_position *position = &trainer->position;
    trainer->smooth_loss = isnan(trainer->smooth_loss) ? guessing : keep * trainer->smooth_loss + (1 - keep) * loss;
    if (isfinite(loss) && trainer->smooth_loss < DIVERGED_FACTOR * guessing)
        return HEDDLE_OK;
    heddle_fail(HEDDLE_DIVERGED,
                "training diverged: the loss is %g at epoch %d, step %d (learning rate %g); try a smaller "
                "learning rate%s",
                loss, position->epoch + 1, position->batch + 1,
                heddle_learning_rate(trainer->options, position->step, trainer->steps), heddle_trainer_kept(trainer));
    // All ranks have the same loss: they end together, and none takes another for lost.
    return heddle_dist_agree(trainer->options->dist, HEDDLE_DIVERGED);
}

bool heddle_trainer_asked_to_stop(const heddle_trainer *trainer)
{
    if (trainer->ranks.ranks > 1) // alone, one rank must not
        return trainer->stop_agreed;
    return trainer->options->stop && *trainer->options->stop;
}

bool heddle_trainer_save_is_due(const heddle_trainer *trainer)
{
    double every = trainer->options->save_every;
    return trainer->options->folder && heddle_trainer_is_first(trainer) && every > 0 &&
           heddle_now() - trainer->last_save >= every;
}
