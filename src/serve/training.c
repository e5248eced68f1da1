// The thread that trains, and what the pages are told of it.

#include "serve/training.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/spawn.h"
#include "base/text.h"
#include "data/owned.h"
#include "device/device.h"
#include "device/gpus.h"
#include "nn/optimizer.h"
#include "nn/trainer_folder.h"

enum { NAME_SIZE = 256, MESSAGE_SIZE = 1024, REASON_SIZE = 192, MOST_POINTS = 400, MOST_TESTS = 400 };

static const double between_events = 0.1; // seconds
static const double save_every = 60;

typedef enum run_state { IDLE, STARTING, TRAINING, PAUSED, STOPPING, COMPLETE, STOPPED, FAILED } run_state;
static const char *const state_names[] = {"idle",     "starting", "training", "paused",
                                          "stopping", "complete", "stopped",  "failed"};

typedef struct point {
    double epochs; // done, with parts
    double loss, accuracy, rate;
} point;

struct heddle_serve_training {
    heddle_serve_training_settings settings;
    pthread_t thread;
    bool has_thread; // to be joined
    volatile int stop;
    // Of the run, set before its thread starts.
    char model[NAME_SIZE], data[NAME_SIZE], device[NAME_SIZE];
    heddle_train_options options;
    heddle_run_folder run;
    double last_told;
    double last_images, last_loss, last_correct; // of the epoch, when its latest point was made
    pthread_mutex_t lock;                        // of what follows
    pthread_cond_t changed;
    run_state state;
    heddle_train_event event; // the latest
    double rate, best, images_per_second;
    double began, paused; // when the run began, and how long it has paused
    point points[MOST_POINTS], tests[MOST_TESTS];
    int point_count, test_count;
    double spacing; // epochs between two points
    char error[MESSAGE_SIZE];
    uint64_t runs, images;
};

static bool is_active(run_state state)
{
    return state == STARTING || state == TRAINING || state == PAUSED || state == STOPPING;
}

// --- what is told ----------------------------------------------------------------------------------------------------

static cJSON *point_json(const point *one)
{
    const double values[] = {one->epochs, one->loss, one->accuracy, one->rate};
    return cJSON_CreateDoubleArray(values, sizeof values / sizeof *values);
}

static cJSON *last_json(const point *points, int count)
{
    return count > 0 ? point_json(&points[count - 1]) : cJSON_CreateNull();
}

static cJSON *points_json(const point *points, int count)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < count; i++)
        cJSON_AddItemToArray(list, point_json(&points[i]));
    return list;
}

static void add_gpus(cJSON *json)
{
    heddle_gpu_now gpus[HEDDLE_MOST_GPUS];
    const int count = heddle_gpus_now(gpus);
    cJSON *list = count > 0 ? cJSON_AddArrayToObject(json, "gpus") : NULL;
    for (int i = 0; i < count; i++) {
        cJSON *gpu = cJSON_CreateObject();
        cJSON_AddStringToObject(gpu, "name", gpus[i].name);
        heddle_json_add_number(gpu, "load", gpus[i].load);
        heddle_json_add_number(gpu, "watts", gpus[i].watts);
        heddle_json_add_number(gpu, "memory", gpus[i].memory);
        heddle_json_add_number(gpu, "used", gpus[i].used);
        cJSON_AddItemToArray(list, gpu);
    }
}

// The lock is held.
static cJSON *state_json(const heddle_serve_training *training, bool with_curve)
{
    const heddle_train_event *event = &training->event;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "state", state_names[training->state]);
    if (training->state == IDLE)
        return json;
    cJSON_AddStringToObject(json, "run", training->run.path);
    cJSON_AddStringToObject(json, "model", training->model);
    cJSON_AddStringToObject(json, "data", training->data);
    cJSON_AddNumberToObject(json, "epoch", event->epoch + 1);
    cJSON_AddNumberToObject(json, "epochs", training->options.epochs);
    cJSON_AddNumberToObject(json, "images", (double)event->images);
    cJSON_AddNumberToObject(json, "images_total", (double)event->images_total);
    if (training->point_count > 0) {
        heddle_json_add_number(json, "loss", training->points[training->point_count - 1].loss);
        heddle_json_add_number(json, "accuracy", training->points[training->point_count - 1].accuracy);
    }
    if (training->test_count > 0)
        heddle_json_add_number(json, "test_accuracy", training->tests[training->test_count - 1].accuracy);
    if (!with_curve) { // what is new of it
        cJSON_AddItemToObject(json, "point", last_json(training->points, training->point_count));
        cJSON_AddItemToObject(json, "test", last_json(training->tests, training->test_count));
    }
    heddle_json_add_number(json, "best_accuracy", training->best);
    heddle_json_add_number(json, "rate", training->rate);
    heddle_json_add_number(json, "images_per_second", training->images_per_second);
    heddle_json_add_number(json, "seconds", event->seconds);
    if (training->error[0])
        cJSON_AddStringToObject(json, "error", training->error);
    if (with_curve) {
        cJSON_AddItemToObject(json, "points", points_json(training->points, training->point_count));
        cJSON_AddItemToObject(json, "tests", points_json(training->tests, training->test_count));
    }
    return json;
}

