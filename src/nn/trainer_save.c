// A run on disk: the folder, saving, and going on where a run stopped.

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "data/augment.h"
#include "nn/optimizer.h"
#include "nn/trainer.h"
#include "nn/trainer_folder.h"

enum { PATH_SIZE = 4096, PLACE_SIZE = 64, MESSAGE_SIZE = 1024 };

static const char LAST[] = HEDDLE_RUN_LAST, BEST[] = HEDDLE_RUN_BEST;

static heddle_status path_in(const heddle_trainer *trainer, const char *name, char path[PATH_SIZE])
{
    int length = snprintf(path, PATH_SIZE, "%s/%s", trainer->options->folder, name);
    if (length < 0 || length >= PATH_SIZE)
        return heddle_fail(HEDDLE_INVALID, "the folder's name is longer than %d bytes", PATH_SIZE);
    return HEDDLE_OK;
}

// Where in a run a checkpoint was taken, in words.
static const char *place_of(const heddle_checkpoint *checkpoint, char place[PLACE_SIZE])
{
    const heddle_position *position = &heddle_checkpoint_about_of(checkpoint)->position;
    if (position->batch > 0)
        snprintf(place, PLACE_SIZE, "epoch %d, step %d", position->epoch + 1, position->batch);
    else if (position->epochs_done > 0)
        snprintf(place, PLACE_SIZE, "the end of epoch %d", position->epochs_done);
    else
        snprintf(place, PLACE_SIZE, "the start");
    return place;
}

// FNV-1a, eight bytes at a time: MNIST takes some ten milliseconds. No two sets that differ in one place give the same.
static uint64_t hash_bytes(uint64_t hash, const uint8_t *bytes, size_t count)
{
    const uint64_t prime = 0x100000001b3ULL;
    while (count > 0) {
        uint64_t word = 0;
        size_t part = count < sizeof word ? count : sizeof word;
        memcpy(&word, bytes, part);
        hash = (hash ^ word) * prime;
        bytes += part;
        count -= part;
    }
    return hash;
}

uint64_t heddle_trainer_fingerprint(const heddle_dataset *dataset)
{
    const uint64_t offset = 0xcbf29ce484222325ULL;
    size_t count = (size_t)dataset->count;
    size_t pixels = count * (size_t)dataset->channels * (size_t)dataset->height * (size_t)dataset->width;
    return hash_bytes(hash_bytes(offset, dataset->labels, count), dataset->images, pixels);
}

// What opens the data again.
static const char *name_of(const heddle_dataset *dataset)
{
    return dataset->spec[0] ? dataset->spec : dataset->name;
}

// --- reading checkpoints --------------------------------------------------------------------------------------------

// A last.safetensors that is missing or damaged is not the end where the best one beside it is whole: that is all of a
// checkpoint too. Adds to the thread's message what can be done; other files, and other failures, are left alone.
static heddle_status advise(const char *path, heddle_status status)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if ((status != HEDDLE_CORRUPT && status != HEDDLE_NOT_FOUND) || strcmp(name, LAST) != 0)
        return status;
    char best[PATH_SIZE], message[MESSAGE_SIZE], place[PLACE_SIZE];
    snprintf(message, sizeof message, "%s", heddle_last_error());
    int length = snprintf(best, sizeof best, "%.*s%s", (int)(name - path), path, BEST);
    heddle_checkpoint *checkpoint = NULL;
    if (length < (int)sizeof best && heddle_checkpoint_open(best, &checkpoint) == HEDDLE_OK)
        heddle_fail(status,
                    "%s; %s beside it is whole, as of %s: use that, or copy it to %s and --resume goes on from there",
                    message, BEST, place_of(checkpoint, place), LAST);
    else if (status == HEDDLE_CORRUPT)
        heddle_fail(status, "%s; there is no whole %s beside it either to go on from: begin the run anew", message,
                    BEST);
    else
        heddle_fail(status, "%s", message);
    heddle_checkpoint_close(checkpoint);
    return status;
}

static heddle_status open_checkpoint(const char *path, heddle_checkpoint **checkpoint)
{
    return advise(path, heddle_checkpoint_open(path, checkpoint));
}

// --- the folder -----------------------------------------------------------------------------------------------------

heddle_status heddle_trainer_prepare_folder(heddle_trainer *trainer)
{
    const heddle_train_options *options = trainer->options;
    char last[PATH_SIZE], best[PATH_SIZE];
    HEDDLE_TRY(path_in(trainer, LAST, last));
    HEDDLE_TRY(path_in(trainer, BEST, best));
    if (!options->resume) // nothing is in a folder that is not there
        HEDDLE_TRY(heddle_folder_create(options->folder));
    HEDDLE_TRY(heddle_run_folder_lock(options->folder, &trainer->folder_lock));
    if (!options->resume && !options->overwrite)
        HEDDLE_TRY(heddle_run_folder_is_free(options->folder));
    heddle_file_sweep(last);
    heddle_file_sweep(best);
    return HEDDLE_OK;
}

