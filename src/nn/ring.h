// A ring of slots on a device that images pass through, where the dataset is larger than its memory: the loader's
// thread gathers a few batches into pinned memory, a copy stream of the highest priority brings them over, and events
// keep the two from treading on the steps' heels. A slot holds several batches, so that a graph of many steps runs
// between two events.
#pragma once

#include "heddle/data.h"
#include "heddle/device.h"

enum { HEDDLE_RING_SLOTS = 3 }; // one is read, one waits full, one is written

typedef struct heddle_ring heddle_ring;

// How many batches go into a slot.
int heddle_ring_slot_batches(const heddle_dataset *dataset, int batch);

// The slots are `images` and `labels` on the device, room for HEDDLE_RING_SLOTS times slot_batches * batch samples.
// `loading` says how batches are drawn: batch, seed and augment.
heddle_status heddle_ring_create(heddle_device *device, const heddle_dataset *dataset,
                                 const heddle_loader_options *loading, uint8_t *images, int32_t *labels,
                                 heddle_ring **ring);
void heddle_ring_destroy(heddle_ring *ring);

// The next batch to be taken is `batch` of `epoch`; *row is where it begins in the ring. What was loaded already and is
// just that stays.
heddle_status heddle_ring_seek(heddle_ring *ring, int epoch, int batch, int64_t *row);
// Before the step of the next batch is queued: the stream waits for its slot. *batches says how many steps may follow
// before the slot is through.
heddle_status heddle_ring_take(heddle_ring *ring, heddle_stream *stream, int *batches);
// After `batches` of its steps were queued: a slot that is through is marked free and others are loaded ahead.
heddle_status heddle_ring_give(heddle_ring *ring, heddle_stream *stream, int batches);