cJSON *heddle_serve_training_json(heddle_serve_training *training, bool with_curve)
{
    pthread_mutex_lock(&training->lock);
    cJSON *json = state_json(training, with_curve);
    const bool idle = training->state == IDLE;
    pthread_mutex_unlock(&training->lock);
    if (!idle)
        add_gpus(json); // without the lock: NVML may take long
    return json;
}

static void tell(heddle_serve_training *training)
{
    training->settings.tell(training->settings.context, "training", heddle_serve_training_json(training, false));
}

static void set_state(heddle_serve_training *training, run_state state, const char *error)
{
    pthread_mutex_lock(&training->lock);
    training->state = state;
    snprintf(training->error, sizeof training->error, "%s", error);
    pthread_mutex_unlock(&training->lock);
    tell(training);
}

// --- the run's events ------------------------------------------------------------------------------------------------

static double epochs_done(const heddle_train_event *event)
{
    return event->epoch + (event->images_total > 0 ? (double)event->images / (double)event->images_total : 0);
}

// A full list loses every second point, and gets new ones half as often. The lock is held.
static void add_point(heddle_serve_training *training, const point *added)
{
    if (training->point_count == MOST_POINTS) {
        for (int i = 0; i < MOST_POINTS / 2; i++)
            training->points[i] = training->points[2 * i + 1];
        training->point_count = MOST_POINTS / 2;
        training->spacing *= 2;
    }
    training->points[training->point_count++] = *added;
}

// The event has means since the epoch began; a point has those since the point before. The lock is held.
static void note_step(heddle_serve_training *training, const heddle_train_event *event)
{
    const double images = (double)event->images, epochs = epochs_done(event);
    const int64_t batches = (event->images_total + training->options.batch - 1) / training->options.batch;
    const int64_t step =
        event->epoch * batches + (event->images + training->options.batch - 1) / training->options.batch;
    training->rate =
        heddle_learning_rate(&training->options, step > 0 ? step - 1 : 0, training->options.epochs * batches);
    if (event->seconds > 0) {
        const double all = (double)event->epoch * (double)event->images_total + images;
        const double seconds = heddle_now() - training->began - training->paused;
        training->images_per_second = seconds > 0 ? all / seconds : NAN;
    }
    if (training->last_images > images)
        training->last_images = training->last_loss = training->last_correct = 0; // an epoch began
    const double last = training->point_count > 0 ? training->points[training->point_count - 1].epochs : 0;
    if (epochs - last < training->spacing && event->images < event->images_total)
        return;
    const double part = images - training->last_images;
    if (!(part > 0))
        return;
    const point added = {.epochs = epochs,
                         .loss = (event->loss * images - training->last_loss) / part,
                         .accuracy = (event->accuracy * images - training->last_correct) / part,
                         .rate = training->rate};
    training->last_images = images;
    training->last_loss = event->loss * images;
    training->last_correct = event->accuracy * images;
    training->images += (uint64_t)part;
    add_point(training, &added);
}

// The lock is held.
static void note_test(heddle_serve_training *training, const heddle_train_event *event)
{
    if (training->test_count == MOST_TESTS) { // keep the newest
        memmove(training->tests, training->tests + 1, (MOST_TESTS - 1) * sizeof *training->tests);
        training->test_count--;
    }
    training->tests[training->test_count++] =
        (point){.epochs = event->epoch + 1, .loss = event->loss, .accuracy = event->accuracy, .rate = training->rate};
    training->best = event->best_accuracy;
}

