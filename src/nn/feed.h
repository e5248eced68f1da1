// A feed: the images and labels of a dataset where the steps on a GPU take them from, in the order of an epoch, and
// what goes with that from step to step without the host: place in the order, learning rate, tally. The images are
// either all on the device, or pass through a ring of slots there (ring.h).
#pragma once

#include "heddle/data.h"
#include "heddle/ops.h"
#include "nn/checkpoint.h"

typedef struct heddle_ring heddle_ring;

typedef struct heddle_feed_options {
    int batch;     // at most the dataset's images
    bool training; // in shuffled order, with a schedule; else as the dataset has them, without
    bool streamed; // through a ring
    uint64_t seed;
    heddle_augment augment; // of training images
    int rank, ranks; // only this rank's shard of every batch of `whole` samples, `batch` of a whole one; ranks 0: alone
    int whole;
} heddle_feed_options;

// What the device copies out now and then, to pinned memory.
typedef struct heddle_feed_report {
    int64_t cursor[HEDDLE_CURSOR_COUNT];
    double tally[HEDDLE_TALLY_COUNT]; // of the epoch, but for the steps left out: those since heddle_feed_begin
} heddle_feed_report;

// What the steps of one epoch need, in pinned memory, laid out as on the device, so that one copy brings it over.
typedef struct heddle_feed_epoch {
    int epoch;        // -1: none yet
    int64_t left_out; // steps before it, as the schedule has it
    heddle_feed_report *begin;
    float *schedule; // (steps, HEDDLE_HYPER_COUNT)
    uint32_t *order; // NULL where the order on the device stays
    int8_t *moves;   // of the images in that order; NULL where they stay as they are, or come moved out of the ring
} heddle_feed_epoch;

typedef struct heddle_feed {
    heddle_device *device;
    const heddle_dataset *dataset;
    heddle_feed_options options;
    int batches;        // of an epoch
    int rows;           // images that are on the device at a time
    int length;         // of `order`
    int steps;          // rows of the schedule
    uint32_t *shuffled; // with ranks: the order of all samples, from which the shards are taken; host memory
    heddle_ring *ring;  // NULL: all images are on the device
    // Device memory, as gather, cnn_step and step_end take it.
    void *memory;
    heddle_feed_report *report; // tally and cursor
    float *schedule;            // (steps, HEDDLE_HYPER_COUNT)
    int32_t *order;             // (length)
    int8_t *moves;              // (length, HEDDLE_MOVE_COUNT); NULL: images are used as they are on the device
    uint8_t *images;            // (rows, channels, height, width)
    int32_t *labels;            // (rows)
    // Pinned memory: the epoch that is on, and the one after it.
    void *pinned;
    heddle_feed_epoch epochs[2];
    size_t epoch_bytes; // what is copied when one begins
} heddle_feed;

// Allocates and uploads. `stream` is waited for.
heddle_status heddle_feed_create(const heddle_dataset *dataset, heddle_stream *stream,
                                 const heddle_feed_options *options, heddle_feed **feed);
void heddle_feed_destroy(heddle_feed *feed);
// Uploads once more what the dataset holds; it is not streamed.
heddle_status heddle_feed_upload(heddle_feed *feed, heddle_stream *stream);

// Works out the order and the schedule of an epoch ahead of its time, while the device is busy with the one before.
// `left_out` is how many steps have been by now, `steps` the length of the run.
void heddle_feed_prepare(heddle_feed *feed, const heddle_train_options *options, int epoch, int64_t left_out,
                         int64_t steps);

// Queues what the steps from `position` on need: the epoch's order, its schedule, the place, the tally so far. The
// first step's hyper-parameters go to `hyper`. What the epoch before the last queued has to have ended.
heddle_status heddle_feed_begin(heddle_feed *feed, heddle_stream *stream, const heddle_train_options *options,
                                const heddle_position *position, int64_t steps, float *hyper);
// The same for one pass over the dataset as it stands.
heddle_status heddle_feed_begin_pass(heddle_feed *feed, heddle_stream *stream);
// Queues a copy of tally and cursor to pinned memory.
heddle_status heddle_feed_report_to(heddle_feed *feed, heddle_stream *stream, heddle_feed_report *report);
