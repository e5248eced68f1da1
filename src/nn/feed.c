// Makes a feed and moves it from epoch to epoch.

#include "nn/feed.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "data/augment.h"
#include "nn/optimizer.h"
#include "nn/ring.h"
#include "nn/run.h"

static size_t image_bytes(const heddle_dataset *dataset)
{
    return (size_t)dataset->channels * (size_t)dataset->height * (size_t)dataset->width;
}

// Is the order of every epoch another, and held here?
static bool has_orders(const heddle_feed *feed)
{
    return feed->options.training && !feed->options.streamed;
}

// Is an image moved when it is taken? Those of a ring were moved by its loader.
static bool has_moves(const heddle_feed *feed)
{
    return has_orders(feed) && heddle_augments(&feed->options.augment);
}

static heddle_status set_sizes(heddle_feed *feed)
{
    const heddle_dataset *dataset = feed->dataset;
    int batch = feed->options.batch, whole = feed->options.ranks > 1 ? feed->options.whole : batch, first;
    feed->batches = dataset->count / whole + (dataset->count % whole != 0);
    feed->steps = feed->options.training ? feed->batches : 1;
    feed->rows = feed->length = dataset->count;
    if (feed->options.ranks > 1)
        feed->length = dataset->count / whole * batch +
                       heddle_shard(dataset->count % whole, feed->options.rank, feed->options.ranks, &first);
    if (!feed->options.streamed)
        return HEDDLE_OK;
    int64_t rows = (int64_t)HEDDLE_RING_SLOTS * heddle_ring_slot_batches(dataset, batch) * batch;
    if (rows + dataset->count > INT_MAX)
        return heddle_fail(HEDDLE_UNSUPPORTED, "a batch of %d from %d images is too large to be streamed", batch,
                           dataset->count);
    feed->rows = (int)rows;
    feed->length = (int)rows + dataset->count; // an epoch may begin anywhere in the ring
    return HEDDLE_OK;
}

static heddle_status allocate(heddle_feed *feed)
{
    const size_t schedule_bytes = (size_t)feed->steps * HEDDLE_HYPER_COUNT * sizeof(float);
    const size_t order_bytes = (size_t)feed->length * sizeof(int32_t);
    const size_t move_bytes = has_moves(feed) ? (size_t)feed->length * HEDDLE_MOVE_COUNT : 0;
    const heddle_part parts[] = {
        {(void **)&feed->report, sizeof(heddle_feed_report)}, // these first, as each epoch has them in pinned memory
        {(void **)&feed->schedule, schedule_bytes},
        {(void **)&feed->order, order_bytes},
        {(void **)&feed->moves, move_bytes},
        {(void **)&feed->images, (size_t)feed->rows * image_bytes(feed->dataset)},
        {(void **)&feed->labels, (size_t)feed->rows * sizeof(int32_t)},
    };
    enum { EPOCH_PARTS = 4 };
    heddle_part pinned[2 * EPOCH_PARTS];
    for (int i = 0; i < 2; i++) {
        heddle_feed_epoch *epoch = &feed->epochs[i];
        epoch->epoch = -1;
        pinned[i * EPOCH_PARTS] = (heddle_part){(void **)&epoch->begin, sizeof(heddle_feed_report)};
        pinned[i * EPOCH_PARTS + 1] = (heddle_part){(void **)&epoch->schedule, schedule_bytes};
        pinned[i * EPOCH_PARTS + 2] = (heddle_part){(void **)&epoch->order, has_orders(feed) ? order_bytes : 0};
        pinned[i * EPOCH_PARTS + 3] = (heddle_part){(void **)&epoch->moves, move_bytes};
    }
    feed->epoch_bytes = heddle_parts_bytes(pinned, EPOCH_PARTS);
    if (feed->options.ranks > 1 && !(feed->shuffled = calloc((size_t)feed->dataset->count, sizeof *feed->shuffled)))
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for an order of %d images", feed->dataset->count);
    HEDDLE_TRY(heddle_alloc_parts(feed->device, "the images", parts, sizeof parts / sizeof *parts, &feed->memory));
    return feed->options.training ? heddle_alloc_pinned_parts(feed->device, pinned, 2 * EPOCH_PARTS, &feed->pinned)
                                  : HEDDLE_OK;
}

