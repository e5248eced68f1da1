// Writes the curve of a run while it trains: the format is in curve.h. A point is the mean over the images since the
// point before, so that the curve is smooth and its size does not grow with the run. A resumed run leaves out what lies
// behind its checkpoint and goes on from there. TensorBoard is told the same, where wanted.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "base/append.h"
#include "base/file.h"
#include "base/log.h"
#include "data/augment.h"
#include "heddle/heddle.h"
#include "io/tfevents.h"
#include "nn/curve.h"
#include "nn/optimizer.h"
#include "nn/trainer.h"

enum {
    PATH_SIZE = 4096,
    DIGITS = 9, // of a number: more than float32 has
};

// What was known at the latest point, in this epoch.
typedef struct base {
    double loss_sum, seconds;
    int64_t correct, images, step;
} base;

struct heddle_trainer_curve {
    char path[PATH_SIZE];
    heddle_append *file;     // NULL: the run has no folder
    heddle_tfevents *events; // NULL: none are wanted
    int64_t stride;          // steps from one point to the next, about
    double earlier;          // seconds that other processes have trained in this run
    base before;
};

// --- lines ----------------------------------------------------------------------------------------------------------

static void now_as_text(char text[HEDDLE_CURVE_WORD])
{
    time_t now = time(NULL);
    struct tm parts;
    if (!gmtime_r(&now, &parts) || strftime(text, HEDDLE_CURVE_WORD, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        text[0] = '\0';
}

// Few digits read well, and a curve is not more exact.
static void add_number(cJSON *line, const char *name, double value)
{
    char text[64];
    snprintf(text, sizeof text, "%.*g", DIGITS, value);
    if (isfinite(value))
        cJSON_AddNumberToObject(line, name, strtod(text, NULL));
}

static cJSON *new_line(heddle_curve_event event, int64_t step)
{
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "event", heddle_curve_events[event]);
    cJSON_AddNumberToObject(line, "step", (double)step);
    return line;
}

static void add_seed(cJSON *settings, uint64_t seed)
{
    const uint64_t largest_exact = UINT64_C(1) << 53;
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    if (seed <= largest_exact)
        cJSON_AddNumberToObject(settings, "seed", (double)seed);
    else
        cJSON_AddStringToObject(settings, "seed", text);
}

static void add_device(cJSON *settings, const heddle_trainer *trainer)
{
    heddle_device_info info;
    cJSON_AddStringToObject(settings, "device", heddle_device_kind_name(heddle_device_get_kind(trainer->device)));
    if (heddle_device_describe(trainer->device, &info) != HEDDLE_OK)
        return;
    cJSON_AddStringToObject(settings, "device_name", info.name);
    if (info.kind == HEDDLE_CPU)
        cJSON_AddNumberToObject(settings, "threads", info.threads);
    cJSON_AddNumberToObject(settings, "ranks", trainer->ranks.ranks);
}

// The names are those of the options of `heddle train`, where there is one.
static cJSON *settings_of(const heddle_trainer *trainer)
{
    const heddle_train_options *options = trainer->options;
    const heddle_dataset *train = trainer->train;
    char augment[HEDDLE_AUGMENT_TEXT];
    cJSON *settings = cJSON_CreateObject();
    cJSON_AddStringToObject(settings, "model", heddle_model_name(trainer->model));
    cJSON_AddNumberToObject(settings, "parameters", (double)heddle_model_parameters(trainer->model));
    cJSON_AddStringToObject(settings, "data", train->spec[0] ? train->spec : train->name);
    cJSON_AddNumberToObject(settings, "training_images", train->count);
    cJSON_AddNumberToObject(settings, "test_images", trainer->test ? trainer->test->count : 0);
    add_device(settings, trainer);
    cJSON_AddStringToObject(settings, "precision", heddle_curve_precision(options->arithmetic));
    cJSON_AddStringToObject(settings, "kernels", heddle_tier_names[options->kernels]);
    cJSON_AddNumberToObject(settings, "epochs", options->epochs);
    cJSON_AddNumberToObject(settings, "batch", options->batch);
    cJSON_AddStringToObject(settings, "optimizer", heddle_optimizer_name(options->optimizer));
    add_number(settings, "lr", options->learning_rate);
    cJSON_AddStringToObject(settings, "schedule", heddle_schedule_name(options->schedule));
    if (options->optimizer != HEDDLE_SGD)
        add_number(settings, "momentum", options->momentum);
    add_number(settings, "weight_decay", options->weight_decay);
    add_seed(settings, options->seed);
    if (options->init)
        cJSON_AddStringToObject(settings, "init", options->init);
    cJSON_AddStringToObject(settings, "augment", heddle_augment_text(&options->augment, augment));
    cJSON_AddBoolToObject(settings, "deterministic", options->deterministic);
    return settings;
}

static cJSON *started_line(const heddle_trainer *trainer)
{
    char time[HEDDLE_CURVE_WORD];
    now_as_text(time);
    cJSON *line = new_line(HEDDLE_CURVE_STARTED, trainer->position.step);
    cJSON_AddNumberToObject(line, "format", HEDDLE_CURVE_FORMAT);
    cJSON_AddStringToObject(line, "time", time);
    cJSON_AddStringToObject(line, "heddle", heddle_version());
    cJSON_AddItemToObject(line, "settings", settings_of(trainer));
    return line;
}

// --- TensorBoard ----------------------------------------------------------------------------------------------------

static double seconds_since_1970(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void add_point_events(heddle_tfevents *events, double time, const heddle_curve_point *point)
{
    heddle_tfevents_scalar(events, time, point->step, "loss/train", point->loss);
    heddle_tfevents_scalar(events, time, point->step, "accuracy/train", point->accuracy);
    heddle_tfevents_scalar(events, time, point->step, "learning_rate", point->learning_rate);
    if (isfinite(point->images_per_second))
        heddle_tfevents_scalar(events, time, point->step, "images_per_second", point->images_per_second);
}

static void add_test_events(heddle_tfevents *events, double time, const heddle_curve_test *test)
{
    heddle_tfevents_scalar(events, time, test->step, "loss/test", test->loss);
    heddle_tfevents_scalar(events, time, test->step, "accuracy/test", test->accuracy);
}

// The settings as a table.
static void add_settings_event(heddle_trainer_curve *curve, const heddle_trainer *trainer)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    cJSON *settings = settings_of(trainer), *setting;
    if (memory)
        fputs("| setting | value |\n|---|---|\n", memory);
    cJSON_ArrayForEach(setting, settings)
    {
        char *value = memory ? cJSON_PrintUnformatted(setting) : NULL;
        if (value)
            fprintf(memory, "| %s | %s |\n", setting->string, cJSON_IsString(setting) ? setting->valuestring : value);
        cJSON_free(value);
    }
    if (memory && fclose(memory) == 0)
        heddle_tfevents_text(curve->events, seconds_since_1970(), "settings", text);
    free(text);
    cJSON_Delete(settings);
}

// What earlier processes trained is told anew, as if it had ended now.
static void add_earlier_events(heddle_trainer_curve *curve, const char *folder)
{
    heddle_curve earlier;
    if (heddle_curve_read(folder, &earlier) == HEDDLE_OK) {
        const double begin = seconds_since_1970() - curve->earlier;
        for (int i = 0; i < earlier.point_count; i++)
            add_point_events(curve->events, begin + earlier.points[i].seconds, &earlier.points[i]);
        for (int i = 0; i < earlier.test_count; i++)
            add_test_events(curve->events, begin + earlier.tests[i].seconds, &earlier.tests[i]);
    }
    heddle_curve_free(&earlier);
}

// --- the file -------------------------------------------------------------------------------------------------------

// Frees the line.
static void append(heddle_trainer_curve *curve, cJSON *line)
{
    char *text = curve->file ? cJSON_PrintUnformatted(line) : NULL;
    cJSON_Delete(line);
    const size_t length = text ? strlen(text) : 0;
    if (text) {
        text[length] = '\n'; // instead of the zero
        heddle_append_add(curve->file, text, length + 1);
    }
    cJSON_free(text);
}

// Copies the lines of an earlier process up to the checkpoint to `file`, and takes what the next point needs from them.
static void keep_lines(heddle_trainer_curve *curve, const heddle_trainer *trainer, heddle_slice old, FILE *file)
{
    const heddle_position *position = &trainer->position;
    const char *text = old.data, *end = text + old.size;
    int number = 1, bad_lines = 0, first_bad = 0;
    for (const char *next; (next = memchr(text, '\n', (size_t)(end - text))) != NULL; text = next + 1, number++) {
        heddle_curve_line line = heddle_curve_parse(text, (size_t)(next - text));
        const heddle_curve_point *point = &line.point;
        cJSON_Delete(line.settings);
        if (line.event == HEDDLE_CURVE_NONE && bad_lines++ == 0)
            first_bad = number;
        if (line.event == HEDDLE_CURVE_NONE || point->step > position->step || line.event == HEDDLE_CURVE_ENDED)
            continue;
        fwrite(text, 1, (size_t)(next - text) + 1, file);
        if (line.event != HEDDLE_CURVE_STEP)
            continue;
        curve->earlier = point->seconds;
        curve->before.step = point->step;
        if (point->epoch == position->epoch + 1) {
            curve->before.loss_sum += point->loss * (double)point->images;
            curve->before.correct += llround(point->accuracy * (double)point->images);
            curve->before.images += point->images;
        }
    }
    if (bad_lines > 0)
        heddle_log(HEDDLE_LOG_WARN, "%s: line %d is damaged; %d damaged line%s removed, the others are kept",
                   curve->path, first_bad, bad_lines, bad_lines == 1 ? " was" : "s were");
}

// A curve that cannot be read, or is another run's, is begun anew: the run itself is in its checkpoint.
static heddle_status begin_file(heddle_trainer_curve *curve, const heddle_trainer *trainer)
{
    char *text = NULL, *old = NULL, *line;
    size_t size = 0, old_size;
    heddle_file_sweep(curve->path);
    FILE *memory = open_memstream(&text, &size);
    cJSON *started = started_line(trainer);
    line = cJSON_PrintUnformatted(started);
    cJSON_Delete(started);
    if (memory && trainer->options->resume &&
        heddle_file_read(curve->path, HEDDLE_CURVE_LARGEST, &old, &old_size) == HEDDLE_OK)
        keep_lines(curve, trainer, (heddle_slice){old, old_size}, memory);
    free(old);
    if (memory && line)
        fprintf(memory, "%s\n", line);
    cJSON_free(line);
    heddle_status status = memory && fclose(memory) == 0 && line
                               ? heddle_file_write_atomic(curve->path, &(heddle_slice){text, size}, 1)
                               : heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for the curve of a run");
    free(text);
    HEDDLE_TRY(status);
    return heddle_append_open(curve->path, "the curve of the run", &curve->file);
}

// --- the run --------------------------------------------------------------------------------------------------------

heddle_status heddle_trainer_curve_begin(heddle_trainer *trainer)
{
    const heddle_train_options *options = trainer->options;
    const bool nothing_left = options->resume && trainer->position.epoch >= options->epochs;
    if ((!options->folder && !options->tensorboard) || !heddle_trainer_is_first(trainer) || nothing_left)
        return HEDDLE_OK;
    heddle_trainer_curve *curve = trainer->curve = calloc(1, sizeof *curve);
    if (!curve)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for the curve of a run");
    curve->stride = trainer->steps / HEDDLE_CURVE_POINTS + 1;
    if (options->folder) {
        if (snprintf(curve->path, sizeof curve->path, "%s/" HEDDLE_RUN_CURVE, options->folder) >= PATH_SIZE)
            return heddle_fail(HEDDLE_INVALID, "the folder's name is longer than %d bytes", PATH_SIZE);
        HEDDLE_TRY(begin_file(curve, trainer));
    }
    if (!options->tensorboard)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_tfevents_create(options->tensorboard, &curve->events));
    add_settings_event(curve, trainer);
    if (options->folder)
        add_earlier_events(curve, options->folder);
    return HEDDLE_OK;
}

