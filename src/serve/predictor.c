// The thread that owns the network: loads, predicts what is queued in one batch, evaluates when nothing is.

#include "serve/predictor.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/spawn.h"
#include "base/text.h"
#include "device/device.h"
#include "serve/evaluation.h"
#include "serve/network.h"
#include "serve/scan.h"

enum { REASON_SIZE = 192, NUMBER_SIZE = 32, MOST_WAITING = 1024, LONGEST_SCAN = 1 << 16 };

typedef struct job {
    struct job *next;
    heddle_web_later *later;
    heddle_serve_images images;
    bool layers;
} job;

static size_t area_of(const heddle_serve_images *images)
{
    return (size_t)images->channels * (size_t)images->height * (size_t)images->width;
}

static size_t numbers_of(const heddle_serve_images *images)
{
    return (size_t)images->count * area_of(images);
}

struct heddle_serve_predictor {
    heddle_serve_predictor_settings settings;
    heddle_device *device;
    pthread_t thread;
    bool has_thread;
    heddle_serve_network *network; // changed by the thread, under the lock
    pthread_mutex_t lock;          // of what follows
    pthread_cond_t wanted;
    bool stopping;
    char *load; // the checkpoint to read next; NULL: none
    job *first, **last;
    size_t numbers;                      // of the images that wait
    heddle_serve_evaluation *evaluation; // NULL: none was asked for of this network
    heddle_serve_predictor_counts counts;
};

// --- answers ---------------------------------------------------------------------------------------------------------

static void finish_failed(const job *done, int code, const char *why)
{
    heddle_web_answer answer = {0};
    heddle_web_answer_error(&answer, code, "%s", why);
    heddle_web_finish(done->later, &answer);
}

static void free_job(job *done)
{
    free(done->images.pixels);
    free(done);
}

static cJSON *prediction_json(const heddle_serve_network *network, const float *probabilities)
{
    const int classes = heddle_serve_network_classes(network);
    int best = 0;
    cJSON *json = cJSON_CreateObject();
    for (int i = 1; i < classes; i++)
        if (probabilities[i] > probabilities[best])
            best = i;
    cJSON_AddNumberToObject(json, "class", best);
    cJSON_AddStringToObject(json, "name", heddle_serve_network_class(network, best));
    cJSON *all = cJSON_AddArrayToObject(json, "probabilities");
    for (int i = 0; i < classes; i++) {
        char number[NUMBER_SIZE]; // a float needs no more digits, and cJSON would write 17
        snprintf(number, sizeof number, "%.7g", (double)probabilities[i]);
        cJSON_AddItemToArray(all, cJSON_CreateRaw(number));
    }
    return json;
}

static void finish(heddle_serve_network *network, const job *done, const float *probabilities, int together)
{
    heddle_web_answer answer = {0};
    const size_t classes = (size_t)heddle_serve_network_classes(network);
    if (heddle_serve_probabilities_check(probabilities, (size_t)done->images.count * classes) != HEDDLE_OK) {
        finish_failed(done, HEDDLE_WEB_FAILED, heddle_last_error());
        return;
    }
    cJSON *json = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(json, "predictions"), *layers = NULL;
    for (int i = 0; i < done->images.count; i++)
        cJSON_AddItemToArray(list, prediction_json(network, probabilities + (size_t)i * classes));
    cJSON_AddNumberToObject(json, "batch", together);
    heddle_status status =
        done->layers ? heddle_serve_network_layers(network, done->images.pixels, &layers) : HEDDLE_OK;
    if (layers)
        cJSON_AddItemToObject(json, "layers", layers);
    if (status == HEDDLE_OK) {
        heddle_web_answer_json(&answer, HEDDLE_WEB_OK, json);
    } else {
        cJSON_Delete(json);
        heddle_web_answer_failure(&answer, status);
    }
    heddle_web_finish(done->later, &answer);
}

// --- predicting ------------------------------------------------------------------------------------------------------

// What waits, up to a whole batch but one request at least; the lock is held.
static job *take_jobs(heddle_serve_predictor *predictor, int *together)
{
    job *first = predictor->first, **end = &predictor->first;
    *together = 0;
    while (*end && (*together == 0 || *together + (*end)->images.count <= HEDDLE_SERVE_BATCH)) {
        *together += (*end)->images.count;
        predictor->numbers -= numbers_of(&(*end)->images);
        predictor->counts.waiting--;
        end = &(*end)->next;
    }
    predictor->first = *end;
    if (!*end)
        predictor->last = &predictor->first;
    *end = NULL;
    return first;
}