// Labels as the operators take them; none may be out of range, or a kernel would read there.
static heddle_status upload_labels(heddle_feed *feed, heddle_stream *stream)
{
    const heddle_dataset *dataset = feed->dataset;
    int32_t *labels = malloc((size_t)dataset->count * sizeof *labels);
    if (!labels)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %d labels", dataset->count);
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < dataset->count && status == HEDDLE_OK; i++) {
        labels[i] = dataset->labels[i];
        if (labels[i] >= dataset->classes)
            status =
                heddle_fail(HEDDLE_CORRUPT, "dataset %s: label %d of image %d is out of range: the classes are 0 to %d",
                            dataset->name, labels[i], i, dataset->classes - 1);
    }
    if (status == HEDDLE_OK)
        status = heddle_copy(stream, feed->labels, labels, (size_t)dataset->count * sizeof *labels);
    status = heddle_wait_after(stream, status);
    free(labels);
    return status;
}

// An order that stays: that of the dataset, or round and round the ring.
static heddle_status upload_fixed_order(heddle_feed *feed, heddle_stream *stream)
{
    int32_t *order = malloc((size_t)feed->length * sizeof *order);
    if (!order)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for an order of %d images", feed->length);
    for (int i = 0; i < feed->length; i++)
        order[i] = i % feed->rows;
    heddle_status status = heddle_copy(stream, feed->order, order, (size_t)feed->length * sizeof *order);
    status = heddle_wait_after(stream, status);
    free(order);
    return status;
}

heddle_status heddle_feed_upload(heddle_feed *feed, heddle_stream *stream)
{
    HEDDLE_TRY(heddle_copy(stream, feed->images, feed->dataset->images,
                           (size_t)feed->dataset->count * image_bytes(feed->dataset)));
    return upload_labels(feed, stream);
}

static heddle_status fill(heddle_feed *feed, heddle_stream *stream)
{
    // Also what no step reads before it is written: a slot's rest behind a short batch, a schedule nobody follows.
    HEDDLE_TRY(heddle_fill(stream, feed->schedule, 0, (size_t)feed->steps * HEDDLE_HYPER_COUNT * sizeof(float)));
    HEDDLE_TRY(heddle_fill(stream, feed->report, 0, sizeof *feed->report));
    if (!has_orders(feed))
        HEDDLE_TRY(upload_fixed_order(feed, stream));
    else // so that it holds an order whenever a plan is tried out
        HEDDLE_TRY(heddle_fill(stream, feed->order, 0, (size_t)feed->length * sizeof(int32_t)));
    if (feed->moves)
        HEDDLE_TRY(heddle_fill(stream, feed->moves, 0, (size_t)feed->length * HEDDLE_MOVE_COUNT));
    if (feed->options.streamed) {
        HEDDLE_TRY(heddle_fill(stream, feed->images, 0, (size_t)feed->rows * image_bytes(feed->dataset)));
        HEDDLE_TRY(heddle_fill(stream, feed->labels, 0, (size_t)feed->rows * sizeof(int32_t)));
        HEDDLE_TRY(heddle_stream_synchronize(stream));
        const heddle_loader_options loading = {
            .batch = feed->options.batch, .seed = feed->options.seed, .augment = feed->options.augment};
        return heddle_ring_create(feed->device, feed->dataset, &loading, feed->images, feed->labels, &feed->ring);
    }
    return heddle_feed_upload(feed, stream);
}

heddle_status heddle_feed_create(const heddle_dataset *dataset, heddle_stream *stream,
                                 const heddle_feed_options *options, heddle_feed **feed)
{
    heddle_feed *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a feed");
    made->device = heddle_stream_device(stream);
    made->dataset = dataset;
    made->options = *options;
    heddle_status status = set_sizes(made);
    if (status == HEDDLE_OK)
        status = allocate(made);
    if (status == HEDDLE_OK)
        status = fill(made, stream);
    if (status != HEDDLE_OK) {
        heddle_feed_destroy(made);
        return status;
    }
    *feed = made;
    return HEDDLE_OK;
}

