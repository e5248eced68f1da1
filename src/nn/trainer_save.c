// A run on disk: the folder, saving, and going on where a run stopped.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "nn/optimizer.h"
#include "nn/trainer.h"

enum { PATH_SIZE = 4096 };

static heddle_status path_in(const heddle_trainer *trainer, const char *name, char path[PATH_SIZE])
{
    int length = snprintf(path, PATH_SIZE, "%s/%s", trainer->options->folder, name);
    if (length < 0 || length >= PATH_SIZE)
        return heddle_fail(HEDDLE_INVALID, "the folder's name is longer than %d bytes", PATH_SIZE);
    return HEDDLE_OK;
}

uint64_t heddle_trainer_fingerprint(const heddle_dataset *dataset)
{
    // FNV-1a over the labels and a sample of the pixels: quick, and any other set gives another number.
    enum { PIXEL_STEP = 101 };
    uint64_t hash = 0xcbf29ce484222325ULL;
    const uint64_t prime = 0x100000001b3ULL;
    for (int i = 0; i < dataset->count; i++)
        hash = (hash ^ dataset->labels[i]) * prime;
    size_t pixels =
        (size_t)dataset->count * (size_t)dataset->channels * (size_t)dataset->height * (size_t)dataset->width;
    for (size_t i = 0; i < pixels; i += PIXEL_STEP)
        hash = (hash ^ dataset->images[i]) * prime;
    return hash;
}

heddle_status heddle_trainer_prepare_folder(const heddle_trainer *trainer)
{
    char path[PATH_SIZE];
    HEDDLE_TRY(path_in(trainer, "last.safetensors", path));
    if (!trainer->options->resume && !trainer->options->overwrite && heddle_file_exists(path))
        return heddle_fail(HEDDLE_INVALID,
                           "%s already holds a run; resume it, choose another folder, or allow overwriting",
                           trainer->options->folder);
    HEDDLE_TRY(heddle_folder_create(trainer->options->folder));
    heddle_file_sweep(path);
    HEDDLE_TRY(path_in(trainer, "best.safetensors", path));
    heddle_file_sweep(path);
    return HEDDLE_OK;
}

heddle_status heddle_trainer_save(heddle_trainer *trainer, const char *name)
{
    if (!trainer->options->folder)
        return HEDDLE_OK;
    char path[PATH_SIZE];
    HEDDLE_TRY(path_in(trainer, name, path));
    heddle_checkpoint_about about = {
        .options = *trainer->options,
        .position = trainer->position,
        .fingerprint = trainer->fingerprint,
        .class_names = trainer->train->class_names,
        .classes = trainer->train->classes,
    };
    const heddle_dataset *data = trainer->train;
    snprintf(about.dataset, sizeof about.dataset, "%s", data->spec[0] ? data->spec : data->name);
    HEDDLE_TRY(heddle_checkpoint_write(path, trainer->state, trainer->stream, &about));
    heddle_trainer_tell(trainer, HEDDLE_TRAIN_SAVED, path);
    return HEDDLE_OK;
}

// Settings under which the rest of the run would not be the run that was begun.
static heddle_status check_same_run(const heddle_trainer *trainer, const char *path,
                                    const heddle_checkpoint *checkpoint)
{
    const heddle_checkpoint_about *about = heddle_checkpoint_about_of(checkpoint);
    const heddle_train_options *then = &about->options, *now = trainer->options;
    const struct {
        const char *what;
        double then, now;
    } numbers[] = {
        {"batch", then->batch, now->batch},
        {"learning rate", then->learning_rate, now->learning_rate},
        {"momentum", then->momentum, now->momentum},
        {"beta2", then->beta2, now->beta2},
        {"epsilon", then->epsilon, now->epsilon},
        {"weight decay", then->weight_decay, now->weight_decay},
        {"seed", (double)then->seed, (double)now->seed},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].then != numbers[i].now)
            return heddle_fail(HEDDLE_INVALID, "%s was trained with %s %g, not %g; a resumed run keeps its settings",
                               path, numbers[i].what, numbers[i].then, numbers[i].now);
    if (then->optimizer != now->optimizer || then->schedule != now->schedule)
        return heddle_fail(HEDDLE_INVALID, "%s was trained with %s and a %s schedule; a resumed run keeps its settings",
                           path, heddle_optimizer_name(then->optimizer), heddle_schedule_name(then->schedule));
    if (strcmp(heddle_model_json(heddle_checkpoint_model(checkpoint)), trainer->model->json) != 0)
        return heddle_fail(HEDDLE_INVALID, "%s holds another model (%s); a resumed run keeps its model", path,
                           heddle_model_name(heddle_checkpoint_model(checkpoint)));
    if (about->fingerprint != trainer->fingerprint)
        return heddle_fail(HEDDLE_INVALID, "%s was trained on other data (%s); a resumed run keeps its data", path,
                           about->dataset);
    return HEDDLE_OK;
}

heddle_status heddle_trainer_resume(heddle_trainer *trainer)
{
    char path[PATH_SIZE];
    HEDDLE_TRY(path_in(trainer, "last.safetensors", path));
    heddle_checkpoint *checkpoint = NULL;
    HEDDLE_TRY(heddle_checkpoint_open(path, &checkpoint));
    heddle_status status = check_same_run(trainer, path, checkpoint);
    if (status == HEDDLE_OK)
        status = heddle_checkpoint_load(checkpoint, trainer->state, trainer->stream);
    if (status == HEDDLE_OK)
        trainer->position = heddle_checkpoint_about_of(checkpoint)->position;
    if (status == HEDDLE_OK &&
        (trainer->position.epoch < 0 || trainer->position.batch >= heddle_loader_batches(trainer->loader) ||
         trainer->position.images > trainer->train->count))
        status = heddle_fail(HEDDLE_CORRUPT, "%s: its position does not lie in the run", path);
    heddle_checkpoint_close(checkpoint);
    return status;
}

heddle_status heddle_train_options_from(const char *path, heddle_train_options *options, char *dataset, size_t size)
{
    heddle_checkpoint *checkpoint = NULL;
    HEDDLE_TRY(heddle_checkpoint_open(path, &checkpoint));
    const heddle_checkpoint_about *about = heddle_checkpoint_about_of(checkpoint);
    const heddle_train_options defaults = heddle_train_defaults();
    *options = about->options;
    options->save_every = defaults.save_every;
    if (dataset && size)
        snprintf(dataset, size, "%s", about->dataset);
    heddle_checkpoint_close(checkpoint);
    return HEDDLE_OK;
}

heddle_status heddle_model_from(const char *path, heddle_model **model)
{
    heddle_checkpoint *checkpoint = NULL;
    HEDDLE_TRY(heddle_checkpoint_open(path, &checkpoint));
    const heddle_model *own = heddle_checkpoint_model(checkpoint);
    heddle_status status = heddle_model_parse(path, own->json, NULL, model);
    heddle_checkpoint_close(checkpoint);
    return status;
}