// Holds the run where it is: the trainer waits for its listener.
static void wait_while_paused(heddle_serve_training *training)
{
    pthread_mutex_lock(&training->lock);
    const double began = heddle_now();
    const bool paused = training->state == PAUSED;
    while (training->state == PAUSED)
        pthread_cond_wait(&training->changed, &training->lock);
    if (paused)
        training->paused += heddle_now() - began;
    pthread_mutex_unlock(&training->lock);
}

static void on_event(void *context, const heddle_train_event *event)
{
    heddle_serve_training *training = context;
    const double now = heddle_now();
    const bool saved = event->kind == HEDDLE_TRAIN_SAVED, stepped = event->kind == HEDDLE_TRAIN_STEP;
    pthread_mutex_lock(&training->lock);
    if (training->state == STARTING) {
        training->state = TRAINING;
        training->began = now;
    }
    if (!saved) {
        training->event = *event;
        training->event.path = NULL;
    }
    if (stepped)
        note_step(training, event);
    if (event->kind == HEDDLE_TRAIN_EVALUATED)
        note_test(training, event);
    pthread_mutex_unlock(&training->lock);
    const char *name = saved && event->path ? strrchr(event->path, '/') : NULL;
    if (name && strcmp(name + 1, HEDDLE_RUN_BEST) == 0)
        heddle_serve_predictor_load(training->settings.predictor, event->path);
    if (!saved && (!stepped || now - training->last_told >= between_events)) {
        training->last_told = now;
        tell(training);
    }
    wait_while_paused(training);
}

// --- the run ---------------------------------------------------------------------------------------------------------

typedef struct opened {
    heddle_device *device;
    heddle_dataset *train, *test;
    heddle_model *model;
} opened;

static heddle_status open_all(const heddle_serve_training *training, opened *run)
{
    const heddle_serve_training_settings *settings = &training->settings;
    const char *name = training->device[0] ? training->device : settings->device;
    char reason[REASON_SIZE];
    HEDDLE_TRY(name ? heddle_device_open(name, settings->threads, &run->device)
                    : heddle_device_open_default(0, settings->threads, &run->device, reason, sizeof reason));
    if (heddle_device_get_kind(run->device) == HEDDLE_CPU && training->options.arithmetic != HEDDLE_FULL)
        return heddle_fail(HEDDLE_INVALID, "the CPU computes in fp32; choose that precision, or another device");
    HEDDLE_TRY(heddle_dataset_open(training->data, settings->folder, HEDDLE_TRAIN, &run->train));
    HEDDLE_TRY(heddle_dataset_trains(run->train));
    HEDDLE_TRY(heddle_dataset_open(training->data, settings->folder, HEDDLE_TEST, &run->test));
    const heddle_input_shape input = {run->train->channels, run->train->height, run->train->width, run->train->classes};
    return heddle_model_open(training->model, &input, &run->model);
}

static void close_all(const opened *run)
{
    heddle_model_close(run->model);
    heddle_dataset_close(run->train);
    heddle_dataset_close(run->test);
    if (run->device)
        heddle_device_close(run->device);
}

static void *train(void *context)
{
    heddle_serve_training *training = context;
    heddle_train_result result;
    opened run = {0};
    heddle_status status = open_all(training, &run);
    if (status == HEDDLE_OK)
        status = heddle_train(run.device, run.model, run.train, run.test, &training->options, &result);
    char why[MESSAGE_SIZE] = "";
    if (status != HEDDLE_OK && status != HEDDLE_INTERRUPTED)
        snprintf(why, sizeof why, "%s", heddle_last_error());
    close_all(&run);
    heddle_run_folder_release(&training->run); // if it is still empty
    set_state(training, status == HEDDLE_OK ? COMPLETE : status == HEDDLE_INTERRUPTED ? STOPPED : FAILED, why);
    return NULL;
}

// --- for the others --------------------------------------------------------------------------------------------------

heddle_status heddle_serve_training_create(const heddle_serve_training_settings *settings,
                                           heddle_serve_training **training)
{
    *training = calloc(1, sizeof **training);
    if (!*training)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to train");
    (*training)->settings = *settings;
    pthread_mutex_init(&(*training)->lock, NULL);
    pthread_cond_init(&(*training)->changed, NULL);
    return HEDDLE_OK;
}

void heddle_serve_training_destroy(heddle_serve_training *training)
{
    if (!training)
        return;
    heddle_serve_training_tell(training, HEDDLE_SERVE_STOP);
    if (training->has_thread)
        pthread_join(training->thread, NULL);
    pthread_cond_destroy(&training->changed);
    pthread_mutex_destroy(&training->lock);
    free(training);
}