static void note_step(const heddle_trainer *trainer)
{
    heddle_trainer_curve *curve = trainer->curve;
    const heddle_position *position = &trainer->position;
    base *before = &curve->before;
    const bool epoch_over = position->batch == trainer->batches;
    // The time of a late report says nothing of its steps, so the next one makes the point.
    if (!epoch_over && (trainer->late || position->step / curve->stride == before->step / curve->stride))
        return;
    const double images = (double)(position->images - before->images), spent = trainer->seconds - before->seconds;
    const heddle_curve_point point = {
        .step = position->step,
        .epoch = position->epoch + 1,
        .images = position->images - before->images,
        .loss = (position->loss_sum - before->loss_sum) / images,
        .accuracy = (double)(position->correct - before->correct) / images,
        .learning_rate = heddle_learning_rate(trainer->options, position->step - 1, trainer->steps),
        .seconds = curve->earlier + trainer->seconds,
        .images_per_second = spent > 0 ? images / spent : NAN,
    };
    cJSON *line = new_line(HEDDLE_CURVE_STEP, point.step);
    cJSON_AddNumberToObject(line, "epoch", point.epoch);
    cJSON_AddNumberToObject(line, "images", images);
    add_number(line, "loss", point.loss);
    add_number(line, "accuracy", point.accuracy);
    add_number(line, "learning_rate", point.learning_rate);
    add_number(line, "seconds", point.seconds);
    add_number(line, "images_per_second", point.images_per_second);
    append(curve, line);
    if (curve->events)
        add_point_events(curve->events, seconds_since_1970(), &point);
    *before = (base){.seconds = trainer->seconds, .step = position->step};
    if (!epoch_over) {
        before->loss_sum = position->loss_sum;
        before->correct = position->correct;
        before->images = position->images;
    }
}