heddle_status heddle_trainer_begin_files(heddle_trainer *trainer)
{
    if (trainer->options->overwrite && trainer->options->folder && heddle_trainer_is_first(trainer))
        heddle_trainer_set_aside(trainer);
    HEDDLE_TRY(heddle_trainer_save_last(trainer));
    if (!trainer->options->folder || !heddle_trainer_is_first(trainer))
        return HEDDLE_OK;
    trainer->begun = true;
    char best[PATH_SIZE];
    HEDDLE_TRY(path_in(trainer, BEST, best));
    if (unlink(best) != 0 && errno != ENOENT)
        return heddle_fail(HEDDLE_IO, "%s: cannot remove what an earlier run left: %s", best, strerror(errno));
    return HEDDLE_OK;
}

heddle_status heddle_trainer_try_files(heddle_trainer *trainer)
{
    if (!trainer->options->folder || !heddle_trainer_is_first(trainer) ||
        trainer->position.epoch >= trainer->options->epochs)
        return HEDDLE_OK;
    trainer->begun = true;
    char path[PATH_SIZE], *content;
    size_t size;
    HEDDLE_TRY(path_in(trainer, LAST, path));
    HEDDLE_TRY(heddle_file_read(path, SIZE_MAX, &content, &size)); // it has just been opened, so it is not too large
    heddle_status status = heddle_file_write_atomic(path, &(heddle_slice){content, size}, 1);
    free(content);
    if (status != HEDDLE_OK)
        return heddle_fail(
            status,
            "%s; a resumed run saves where it was begun, so nothing was trained: mend that, or copy %s to where "
            "there is room and the right to write, and resume the copy",
            heddle_last_error(), trainer->options->folder);
    return HEDDLE_OK;
}

// --- saving ---------------------------------------------------------------------------------------------------------

// Adds to the thread's message what a write that failed has left to go on from.
static heddle_status report_kept(const heddle_trainer *trainer, heddle_status status)
{
    char last[PATH_SIZE], message[MESSAGE_SIZE], place[PLACE_SIZE];
    snprintf(message, sizeof message, "%s", heddle_last_error());
    heddle_checkpoint *checkpoint = NULL;
    // What is there, and not what was saved last: a write may fail when the file is in its place already.
    if (path_in(trainer, LAST, last) == HEDDLE_OK && heddle_checkpoint_open(last, &checkpoint) == HEDDLE_OK)
        heddle_fail(status, "%s; %s is whole, as of %s: mend that, then resume to go on from there", message, LAST,
                    place_of(checkpoint, place));
    else
        heddle_fail(status, "%s", message);
    heddle_checkpoint_close(checkpoint);
    return status;
}

static heddle_status save(heddle_trainer *trainer, const char *name)
{
    if (!trainer->options->folder || !heddle_trainer_is_first(trainer))
        return HEDDLE_OK;
    char path[PATH_SIZE];
    HEDDLE_TRY(path_in(trainer, name, path));
    heddle_checkpoint_about about = {
        .options = *trainer->options,
        .position = trainer->position,
        .fingerprint = trainer->fingerprint,
        .traits = trainer->traits,
        .class_names = trainer->train->class_names,
        .classes = trainer->train->classes,
    };
    snprintf(about.dataset, sizeof about.dataset, "%s", name_of(trainer->train));
    heddle_trainer_curve_sync(trainer);
    heddle_status status = heddle_checkpoint_write(path, trainer->state, trainer->stream, &about);
    if (status == HEDDLE_DIVERGED)
        return heddle_fail(status, "%s at epoch %d, step %d, which is not saved; try a smaller learning rate%s",
                           heddle_last_error(), trainer->position.epoch + 1, trainer->position.batch,
                           heddle_trainer_kept(trainer));
    if (status != HEDDLE_OK)
        return trainer->begun ? report_kept(trainer, status) : status;
    if (trainer->position.step > 0)
        heddle_trainer_drop_set_aside(trainer);
    heddle_trainer_report(trainer, HEDDLE_TRAIN_SAVED, path);
    return HEDDLE_OK;
}

heddle_status heddle_trainer_save_last(heddle_trainer *trainer)
{
    HEDDLE_TRY(save(trainer, LAST));
    trainer->saved_step = trainer->position.step;
    return HEDDLE_OK;
}

heddle_status heddle_trainer_save_best(heddle_trainer *trainer)
{
    return save(trainer, BEST);
}

// --- going on -------------------------------------------------------------------------------------------------------

