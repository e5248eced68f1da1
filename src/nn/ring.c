// Fills the slots of a ring ahead of the steps that empty them.

#include "nn/ring.h"

#include <stdlib.h>

#include "base/threads.h"
#include "nn/plan.h"
#include "nn/run.h"

enum {
    SLOT_BYTES = 16 << 20, // about as much is copied at once: large enough for the bus, small beside any card's memory
    LOADED_AHEAD = 2,      // slots that the loader's thread gathers ahead of the copies
    // What the loader gave stays until its copy has ended, which is known when the slot's turn comes again.
    HELD = HEDDLE_RING_SLOTS,
    LOADS_AT_ONCE = 2, // so that the first steps do not wait for a whole ring
    MOST_THREADS = 4,  // that gather a slot: one is slower than a GPU, four reach what the bus carries
    CORES_A_THREAD = 4,
};

struct heddle_ring {
    heddle_device *device;
    int batch, slot_batches;
    int batches; // of an epoch
    size_t image_bytes;
    uint8_t *images;
    int32_t *labels;
    void *pinned;
    heddle_loader *loader;
    heddle_stream *copies;
    heddle_event *full[HEDDLE_RING_SLOTS], *empty[HEDDLE_RING_SLOTS];
    int64_t loaded, taken; // slots, counted from the beginning
    int epoch, next;       // the batch to be taken next
    bool begun;            // it has been told which that is
    bool entered;          // the steps' stream waits for the slot of that batch already
};

int heddle_ring_slot_batches(const heddle_dataset *dataset, int batch)
{
    const int whole = dataset->count / batch;
    double fit = SLOT_BYTES / ((double)batch * dataset->channels * dataset->height * dataset->width);
    int most = whole / (HEDDLE_RING_SLOTS + 1); // a ring that holds them all would save no memory
    int batches = heddle_plan_steps_for(whole, fit < most ? (int)fit : most);
    return batches < 1 ? 1 : batches;
}

// --- making and ending ----------------------------------------------------------------------------------------------

// Some of the machine's cores: other work goes on beside.
static int loader_threads(void)
{
    int threads = heddle_usable_cores() / CORES_A_THREAD;
    return threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : threads;
}

static heddle_status make_loader(heddle_ring *ring, const heddle_dataset *dataset, const heddle_loader_options *loading)
{
    enum { PLACES = LOADED_AHEAD + HELD };
    heddle_loader_options options = {.batch = ring->slot_batches * ring->batch,
                                     .seed = loading->seed,
                                     .augment = loading->augment,
                                     .shuffle = true,
                                     .ahead = LOADED_AHEAD,
                                     .hold = HELD,
                                     .threads = loader_threads()};
    size_t samples = PLACES * (size_t)options.batch;
    const heddle_part parts[] = {
        {(void **)&options.bytes, samples * ring->image_bytes},
        {(void **)&options.labels, samples * sizeof(int32_t)},
    };
    HEDDLE_TRY(heddle_alloc_pinned_parts(ring->device, parts, 2, &ring->pinned));
    return heddle_loader_create(dataset, &options, &ring->loader);
}

static heddle_status make_streams(heddle_ring *ring)
{
    heddle_device_info info;
    HEDDLE_TRY(heddle_device_describe(ring->device, &info));
    HEDDLE_TRY(heddle_stream_create(ring->device, info.priority_greatest, &ring->copies));
    for (int i = 0; i < HEDDLE_RING_SLOTS; i++) {
        HEDDLE_TRY(heddle_event_create(ring->device, &ring->full[i]));
        HEDDLE_TRY(heddle_event_create(ring->device, &ring->empty[i]));
    }
    return HEDDLE_OK;
}

heddle_status heddle_ring_create(heddle_device *device, const heddle_dataset *dataset,
                                 const heddle_loader_options *loading, uint8_t *images, int32_t *labels,
                                 heddle_ring **ring)
{
    const int batch = loading->batch;
    heddle_ring *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a ring of batches");
    made->device = device;
    made->batch = batch;
    made->slot_batches = heddle_ring_slot_batches(dataset, batch);
    made->batches = dataset->count / batch + (dataset->count % batch != 0);
    made->image_bytes = (size_t)dataset->channels * (size_t)dataset->height * (size_t)dataset->width;
    made->images = images;
    made->labels = labels;
    heddle_status status = make_streams(made);
    if (status == HEDDLE_OK)
        status = make_loader(made, dataset, loading);
    if (status != HEDDLE_OK) {
        heddle_ring_destroy(made);
        return status;
    }
    *ring = made;
    return HEDDLE_OK;
}

