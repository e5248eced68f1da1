// Makes a feed and moves it from epoch to epoch.

#include "nn/feed.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

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

static heddle_status set_sizes(heddle_feed *feed)
{
    const heddle_dataset *dataset = feed->dataset;
    int batch = feed->options.batch;
    feed->batches = dataset->count / batch + (dataset->count % batch != 0);
    feed->steps = feed->options.training ? feed->batches : 1;
    feed->rows = feed->length = dataset->count;
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
    const heddle_part parts[] = {
        {(void **)&feed->images, (size_t)feed->rows * image_bytes(feed->dataset)},
        {(void **)&feed->labels, (size_t)feed->rows * sizeof(int32_t)},
        {(void **)&feed->order, (size_t)feed->length * sizeof(int32_t)},
        {(void **)&feed->schedule, (size_t)feed->steps * HEDDLE_HYPER_COUNT * sizeof(float)},
        {(void **)&feed->report, sizeof(heddle_feed_report)},
    };
    const size_t order_bytes = has_orders(feed) ? (size_t)feed->dataset->count * sizeof(uint32_t) : 0;
    const heddle_part pinned_parts[] = {
        {(void **)&feed->begin, sizeof(heddle_feed_report)},
        {(void **)&feed->rates, (size_t)feed->steps * HEDDLE_HYPER_COUNT * sizeof(float)},
        {(void **)&feed->orders[0], order_bytes},
        {(void **)&feed->orders[1], order_bytes},
    };
    HEDDLE_TRY(heddle_alloc_parts(feed->device, "the images", parts, 5, &feed->memory));
    return heddle_alloc_pinned_parts(feed->device, pinned_parts, 4, &feed->pinned);
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
    if (feed->options.streamed) {
        HEDDLE_TRY(heddle_fill(stream, feed->images, 0, (size_t)feed->rows * image_bytes(feed->dataset)));
        HEDDLE_TRY(heddle_fill(stream, feed->labels, 0, (size_t)feed->rows * sizeof(int32_t)));
        HEDDLE_TRY(heddle_stream_synchronize(stream));
        return heddle_ring_create(feed->device, feed->dataset, feed->options.batch, feed->options.seed, feed->images,
                                  feed->labels, &feed->ring);
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
    made->order_epoch[0] = made->order_epoch[1] = -1;
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
    free(feed);
}

// --- epochs ---------------------------------------------------------------------------------------------------------

void heddle_feed_prepare(heddle_feed *feed, int epoch)
{
    int place = epoch % 2;
    if (!has_orders(feed) || feed->order_epoch[place] == epoch)
        return;
    heddle_epoch_order(feed->options.seed, epoch, feed->orders[place], feed->dataset->count);
    feed->order_epoch[place] = epoch;
}

heddle_status heddle_feed_begin(heddle_feed *feed, heddle_stream *stream, const heddle_train_options *options,
                                const heddle_position *position, int64_t steps, float *hyper)
{
    size_t row = HEDDLE_HYPER_COUNT * sizeof(float);
    for (int i = 0; i < feed->steps; i++)
        heddle_hyper_fill(options, position->step - position->batch + i, steps, feed->rates + i * HEDDLE_HYPER_COUNT);
    *feed->begin = (heddle_feed_report){
        .tally = {position->loss_sum, (double)position->correct},
        .cursor = {(int64_t)position->batch * feed->options.batch, position->batch},
    };
    if (feed->ring)
        HEDDLE_TRY(heddle_ring_seek(feed->ring, position->epoch, position->batch, &feed->begin->cursor[0]));
    heddle_feed_prepare(feed, position->epoch);
    if (has_orders(feed)) // samples are counted by int, so that unsigned and signed are the same
        HEDDLE_TRY(heddle_copy(stream, feed->order, feed->orders[position->epoch % 2],
                               (size_t)feed->length * sizeof *feed->order));
    HEDDLE_TRY(heddle_copy(stream, feed->schedule, feed->rates, (size_t)feed->steps * row));
    HEDDLE_TRY(heddle_copy(stream, hyper, feed->rates + (size_t)position->batch * HEDDLE_HYPER_COUNT, row));
    return heddle_copy(stream, feed->report, feed->begin, sizeof *feed->begin);
}

heddle_status heddle_feed_begin_pass(heddle_feed *feed, heddle_stream *stream)
{
    return heddle_fill(stream, feed->report, 0, sizeof *feed->report);
}

heddle_status heddle_feed_report_to(heddle_feed *feed, heddle_stream *stream, heddle_feed_report *report)
{
    return heddle_copy(stream, report, feed->report, sizeof *report);
}