static void note_test(const heddle_trainer *trainer)
{
    const heddle_position *position = &trainer->position;
    const heddle_curve_test test = {
        .step = position->step,
        .epoch = position->epochs_done,
        .loss = position->test_loss,
        .accuracy = position->test_accuracy,
        .seconds = trainer->curve->earlier + trainer->seconds,
    };
    cJSON *line = new_line(HEDDLE_CURVE_TEST, test.step);
    cJSON_AddNumberToObject(line, "epoch", test.epoch);
    add_number(line, "loss", test.loss);
    add_number(line, "accuracy", test.accuracy);
    add_number(line, "seconds", test.seconds);
    append(trainer->curve, line);
    if (trainer->curve->events)
        add_test_events(trainer->curve->events, seconds_since_1970(), &test);
}

void heddle_trainer_curve_note(const heddle_trainer *trainer, heddle_train_event_kind kind)
{
    if (!trainer->curve)
        return;
    if (kind == HEDDLE_TRAIN_STEP)
        note_step(trainer);
    else if (kind == HEDDLE_TRAIN_EVALUATED)
        note_test(trainer);
}

void heddle_trainer_curve_sync(const heddle_trainer *trainer)
{
    if (trainer->curve && trainer->curve->file)
        heddle_append_sync(trainer->curve->file);
}

static const char *state_of(const heddle_trainer *trainer, heddle_status status)
{
    const volatile int *stop = trainer->options->stop;
    switch (status) {
    case HEDDLE_OK: return "complete";
    case HEDDLE_INTERRUPTED: return stop && *stop < 0 ? "complete" : "stopped";
    case HEDDLE_DIVERGED: return "diverged";
    default: return "failed";
    }
}

void heddle_trainer_curve_end(heddle_trainer *trainer, heddle_status status)
{
    heddle_trainer_curve *curve = trainer->curve;
    if (!curve)
        return;
    char time[HEDDLE_CURVE_WORD];
    now_as_text(time);
    cJSON *line = new_line(HEDDLE_CURVE_ENDED, trainer->position.step);
    cJSON_AddStringToObject(line, "state", state_of(trainer, status));
    cJSON_AddStringToObject(line, "time", time);
    append(curve, line);
    heddle_append_close(curve->file);
    heddle_tfevents_close(curve->events);
    free(curve);
    trainer->curve = NULL;
}