// A network that was loaded meanwhile may take other images.
static bool fits(const heddle_serve_network *network, const heddle_serve_images *images)
{
    const heddle_prepare_options input = heddle_serve_network_input(network);
    return input.channels == images->channels && input.height == images->height && input.width == images->width;
}

static heddle_status predict_jobs(heddle_serve_network *network, const job *jobs, int together, float **results)
{
    *results = malloc((size_t)together * (size_t)heddle_serve_network_classes(network) * sizeof **results);
    if (!*results)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a batch of images");
    if (!jobs->next)
        return heddle_serve_network_predict(network, jobs->images.pixels, together, *results);
    float *images = malloc((size_t)together * area_of(&jobs->images) * sizeof *images), *to = images;
    if (!images)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a batch of images");
    for (const job *one = jobs; one; one = one->next) {
        memcpy(to, one->images.pixels, numbers_of(&one->images) * sizeof *to);
        to += numbers_of(&one->images);
    }
    heddle_status status = heddle_serve_network_predict(network, images, together, *results);
    free(images);
    return status;
}

// Answers those that the network cannot take, and leaves the others.
static job *drop_unfit(heddle_serve_network *network, job *jobs, int *together)
{
    job *kept = NULL, **end = &kept;
    for (job *one = jobs, *next; one; one = next) {
        next = one->next;
        one->next = NULL;
        if (network && fits(network, &one->images)) {
            *end = one;
            end = &one->next;
            continue;
        }
        *together -= one->images.count;
        finish_failed(one, HEDDLE_WEB_CONFLICT, "another network was loaded meanwhile, which takes other images");
        free_job(one);
    }
    return kept;
}

static void run_jobs(heddle_serve_predictor *predictor, job *jobs, int together)
{
    heddle_serve_network *network = predictor->network;
    float *results = NULL;
    const double began = heddle_now();
    jobs = drop_unfit(network, jobs, &together);
    if (!jobs)
        return;
    heddle_status status = predict_jobs(network, jobs, together, &results);
    pthread_mutex_lock(&predictor->lock);
    predictor->counts.batches++;
    predictor->counts.images += (uint64_t)together;
    predictor->counts.seconds += heddle_now() - began;
    pthread_mutex_unlock(&predictor->lock);
    const float *own = results;
    for (job *one = jobs, *next; one; one = next) {
        next = one->next;
        if (status == HEDDLE_OK)
            finish(network, one, own, together);
        else
            finish_failed(one, HEDDLE_WEB_FAILED, heddle_last_error());
        own += (size_t)one->images.count * (size_t)heddle_serve_network_classes(network);
        free_job(one);
    }
    free(results);
}

// --- the thread ------------------------------------------------------------------------------------------------------

static void tell_problem(const heddle_serve_predictor *predictor, const char *event)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "error", heddle_last_error());
    predictor->settings.tell(predictor->settings.context, event, json);
}

// Takes the network over; the lock is held.
static void set_network(heddle_serve_predictor *predictor, heddle_serve_network *network)
{
    heddle_serve_evaluation_free(predictor->evaluation);
    predictor->evaluation = NULL;
    heddle_serve_network_close(predictor->network);
    predictor->network = network;
}

// Called without the lock; takes the name over.
static void load(heddle_serve_predictor *predictor, char *checkpoint)
{
    heddle_serve_network *network = NULL;
    heddle_status status =
        heddle_serve_network_open(predictor->device, checkpoint, predictor->settings.folder, &network);
    free(checkpoint);
    if (status != HEDDLE_OK) {
        tell_problem(predictor, "network");
        return;
    }
    pthread_mutex_lock(&predictor->lock);
    set_network(predictor, network);
    pthread_mutex_unlock(&predictor->lock);
    predictor->settings.tell(predictor->settings.context, "network", heddle_serve_network_about(network));
}

// Called without the lock. Only this thread changes the evaluation's object.
static void evaluate(heddle_serve_predictor *predictor, heddle_serve_evaluation *evaluation)
{
    heddle_status status = heddle_serve_evaluation_step(evaluation, predictor->network, &predictor->lock);
    if (status != HEDDLE_OK)
        tell_problem(predictor, "evaluation");
    else
        predictor->settings.tell(predictor->settings.context, "evaluation",
                                 heddle_serve_evaluation_progress(evaluation));
}

