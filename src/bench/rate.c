// Measures the trainer and the network from outside, through what everybody else uses, so that nothing is left out of
// the figure.

#include "bench/rate.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/text.h"

static const double LONGEST_WARM_UP = 1; // seconds

// Rounds of about equal length, each with its images and its time. Steps are counted by their images: a GPU tells of
// several at once.
typedef struct rounds {
    const heddle_rate_options *options;
    int64_t warmed; // images before the first round
    double warming; // since when
    int done;
    double began;
    int64_t images, all_images; // of this round, of all
    double rate[HEDDLE_RATE_MAX_ROUNDS];
} rounds;

// Counts steps that ended at `now`; true when the last round is over.
static bool count_steps(rounds *counted, int64_t images, double now)
{
    const heddle_rate_options *options = counted->options;
    if (counted->warmed < (int64_t)options->warm_up * options->batch) {
        counted->warmed = now - counted->warming < LONGEST_WARM_UP ? counted->warmed + images : INT64_MAX;
        counted->began = now;
        return false;
    }
    counted->images += images;
    double spent = now - counted->began;
    if (spent < options->seconds || counted->images < (int64_t)options->steps * options->batch)
        return false;
    counted->rate[counted->done++] = (double)counted->images / spent;
    counted->all_images += counted->images;
    counted->images = 0;
    counted->began = now;
    return counted->done == counted->options->rounds;
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static heddle_rate summarise(rounds *counted)
{
    qsort(counted->rate, (size_t)counted->done, sizeof *counted->rate, ascending);
    double median = counted->rate[counted->done / 2];
    return (heddle_rate){
        .images_per_second = median,
        .least = counted->rate[0],
        .most = counted->rate[counted->done - 1],
        .step_milliseconds = 1000.0 * counted->options->batch / median,
        .images = counted->all_images,
    };
}

static heddle_status check(const heddle_rate_options *options, const heddle_dataset *dataset)
{
    if (options->rounds < 1 || options->rounds > HEDDLE_RATE_MAX_ROUNDS)
        return heddle_fail(HEDDLE_INVALID, "%d rounds; 1 to %d are possible", options->rounds, HEDDLE_RATE_MAX_ROUNDS);
    if (options->batch < 1 || options->batch > dataset->count)
        return heddle_fail(HEDDLE_INVALID, "a batch of %d with %d images to measure on", options->batch,
                           dataset->count);
    return HEDDLE_OK;
}

// --- training -------------------------------------------------------------------------------------------------------

typedef struct train_watch {
    rounds counted;
    int64_t images_before; // of the epoch, at the step before
    double loss;
    volatile int stop;
} train_watch;

static void on_event(void *context, const heddle_train_event *event)
{
    train_watch *watch = context;
    if (event->kind == HEDDLE_TRAIN_STARTED)
        watch->counted.began = watch->counted.warming = heddle_now();
    if (event->kind != HEDDLE_TRAIN_STEP || watch->stop)
        return;
    int64_t images = event->images - watch->images_before;
    watch->images_before = event->images == event->images_total ? 0 : event->images;
    watch->loss = event->loss;
    watch->stop = count_steps(&watch->counted, images, heddle_now()); // all that passed, as a person's watch has it
}

heddle_status heddle_rate_train(heddle_device *device, const heddle_model *model, const heddle_dataset *dataset,
                                const heddle_rate_options *options, heddle_rate *rate)
{
    HEDDLE_TRY(check(options, dataset));
    train_watch watch = {.counted = {.options = options}};
    heddle_train_options train = heddle_train_defaults();
    train.epochs = INT_MAX / 2; // until the last round is over
    train.batch = options->batch;
    train.schedule = HEDDLE_CONSTANT;
    train.learning_rate = 0.05;
    train.kernels = options->kernels;
    train.arithmetic = options->arithmetic;
    train.data = options->data;
    train.deterministic = !options->unordered;
    train.listener = on_event;
    train.listener_context = &watch;
    train.stop = &watch.stop;
    heddle_status status = heddle_train(device, model, dataset, NULL, &train, NULL);
    if (status == HEDDLE_OK)
        return heddle_fail(HEDDLE_INTERNAL, "training ended before the last round was over");
    if (status != HEDDLE_INTERRUPTED)
        return status;
    if (!isfinite(watch.loss))
        return heddle_fail(HEDDLE_DIVERGED, "the loss became %g while measuring", watch.loss);
    *rate = summarise(&watch.counted);
    return HEDDLE_OK;
}

// --- inference ------------------------------------------------------------------------------------------------------

static heddle_status run_rounds(heddle_network *network, heddle_loader *loader, float *probabilities, rounds *counted)
{
    bool over = false;
    counted->began = counted->warming = heddle_now();
    while (!over) {
        heddle_batch batch;
        HEDDLE_TRY(heddle_loader_next(loader, &batch));
        HEDDLE_TRY(heddle_network_predict(network, batch.images, batch.count, probabilities));
        over = count_steps(counted, batch.count, heddle_now());
    }
    return HEDDLE_OK;
}

heddle_status heddle_rate_infer(heddle_device *device, const heddle_model *model, const heddle_dataset *dataset,
                                const heddle_rate_options *options, heddle_rate *rate)
{
    HEDDLE_TRY(check(options, dataset));
    rounds counted = {.options = options};
    heddle_network *network = NULL;
    heddle_loader *loader = NULL;
    heddle_network_options how = {
        .batch = options->batch,
        .kernels = options->kernels,
        .arithmetic = options->arithmetic,
        .deterministic = !options->unordered,
    };
    size_t classes = (size_t)heddle_model_input(model).classes;
    float *probabilities = calloc((size_t)options->batch * classes, sizeof *probabilities);
    heddle_status status =
        probabilities ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %d rows", options->batch);
    if (status == HEDDLE_OK)
        status = heddle_network_create_with(device, model, 1, &how, &network);
    heddle_loader_options loading = {.batch = options->batch, .seed = 1, .shuffle = true, .drop_last = true};
    if (status == HEDDLE_OK)
        status = heddle_loader_create(dataset, &loading, &loader);
    if (status == HEDDLE_OK)
        status = run_rounds(network, loader, probabilities, &counted);
    if (status == HEDDLE_OK)
        *rate = summarise(&counted);
    heddle_loader_destroy(loader);
    heddle_network_close(network);
    free(probabilities);
    return status;
}