void heddle_feed_destroy(heddle_feed *feed)
{
    if (!feed)
        return;
    heddle_ring_destroy(feed->ring);
    heddle_free(feed->device, feed->memory);
    heddle_free_pinned(feed->device, feed->pinned);
    free(feed->shuffled);
    free(feed);
}

// --- epochs ---------------------------------------------------------------------------------------------------------

// The shards of all batches, one behind the other.
static void take_shards(const heddle_feed *feed, uint32_t *order)
{
    const heddle_feed_options *options = &feed->options;
    for (int begin = 0; begin < feed->dataset->count; begin += options->whole) {
        int left = feed->dataset->count - begin, whole = left < options->whole ? left : options->whole, first;
        int own = heddle_shard(whole, options->rank, options->ranks, &first);
        memcpy(order, feed->shuffled + begin + first, (size_t)own * sizeof *order);
        order += own;
    }
}

static void fill_schedule(const heddle_feed *feed, const heddle_train_options *options, heddle_feed_epoch *place,
                          int64_t left_out, int64_t steps)
{
    place->left_out = left_out;
    for (int i = 0; i < feed->steps; i++)
        heddle_hyper_fill(options, (int64_t)place->epoch * feed->batches + i, left_out, steps,
                          place->schedule + (size_t)i * HEDDLE_HYPER_COUNT);
}

void heddle_feed_prepare(heddle_feed *feed, const heddle_train_options *options, int epoch, int64_t left_out,
                         int64_t steps)
{
    heddle_feed_epoch *place = &feed->epochs[epoch % 2];
    if (place->epoch == epoch)
        return;
    place->epoch = epoch;
    if (place->order)
        heddle_epoch_order(feed->options.seed, epoch, feed->shuffled ? feed->shuffled : place->order,
                           feed->dataset->count);
    if (place->order && feed->shuffled)
        take_shards(feed, place->order);
    for (int i = 0; i < feed->length && place->moves; i++)
        heddle_augment_draw(&feed->options.augment, feed->options.seed, epoch, place->order[i],
                            place->moves + (size_t)i * HEDDLE_MOVE_COUNT);
    fill_schedule(feed, options, place, left_out, steps);
}

heddle_status heddle_feed_begin(heddle_feed *feed, heddle_stream *stream, const heddle_train_options *options,
                                const heddle_position *position, int64_t steps, float *hyper)
{
    heddle_feed_epoch *place = &feed->epochs[position->epoch % 2];
    heddle_feed_prepare(feed, options, position->epoch, position->left_out, steps);
    if (place->left_out != position->left_out) // more have been since it was prepared
        fill_schedule(feed, options, place, position->left_out, steps);
    bool first = feed->options.rank == 0; // of ranks whose tallies are added up, one goes on with what there is
    *place->begin = (heddle_feed_report){
        .tally = {first ? position->loss_sum : 0, first ? (double)position->correct : 0},
        .cursor = {(int64_t)position->batch * feed->options.batch, position->batch},
    };
    if (feed->ring)
        HEDDLE_TRY(heddle_ring_seek(feed->ring, position->epoch, position->batch, &place->begin->cursor[0]));
    HEDDLE_TRY(heddle_copy(stream, feed->report, place->begin, feed->epoch_bytes));
    return heddle_copy(stream, hyper, place->schedule + (size_t)position->batch * HEDDLE_HYPER_COUNT,
                       HEDDLE_HYPER_COUNT * sizeof(float));
}

heddle_status heddle_feed_begin_pass(heddle_feed *feed, heddle_stream *stream)
{
    return heddle_fill(stream, feed->report, 0, sizeof *feed->report);
}

heddle_status heddle_feed_report_to(heddle_feed *feed, heddle_stream *stream, heddle_feed_report *report)
{
    return heddle_copy(stream, report, feed->report, sizeof *report);
}
