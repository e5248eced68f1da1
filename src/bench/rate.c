// Measures the trainer and the network from outside, through what everybody else uses, so that nothing is left out of
// the figure.

#include "bench/rate.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "nn/network.h"

static heddle_status check(const heddle_rate_options *options, const heddle_dataset *dataset)
{
    if (options->rounds < HEDDLE_RATE_MIN_ROUNDS || options->rounds > HEDDLE_RATE_MAX_ROUNDS)
        return heddle_fail(HEDDLE_INVALID, "%d rounds; %d to %d are possible", options->rounds, HEDDLE_RATE_MIN_ROUNDS,
                           HEDDLE_RATE_MAX_ROUNDS);
    if (options->batch < 1 || options->batch > dataset->count)
        return heddle_fail(HEDDLE_INVALID, "a batch of %d, but the dataset has %d images", options->batch,
                           dataset->count);
    return HEDDLE_OK;
}

// --- training -------------------------------------------------------------------------------------------------------

typedef struct train_watch {
    heddle_rate_watch rate;
    int64_t images_before; // of the epoch, at the report before
    double loss_before;    // sum over them
    volatile int stop;
    heddle_arithmetic arithmetic;
} train_watch;

// What has passed since the event before: an event tells of the epoch so far.
static heddle_rate_report since_last(train_watch *watch, const heddle_train_event *event)
{
    double loss_sum = event->loss * (double)event->images;
    int64_t images = event->images - watch->images_before;
    double loss = (loss_sum - watch->loss_before) / (double)images;
    bool epoch_over = event->images == event->images_total;
    watch->images_before = epoch_over ? 0 : event->images;
    watch->loss_before = epoch_over ? 0 : loss_sum;
    return (heddle_rate_report){.now = heddle_now(), .images = images, .loss = loss, .late = event->late};
}

static void on_event(void *context, const heddle_train_event *event)
{
    train_watch *watch = context;
    watch->arithmetic = event->arithmetic;
    if (event->kind == HEDDLE_TRAIN_STARTED)
        heddle_rate_watch_start(&watch->rate, watch->rate.options, heddle_now());
    if (event->kind != HEDDLE_TRAIN_STEP || watch->stop)
        return;
    heddle_rate_report report = since_last(watch, event); // all that passed, as a person's watch has it
    watch->stop = heddle_rate_watch_take(&watch->rate, &report);
}

// A time is a figure only of a network that learns.
static heddle_status check_learnt(const heddle_rate_watch *watch)
{
    const heddle_rate_options *options = watch->options;
    double loss = heddle_rate_watch_loss(watch);
    int64_t steps = watch->all / options->batch;
    if (!isfinite(loss))
        return heddle_fail(HEDDLE_DIVERGED, "the loss became %g while measuring", loss);
    if (options->loss_below > 0 && steps >= options->loss_steps && !(loss < options->loss_below))
        return heddle_fail(HEDDLE_DIVERGED,
                           "the loss is %.3g after %lld steps, not below %g: the network has not learnt", loss,
                           (long long)steps, options->loss_below);
    return HEDDLE_OK;
}

heddle_status heddle_rate_train(heddle_device *device, const heddle_model *model, const heddle_dataset *dataset,
                                const heddle_rate_options *options, heddle_rate *rate)
{
    HEDDLE_TRY(check(options, dataset));
    train_watch watch = {.rate = {.options = options}};
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
    HEDDLE_TRY(check_learnt(&watch.rate));
    heddle_rate_watch_sum_up(&watch.rate, rate);
    rate->arithmetic = watch.arithmetic;
    return HEDDLE_OK;
}

// --- inference ------------------------------------------------------------------------------------------------------

// On a GPU: batches of bytes in pinned memory, several per call, so that the copies of one run under the work of
// another; probabilities come back there. A single image is predicted alone: its time is a latency.
enum { BATCHES_PER_CALL = 16 };

typedef struct infer_run {
    heddle_device *device;
    heddle_network *network;
    heddle_loader *loader; // on cpu
    const heddle_rate_options *options;
    int images;          // per call
    void *bytes;         // of as many images
    void *probabilities; // of as many
} infer_run;

static heddle_status predict(const infer_run *run, int *count)
{
    *count = run->images;
    if (!run->loader)
        return heddle_network_predict_bytes(run->network, run->bytes, run->images, run->probabilities);
    heddle_batch batch;
    HEDDLE_TRY(heddle_loader_next(run->loader, &batch));
    *count = batch.count;
    return heddle_network_predict(run->network, batch.images, batch.count, run->probabilities);
}

static heddle_status run_rounds(const infer_run *run, heddle_rate *rate)
{
    heddle_rate_watch watch;
    bool over = false;
    heddle_rate_watch_start(&watch, run->options, heddle_now());
    while (!over) {
        int count;
        HEDDLE_TRY(predict(run, &count));
        heddle_rate_report report = {.now = heddle_now(), .images = count, .loss = NAN};
        over = heddle_rate_watch_take(&watch, &report);
    }
    heddle_rate_watch_sum_up(&watch, rate);
    rate->arithmetic = heddle_network_arithmetic(run->network);
    return HEDDLE_OK;
}

static heddle_status open_images(infer_run *run, const heddle_dataset *dataset)
{
    const heddle_loader_options loading = {.batch = run->options->batch, .seed = 1, .shuffle = true, .drop_last = true};
    const size_t pixels = (size_t)dataset->channels * (size_t)dataset->height * (size_t)dataset->width;
    const size_t classes = (size_t)heddle_model_input(heddle_network_model(run->network)).classes;
    const bool on_cpu = heddle_device_get_kind(run->device) == HEDDLE_CPU;
    const int whole = dataset->count / run->options->batch, most = whole < BATCHES_PER_CALL ? whole : BATCHES_PER_CALL;
    run->images = run->options->batch * (on_cpu || run->options->batch == 1 ? 1 : most);
    HEDDLE_TRY(heddle_alloc_pinned(run->device, (size_t)run->images * classes * sizeof(float), &run->probabilities));
    if (on_cpu)
        return heddle_loader_create(dataset, &loading, &run->loader);
    HEDDLE_TRY(heddle_alloc_pinned(run->device, (size_t)run->images * pixels, &run->bytes));
    memcpy(run->bytes, dataset->images, (size_t)run->images * pixels);
    return HEDDLE_OK;
}

heddle_status heddle_rate_infer(heddle_device *device, const heddle_model *model, const heddle_dataset *dataset,
                                const heddle_rate_options *options, heddle_rate *rate)
{
    HEDDLE_TRY(check(options, dataset));
    const heddle_network_options how = {
        .batch = options->batch,
        .kernels = options->kernels,
        .arithmetic = options->arithmetic,
        .deterministic = !options->unordered,
    };
    infer_run run = {.device = device, .options = options};
    heddle_status status = heddle_network_create_with(device, model, 1, &how, &run.network);
    if (status == HEDDLE_OK && options->arithmetic == HEDDLE_INT8)
        status = heddle_network_calibrate(run.network, dataset, HEDDLE_CALIBRATION_IMAGES, NULL);
    if (status == HEDDLE_OK)
        status = open_images(&run, dataset);
    if (status == HEDDLE_OK)
        status = run_rounds(&run, rate);
    heddle_loader_destroy(run.loader);
    heddle_network_close(run.network);
    heddle_free_pinned(device, run.bytes);
    heddle_free_pinned(device, run.probabilities);
    return status;
}