void heddle_ring_destroy(heddle_ring *ring)
{
    if (!ring)
        return;
    if (ring->copies)
        heddle_stream_destroy(ring->copies);
    for (int i = 0; i < HEDDLE_RING_SLOTS; i++) {
        heddle_event_destroy(ring->full[i]);
        heddle_event_destroy(ring->empty[i]);
    }
    heddle_loader_destroy(ring->loader);
    heddle_free_pinned(ring->device, ring->pinned);
    free(ring);
}

// --- going round ----------------------------------------------------------------------------------------------------

// Queues the copy of one more slot, which waits for the steps that read the slot before.
static heddle_status load(heddle_ring *ring)
{
    int place = (int)(ring->loaded % HEDDLE_RING_SLOTS);
    if (ring->loaded >= HEDDLE_RING_SLOTS) // the loader is about to write where that copy read from
        HEDDLE_TRY(heddle_event_synchronize(ring->full[place]));
    heddle_batch batch;
    HEDDLE_TRY(heddle_loader_next(ring->loader, &batch));
    size_t first = (size_t)place * (size_t)ring->slot_batches * (size_t)ring->batch, count = (size_t)batch.count;
    HEDDLE_TRY(heddle_stream_wait(ring->copies, ring->empty[place]));
    HEDDLE_TRY(
        heddle_copy(ring->copies, ring->images + first * ring->image_bytes, batch.bytes, count * ring->image_bytes));
    HEDDLE_TRY(heddle_copy(ring->copies, ring->labels + first, batch.labels, count * sizeof *batch.labels));
    HEDDLE_TRY(heddle_event_record(ring->full[place], ring->copies));
    ring->loaded++;
    return HEDDLE_OK;
}

heddle_status heddle_ring_seek(heddle_ring *ring, int epoch, int batch, int64_t *row)
{
    if (!ring->begun || ring->epoch != epoch || ring->next != batch) {
        HEDDLE_TRY(heddle_stream_synchronize(ring->copies));
        HEDDLE_TRY(heddle_loader_seek(ring->loader, epoch, batch / ring->slot_batches));
        ring->loaded = ring->taken;
        ring->epoch = epoch;
        ring->next = batch;
        ring->begun = true;
        ring->entered = false;
    }
    int64_t slot = ring->taken % HEDDLE_RING_SLOTS;
    *row = (slot * ring->slot_batches + batch % ring->slot_batches) * ring->batch;
    return HEDDLE_OK;
}

heddle_status heddle_ring_take(heddle_ring *ring, heddle_stream *stream, int *batches)
{
    if (ring->loaded == ring->taken)
        HEDDLE_TRY(load(ring));
    if (!ring->entered)
        HEDDLE_TRY(heddle_stream_wait(stream, ring->full[ring->taken % HEDDLE_RING_SLOTS]));
    ring->entered = true;
    int in_slot = ring->slot_batches - ring->next % ring->slot_batches, in_epoch = ring->batches - ring->next;
    *batches = in_slot < in_epoch ? in_slot : in_epoch;
    return HEDDLE_OK;
}

heddle_status heddle_ring_give(heddle_ring *ring, heddle_stream *stream, int batches)
{
    ring->next += batches;
    bool epoch_over = ring->next == ring->batches;
    if (!epoch_over && ring->next % ring->slot_batches != 0)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_event_record(ring->empty[ring->taken % HEDDLE_RING_SLOTS], stream));
    ring->taken++;
    ring->entered = false;
    int loads = LOADS_AT_ONCE;
    if (epoch_over) {
        ring->epoch++;
        ring->next = 0;
        // What the next epoch begins with is copied over the same bus, and would wait for a slot that is not needed
        // yet.
        loads = ring->loaded == ring->taken;
    }
    for (int i = 0; i < loads && ring->loaded < ring->taken + HEDDLE_RING_SLOTS; i++)
        HEDDLE_TRY(load(ring));
    return HEDDLE_OK;
}
