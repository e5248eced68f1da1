// A feed: the images and labels of a dataset where the steps on a GPU take them from, in the order of an epoch, and
// what goes with that from step to step without the host: place in the order, learning rate, tally. The images are
// either all on the device, or pass through a ring of slots there (ring.h).
#ifndef HEDDLE_NN_FEED_H
#define HEDDLE_NN_FEED_H

#include "heddle/data.h"
#include "heddle/ops.h"
#include "nn/checkpoint.h"

typedef struct heddle_ring heddle_ring;

typedef struct heddle_feed_options {
    int batch;     // at most the dataset's images
    bool training; // in shuffled order, with a schedule; else as the dataset has them, without
    bool streamed; // through a ring
    uint64_t seed;
} heddle_feed_options;

// What the device copies out now and then, to pinned memory.
typedef struct heddle_feed_report {
    double tally[HEDDLE_TALLY_COUNT];
    int64_t cursor[HEDDLE_CURSOR_COUNT];
} heddle_feed_report;

typedef struct heddle_feed {
    heddle_device *device;
    const heddle_dataset *dataset;
    heddle_feed_options options;
    int batches;       // of an epoch
    int rows;          // images that are on the device at a time
    int length;        // of `order`
    int steps;         // rows of the schedule
    heddle_ring *ring; // NULL: all images are on the device
    // Device memory, as gather, cnn_step and step_end take it.
    void *memory;
    uint8_t *images;            // (rows, channels, height, width)
    int32_t *labels;            // (rows)
    int32_t *order;             // (length)
    float *schedule;            // (steps, HEDDLE_HYPER_COUNT)
    heddle_feed_report *report; // tally and cursor, beside each other so that one copy brings both
    // Pinned memory that uploads run from: one must have ended before the next is written.
    void *pinned;
    heddle_feed_report *begin;
    float *rates;        // the schedule
    uint32_t *orders[2]; // of the epoch that is on, and of the next
    int order_epoch[2];  // -1: none
} heddle_feed;

// Allocates and uploads. `stream` is waited for.
heddle_status heddle_feed_create(const heddle_dataset *dataset, heddle_stream *stream,
                                 const heddle_feed_options *options, heddle_feed **feed);
void heddle_feed_destroy(heddle_feed *feed);
// Uploads once more what the dataset holds; it is not streamed.
heddle_status heddle_feed_upload(heddle_feed *feed, heddle_stream *stream);

// Works out the order of an epoch ahead of its time, while the device is busy.
void heddle_feed_prepare(heddle_feed *feed, int epoch);

// Queues what the steps from `position` on need: the epoch's order, its schedule, the place, the tally so far. The
// first step's hyper-parameters go to `hyper`. `steps` is the length of the run.
heddle_status heddle_feed_begin(heddle_feed *feed, heddle_stream *stream, const heddle_train_options *options,
                                const heddle_position *position, int64_t steps, float *hyper);
// The same for one pass over the dataset as it stands.
heddle_status heddle_feed_begin_pass(heddle_feed *feed, heddle_stream *stream);
// Queues a copy of tally and cursor to pinned memory.
heddle_status heddle_feed_report_to(heddle_feed *feed, heddle_stream *stream, heddle_feed_report *report);

#endif