// The lock is not needed: no thread runs.
static heddle_status prepare(heddle_serve_training *training, const heddle_serve_training_wish *wish)
{
    char base[HEDDLE_RUN_FOLDER_SIZE];
    if (strlen(wish->data) >= NAME_SIZE || (wish->device && strlen(wish->device) >= NAME_SIZE))
        return heddle_fail(HEDDLE_INVALID, "a name in the request is too long");
    snprintf(training->model, sizeof training->model, "%s", wish->model);
    snprintf(training->data, sizeof training->data, "%s", wish->data);
    snprintf(training->device, sizeof training->device, "%s", wish->device ? wish->device : "");
    snprintf(base, sizeof base, "%s/%.*s-%s", training->settings.runs, (int)strcspn(wish->data, ":"), wish->data,
             wish->model);
    HEDDLE_TRY(heddle_run_folder_take(base, &training->run));
    training->stop = 0;
    training->options = wish->options;
    training->options.folder = training->run.path;
    training->options.save_every = save_every;
    training->options.listener = on_event;
    training->options.listener_context = training;
    training->options.stop = &training->stop;
    training->event = (heddle_train_event){.epochs = wish->options.epochs, .loss = NAN, .accuracy = NAN};
    training->last_told = training->last_images = training->last_loss = training->last_correct = 0;
    training->rate = training->best = training->images_per_second = NAN;
    training->paused = 0;
    training->point_count = training->test_count = 0;
    training->spacing = (double)wish->options.epochs / (MOST_POINTS - 1);
    training->error[0] = '\0';
    return HEDDLE_OK;
}

heddle_status heddle_serve_training_start(heddle_serve_training *training, const heddle_serve_training_wish *wish)
{
    pthread_mutex_lock(&training->lock);
    const bool busy = is_active(training->state);
    pthread_mutex_unlock(&training->lock);
    if (busy)
        return heddle_fail(HEDDLE_UNSUPPORTED, "a run is under way: stop it first");
    if (training->has_thread)
        pthread_join(training->thread, NULL);
    training->has_thread = false;
    pthread_mutex_lock(&training->lock);
    heddle_status status = prepare(training, wish);
    if (status == HEDDLE_OK) {
        training->state = STARTING;
        training->runs++;
    }
    pthread_mutex_unlock(&training->lock);
    HEDDLE_TRY(status);
    status = heddle_thread_start(&training->thread, "training", train, training);
    training->has_thread = status == HEDDLE_OK;
    if (status != HEDDLE_OK)
        set_state(training, FAILED, heddle_last_error());
    else
        tell(training);
    return status;
}

heddle_status heddle_serve_training_tell(heddle_serve_training *training, heddle_serve_training_order order)
{
    static const char *const words[] = {"pause", "resume", "stop"};
    pthread_mutex_lock(&training->lock);
    const run_state from = training->state;
    const bool fits = order == HEDDLE_SERVE_PAUSE    ? from == TRAINING
                      : order == HEDDLE_SERVE_RESUME ? from == PAUSED
                                                     : is_active(from);
    if (fits) {
        training->state = order == HEDDLE_SERVE_PAUSE ? PAUSED : order == HEDDLE_SERVE_RESUME ? TRAINING : STOPPING;
        training->stop |= order == HEDDLE_SERVE_STOP;
        pthread_cond_broadcast(&training->changed);
    }
    pthread_mutex_unlock(&training->lock);
    if (!fits)
        return heddle_fail(HEDDLE_UNSUPPORTED, "there is no run to %s: the state is %s", words[order],
                           state_names[from]);
    tell(training);
    return HEDDLE_OK;
}

heddle_serve_training_counts heddle_serve_training_count(heddle_serve_training *training)
{
    pthread_mutex_lock(&training->lock);
    const bool known = training->point_count > 0;
    const point *last = &training->points[known ? training->point_count - 1 : 0];
    const heddle_serve_training_counts counts = {
        .active = is_active(training->state),
        .epoch = known ? last->epochs : NAN,
        .loss = known ? last->loss : NAN,
        .accuracy = known ? last->accuracy : NAN,
        .images_per_second = known ? training->images_per_second : NAN,
        .runs = training->runs,
        .images = training->images,
    };
    pthread_mutex_unlock(&training->lock);
    return counts;
}