static void *work(void *context)
{
    heddle_serve_predictor *predictor = context;
    pthread_mutex_lock(&predictor->lock);
    while (!predictor->stopping || predictor->first) {
        heddle_serve_evaluation *evaluation = predictor->evaluation;
        if (predictor->load) {
            char *checkpoint = predictor->load;
            predictor->load = NULL;
            pthread_mutex_unlock(&predictor->lock);
            load(predictor, checkpoint);
        } else if (predictor->first) {
            int together;
            job *jobs = take_jobs(predictor, &together);
            pthread_mutex_unlock(&predictor->lock);
            run_jobs(predictor, jobs, together);
        } else if (evaluation && heddle_serve_evaluation_is_under_way(evaluation)) {
            pthread_mutex_unlock(&predictor->lock);
            evaluate(predictor, evaluation);
        } else {
            pthread_cond_wait(&predictor->wanted, &predictor->lock);
            continue;
        }
        pthread_mutex_lock(&predictor->lock);
    }
    pthread_mutex_unlock(&predictor->lock);
    return NULL;
}

// --- for the others --------------------------------------------------------------------------------------------------

static heddle_status open_all(heddle_serve_predictor *predictor, const char *checkpoint)
{
    const heddle_serve_predictor_settings *settings = &predictor->settings;
    char reason[REASON_SIZE];
    HEDDLE_TRY(settings->device
                   ? heddle_device_open(settings->device, settings->threads, &predictor->device)
                   : heddle_device_open_default(0, settings->threads, &predictor->device, reason, sizeof reason));
    if (checkpoint)
        HEDDLE_TRY(heddle_serve_network_open(predictor->device, checkpoint, settings->folder, &predictor->network));
    HEDDLE_TRY(heddle_thread_start(&predictor->thread, "predictor", work, predictor));
    predictor->has_thread = true;
    return HEDDLE_OK;
}

heddle_status heddle_serve_predictor_create(const heddle_serve_predictor_settings *settings, const char *checkpoint,
                                            heddle_serve_predictor **predictor)
{
    heddle_serve_predictor *made = calloc(1, sizeof *made);
    *predictor = NULL;
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to serve a network");
    made->settings = *settings;
    made->last = &made->first;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->wanted, NULL);
    heddle_status status = open_all(made, checkpoint);
    if (status == HEDDLE_OK)
        *predictor = made;
    else
        heddle_serve_predictor_destroy(made);
    return status;
}

void heddle_serve_predictor_destroy(heddle_serve_predictor *predictor)
{
    if (!predictor)
        return;
    pthread_mutex_lock(&predictor->lock);
    predictor->stopping = true;
    pthread_cond_signal(&predictor->wanted);
    pthread_mutex_unlock(&predictor->lock);
    if (predictor->has_thread)
        pthread_join(predictor->thread, NULL);
    heddle_serve_evaluation_free(predictor->evaluation);
    heddle_serve_network_close(predictor->network);
    if (predictor->device)
        heddle_device_close(predictor->device);
    free(predictor->load);
    pthread_cond_destroy(&predictor->wanted);
    pthread_mutex_destroy(&predictor->lock);
    free(predictor);
}

heddle_device_kind heddle_serve_predictor_device(const heddle_serve_predictor *predictor)
{
    return heddle_device_get_kind(predictor->device);
}

void heddle_serve_predictor_load(heddle_serve_predictor *predictor, const char *checkpoint)
{
    pthread_mutex_lock(&predictor->lock);
    free(predictor->load);
    predictor->load = strdup(checkpoint);
    pthread_cond_signal(&predictor->wanted);
    pthread_mutex_unlock(&predictor->lock);
}

cJSON *heddle_serve_predictor_about(heddle_serve_predictor *predictor)
{
    pthread_mutex_lock(&predictor->lock);
    cJSON *json = predictor->network ? heddle_serve_network_about(predictor->network) : cJSON_CreateNull();
    pthread_mutex_unlock(&predictor->lock);
    return json;
}

static heddle_status no_network(void)
{
    return heddle_fail(HEDDLE_UNSUPPORTED, "there is no network yet: train one, or choose a run");
}

// What the network there is takes. False: there is none.
static bool find_input(heddle_serve_predictor *predictor, heddle_prepare_options *input)
{
    pthread_mutex_lock(&predictor->lock);
    const bool known = predictor->network != NULL;
    if (known)
        *input = heddle_serve_network_input(predictor->network);
    pthread_mutex_unlock(&predictor->lock);
    return known;
}

heddle_status heddle_serve_predictor_read(heddle_serve_predictor *predictor, const cJSON *request,
                                          heddle_serve_images *images)
{
    heddle_prepare_options input = {0};
    *images = (heddle_serve_images){0};
    return find_input(predictor, &input) ? heddle_serve_images_read(request, &input, images) : no_network();
}

