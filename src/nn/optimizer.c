// The options of a training run: defaults, checks, learning-rate schedules, the numbers the update operators read.

#include "nn/optimizer.h"

#include <math.h>

#include "data/augment.h"

static const double PI = 3.14159265358979323846;

const char *heddle_optimizer_name(heddle_optimizer optimizer)
{
    static const char *const names[] = {"sgd", "momentum", "adamw"};
    return names[optimizer];
}

const char *heddle_schedule_name(heddle_schedule schedule)
{
    static const char *const names[] = {"constant", "linear", "cosine"};
    return names[schedule];
}

double heddle_learning_rate(const heddle_train_options *options, int64_t step, int64_t steps)
{
    double part = steps > 0 ? (double)step / (double)steps : 0;
    switch (options->schedule) {
    case HEDDLE_CONSTANT: break;
    case HEDDLE_LINEAR: return options->learning_rate * (1 - part);
    case HEDDLE_COSINE: return options->learning_rate * 0.5 * (1 + cos(PI * part));
    }
    return options->learning_rate;
}

void heddle_hyper_fill(const heddle_train_options *options, int64_t step, int64_t left_out, int64_t steps,
                       float hyper[HEDDLE_HYPER_COUNT])
{
    double t = (double)(step - left_out) + 1;
    hyper[HEDDLE_HYPER_LEARNING_RATE] = (float)heddle_learning_rate(options, step, steps);
    hyper[HEDDLE_HYPER_WEIGHT_DECAY] = (float)options->weight_decay;
    hyper[HEDDLE_HYPER_MOMENTUM] = (float)options->momentum;
    hyper[HEDDLE_HYPER_BETA2] = (float)options->beta2;
    hyper[HEDDLE_HYPER_EPSILON] = (float)options->epsilon;
    hyper[HEDDLE_HYPER_CORRECTION1] = (float)(1 - pow(options->momentum, t));
    hyper[HEDDLE_HYPER_CORRECTION2] = (float)(1 - pow(options->beta2, t));
}

heddle_train_options heddle_train_defaults(void)
{
    return (heddle_train_options){
        .epochs = 3,
        .batch = 16,
        .optimizer = HEDDLE_SGD,
        .schedule = HEDDLE_LINEAR,
        .learning_rate = 0.05,
        .momentum = 0.9,
        .beta2 = 0.999,
        .epsilon = 1e-8,
        .seed = 1,
        .kernels = HEDDLE_FUSED,
        .deterministic = true,
        .save_every = 60,
    };
}

heddle_status heddle_train_options_check(const heddle_train_options *options)
{
    if ((unsigned)options->optimizer > HEDDLE_ADAMW || (unsigned)options->schedule > HEDDLE_COSINE ||
        (unsigned)options->kernels > HEDDLE_FUSED)
        return heddle_fail(HEDDLE_INVALID, "optimizer %d, schedule %d or kernels %d is out of range",
                           (int)options->optimizer, (int)options->schedule, (int)options->kernels);
    if ((unsigned)options->arithmetic > HEDDLE_BFLOAT || (unsigned)options->data > HEDDLE_DATA_STREAMED)
        return heddle_fail(HEDDLE_INVALID, "arithmetic %d or place of the data %d is out of range",
                           (int)options->arithmetic, (int)options->data);
    if (options->epochs < 0)
        return heddle_fail(HEDDLE_INVALID, "%d epochs; it must be at least 0", options->epochs);
    if (options->batch < 1)
        return heddle_fail(HEDDLE_INVALID, "a batch of %d; it must be at least 1", options->batch);
    if (!(options->learning_rate > 0) || !isfinite(options->learning_rate))
        return heddle_fail(HEDDLE_INVALID, "a learning rate of %g; it must be above 0", options->learning_rate);
    if (!(options->momentum >= 0 && options->momentum < 1))
        return heddle_fail(HEDDLE_INVALID, "momentum %g; it must be at least 0 and below 1", options->momentum);
    if (!(options->beta2 >= 0 && options->beta2 < 1))
        return heddle_fail(HEDDLE_INVALID, "beta2 %g; it must be at least 0 and below 1", options->beta2);
    if (!(options->weight_decay >= 0) || !isfinite(options->weight_decay))
        return heddle_fail(HEDDLE_INVALID, "weight decay %g; it must be at least 0", options->weight_decay);
    if (!(options->epsilon > 0) || !isfinite(options->epsilon))
        return heddle_fail(HEDDLE_INVALID, "epsilon %g; it must be above 0", options->epsilon);
    if (!(options->save_every >= 0))
        return heddle_fail(HEDDLE_INVALID, "saving every %g seconds; it must be at least 0", options->save_every);
    HEDDLE_TRY(heddle_augment_check(&options->augment, 0, 0));
    if (options->resume && !options->folder)
        return heddle_fail(HEDDLE_INVALID, "resuming needs the folder with last.safetensors");
    return HEDDLE_OK;
}