static heddle_status check_same_data(const heddle_trainer *trainer, const char *path,
                                     const heddle_checkpoint_about *about)
{
    const char *now = name_of(trainer->train);
    if (about->fingerprint == trainer->fingerprint)
        return HEDDLE_OK;
    if (strcmp(about->dataset, now) == 0)
        return heddle_fail(HEDDLE_INVALID,
                           "the data of %s has changed since %s was trained on it (checksum %016llx, was %016llx); a "
                           "resumed run keeps its data: bring it back as it was, or begin a new run",
                           now, path, (unsigned long long)trainer->fingerprint, (unsigned long long)about->fingerprint);
    return heddle_fail(HEDDLE_INVALID, "%s was trained on other data: on %s, not %s; a resumed run keeps its data",
                       path, about->dataset, now);
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
        {"batch", then->batch, now->batch},          {"learning rate", then->learning_rate, now->learning_rate},
        {"momentum", then->momentum, now->momentum}, {"beta2", then->beta2, now->beta2},
        {"epsilon", then->epsilon, now->epsilon},    {"weight decay", then->weight_decay, now->weight_decay},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].then != numbers[i].now)
            return heddle_fail(HEDDLE_INVALID, "%s was trained with %s %g, not %g; a resumed run keeps its settings",
                               path, numbers[i].what, numbers[i].then, numbers[i].now);
    char was[HEDDLE_AUGMENT_TEXT], is[HEDDLE_AUGMENT_TEXT];
    heddle_augment_text(&then->augment, was);
    if (strcmp(was, heddle_augment_text(&now->augment, is)) != 0)
        return heddle_fail(HEDDLE_INVALID,
                           "%s was trained with augmentation %s, not %s; a resumed run keeps its settings", path, was,
                           is);
    if (then->seed != now->seed) // not among the doubles, which would make neighbours of large seeds equal
        return heddle_fail(HEDDLE_INVALID, "%s was trained with seed %llu, not %llu; a resumed run keeps its settings",
                           path, (unsigned long long)then->seed, (unsigned long long)now->seed);
    if (then->optimizer != now->optimizer || then->schedule != now->schedule)
        return heddle_fail(HEDDLE_INVALID, "%s was trained with %s and a %s schedule; a resumed run keeps its settings",
                           path, heddle_optimizer_name(then->optimizer), heddle_schedule_name(then->schedule));
    if (then->arithmetic != now->arithmetic)
        return heddle_fail(HEDDLE_INVALID,
                           "%s was trained with %s arithmetic, not %s; a resumed run keeps its settings", path,
                           heddle_arithmetic_names[then->arithmetic], heddle_arithmetic_names[now->arithmetic]);
    if (strcmp(heddle_model_json(heddle_checkpoint_model(checkpoint)), trainer->model->json) != 0)
        return heddle_fail(HEDDLE_INVALID, "%s holds another model (%s); a resumed run keeps its model", path,
                           heddle_model_name(heddle_checkpoint_model(checkpoint)));
    return check_same_data(trainer, path, about);
}

heddle_status heddle_trainer_resume(heddle_trainer *trainer)
{
    char path[PATH_SIZE];
    HEDDLE_TRY(path_in(trainer, LAST, path));
    heddle_checkpoint *checkpoint = NULL;
    HEDDLE_TRY(open_checkpoint(path, &checkpoint));
    heddle_status status = check_same_run(trainer, path, checkpoint);
    if (status == HEDDLE_OK)
        status = heddle_checkpoint_load(checkpoint, trainer->state, trainer->stream);
    if (status == HEDDLE_OK)
        trainer->position = heddle_checkpoint_about_of(checkpoint)->position;
    trainer->saved_step = trainer->position.step;
    const heddle_position *position = &trainer->position;
    int64_t batches = trainer->batches;
    if (status == HEDDLE_OK &&
        (position->batch >= batches || position->step != position->epoch * batches + position->batch))
        status = heddle_fail(HEDDLE_CORRUPT, "%s: its position does not lie in the run", path);
    heddle_checkpoint_close(checkpoint);
    return advise(path, status);
}

heddle_status heddle_train_options_from(const char *path, heddle_train_options *options, char *dataset, size_t size)
{
    if (!path || !options)
        return heddle_fail(HEDDLE_INVALID, "heddle_train_options_from needs a checkpoint and a place for its options");
    heddle_checkpoint *checkpoint = NULL;
    HEDDLE_TRY(open_checkpoint(path, &checkpoint));
    const heddle_checkpoint_about *about = heddle_checkpoint_about_of(checkpoint);
    const heddle_train_options defaults = heddle_train_defaults();
    *options = about->options;
    options->save_every = defaults.save_every;
    options->data = defaults.data;
    options->deterministic = defaults.deterministic;
    if (dataset && size)
        snprintf(dataset, size, "%s", about->dataset);
    heddle_checkpoint_close(checkpoint);
    return HEDDLE_OK;
}

heddle_status heddle_model_from(const char *path, heddle_model **model)
{
    if (!path || !model)
        return heddle_fail(HEDDLE_INVALID, "heddle_model_from needs a checkpoint and a place for its model");
    heddle_checkpoint *checkpoint = NULL;
    HEDDLE_TRY(open_checkpoint(path, &checkpoint));
    const heddle_model *own = heddle_checkpoint_model(checkpoint);
    heddle_status status = heddle_model_parse(path, own->json, NULL, model);
    heddle_checkpoint_close(checkpoint);
    return status;
}