bool heddle_serve_predictor_scan(heddle_serve_predictor *predictor, const char *text, size_t size,
                                 heddle_serve_images *images)
{
    heddle_prepare_options input = {0};
    if (size > LONGEST_SCAN || !find_input(predictor, &input))
        return false;
    *images =
        (heddle_serve_images){.count = 1, .channels = input.channels, .height = input.height, .width = input.width};
    const size_t count = area_of(images);
    images->pixels = count < size ? malloc(count * sizeof *images->pixels) : NULL;
    if (images->pixels && heddle_serve_scan(text, size, images->pixels, count))
        return true;
    free(images->pixels);
    *images = (heddle_serve_images){0};
    return false;
}

// False: there is no room for it. A request on its own always has room.
static bool enqueue(heddle_serve_predictor *predictor, job *one)
{
    pthread_mutex_lock(&predictor->lock);
    const size_t numbers = numbers_of(&one->images);
    const bool room = !predictor->first || (predictor->counts.waiting < MOST_WAITING &&
                                            predictor->numbers + numbers <= HEDDLE_SERVE_MOST_NUMBERS);
    if (room) {
        predictor->numbers += numbers;
        *predictor->last = one;
        predictor->last = &one->next;
        predictor->counts.waiting++;
        predictor->counts.requests++;
        pthread_cond_signal(&predictor->wanted);
    }
    pthread_mutex_unlock(&predictor->lock);
    return room;
}

void heddle_serve_predictor_predict(heddle_serve_predictor *predictor, heddle_web_later *later,
                                    const heddle_serve_images *images, bool layers)
{
    job *one = calloc(1, sizeof *one);
    if (one)
        *one = (job){.later = later, .images = *images, .layers = layers};
    if (one && enqueue(predictor, one))
        return;
    heddle_web_answer answer = {0};
    heddle_web_answer_error(&answer, HEDDLE_WEB_BUSY, "too many requests wait; try again");
    heddle_web_finish(later, &answer);
    free(images->pixels);
    free(one);
}

heddle_status heddle_serve_predictor_image(heddle_serve_predictor *predictor, int index, cJSON **json)
{
    heddle_status status = HEDDLE_OK;
    *json = NULL;
    pthread_mutex_lock(&predictor->lock);
    const heddle_dataset *test = predictor->network ? heddle_serve_network_test(predictor->network) : NULL;
    if (!test || index < 0 || index >= test->count) {
        status = heddle_fail(HEDDLE_NOT_FOUND, "there is no test image %d", index);
    } else {
        const size_t area = (size_t)test->channels * (size_t)test->height * (size_t)test->width;
        const int shape[] = {test->channels, test->height, test->width};
        char *text = heddle_serve_base64_write(test->images + (size_t)index * area, area);
        *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(*json, "index", index);
        cJSON_AddNumberToObject(*json, "label", test->labels[index]);
        cJSON_AddStringToObject(*json, "name", heddle_serve_network_class(predictor->network, test->labels[index]));
        cJSON_AddItemToObject(*json, "shape", cJSON_CreateIntArray(shape, 3));
        cJSON_AddStringToObject(*json, "pixels", text ? text : "");
        free(text);
    }
    pthread_mutex_unlock(&predictor->lock);
    return status;
}

heddle_status heddle_serve_predictor_evaluate(heddle_serve_predictor *predictor)
{
    heddle_status status = HEDDLE_OK;
    pthread_mutex_lock(&predictor->lock);
    if (predictor->evaluation && heddle_serve_evaluation_has_failed(predictor->evaluation)) {
        heddle_serve_evaluation_free(predictor->evaluation);
        predictor->evaluation = NULL;
    }
    if (!predictor->network)
        status = no_network();
    else if (!heddle_serve_network_test(predictor->network))
        status = heddle_fail(HEDDLE_UNSUPPORTED, "the test images that this network was trained for are not here");
    else if (!predictor->evaluation)
        status = heddle_serve_evaluation_create(predictor->network, &predictor->evaluation);
    pthread_cond_signal(&predictor->wanted);
    pthread_mutex_unlock(&predictor->lock);
    return status;
}

cJSON *heddle_serve_predictor_evaluation(heddle_serve_predictor *predictor)
{
    pthread_mutex_lock(&predictor->lock);
    cJSON *json = predictor->evaluation ? heddle_serve_evaluation_json(predictor->evaluation) : cJSON_CreateNull();
    pthread_mutex_unlock(&predictor->lock);
    return json;
}

heddle_serve_predictor_counts heddle_serve_predictor_count(heddle_serve_predictor *predictor)
{
    pthread_mutex_lock(&predictor->lock);
    const heddle_serve_predictor_counts counts = predictor->counts;
    pthread_mutex_unlock(&predictor->lock);
    return counts;
}
