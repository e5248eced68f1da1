// Predicts from bytes: a few slots, each with a plan, a stream and pinned memory, so that the copies of one batch run
// under the work of another, and small batches run beside each other. A large batch is cut into several, for the same
// reason.

#include "nn/infer.h"

#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "nn/run.h"

enum {
    SLOTS = 3,
    FILLING_IMAGES = 1024,    // enough to fill a GPU
    MOST_IMAGES = 8192,       // of a slot; a call with more has several, whose copies run under each other's work
    CACHED_VALUES = 16 << 20, // of a layer and the one before it: in 16 bits they stay in the L2 cache
    DIRECT_BYTES = 4096,      // so few are read by the first kernel and written by the last one, without copies
};

typedef struct infer_slot {
    heddle_stream *stream;
    heddle_plan *plan;
    heddle_feed feed; // over the images of one batch
    uint8_t *images;
    float *probabilities;
    void *memory, *pinned;
    // The batch that is under way; 0 images: none.
    int count;
    bool staged;    // through its pinned memory, which is free again once the batch has ended
    float *answers; // where its probabilities go then; NULL: they are on their way there
} infer_slot;

struct heddle_infer {
    heddle_state *state;
    heddle_network_options options;
    const heddle_ranges *ranges;
    int batch; // of a slot
    size_t pixels, classes;
    bool direct;
    infer_slot slots[SLOTS];
    int slot_count; // that there is memory for
};

static int ceil_div(int a, int b)
{
    return a / b + (a % b != 0);
}

static long elements(int rank, const int *dims)
{
    long product = 1;
    for (int i = 0; i < rank; i++)
        product *= dims[i];
    return product;
}

// As many images as keep the values between any two layers in the cache, but enough to fill a GPU. Each costs a few
// calls of the driver, so that a network of few values takes many images at a time.
static int images_of_a_slot(const heddle_model *model)
{
    long most = 1;
    for (int i = 0; i < model->every_count; i++) {
        const heddle_layer *layer = model->every[i];
        const long values = elements(layer->in_rank, layer->in) + elements(layer->out_rank, layer->out);
        most = values > most ? values : most;
    }
    const long images = CACHED_VALUES / most;
    return images < FILLING_IMAGES ? FILLING_IMAGES : images < MOST_IMAGES ? (int)images : MOST_IMAGES;
}

const heddle_plan *heddle_infer_plan(const heddle_infer *infer)
{
    return infer->slots[0].plan;
}

heddle_status heddle_infer_create(heddle_state *state, const heddle_network_options *options,
                                  const heddle_ranges *ranges, heddle_infer **infer)
{
    heddle_infer *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for predictions");
    const heddle_input_shape *input = &state->model->input;
    made->state = state;
    made->options = *options;
    made->ranges = ranges;
    made->batch = ceil_div(options->batch, ceil_div(options->batch, images_of_a_slot(state->model)));
    made->pixels = (size_t)input->channels * (size_t)input->height * (size_t)input->width;
    made->classes = (size_t)input->classes;
    made->direct = (size_t)made->batch * made->pixels <= DIRECT_BYTES;
    made->slot_count = SLOTS;
    *infer = made;
    return HEDDLE_OK;
}

static void close_slot(const heddle_infer *infer, infer_slot *slot)
{
    if (slot->stream)
        heddle_stream_destroy(slot->stream);
    heddle_plan_destroy(slot->plan);
    heddle_free(infer->state->device, slot->memory);
    heddle_free_pinned(infer->state->device, slot->pinned);
    *slot = (infer_slot){0};
}

void heddle_infer_destroy(heddle_infer *infer)
{
    if (!infer)
        return;
    for (int i = 0; i < SLOTS; i++)
        close_slot(infer, &infer->slots[i]);
    free(infer);
}

// --- slots -----------------------------------------------------------------------------------------------------------

// Memory for one batch. Where it is read and written directly, the plan's images and probabilities are the pinned ones.
static heddle_status place_slot(const heddle_infer *infer, infer_slot *slot)
{
    const size_t batch = (size_t)infer->batch, images = batch * infer->pixels;
    heddle_feed *feed = &slot->feed;
    const heddle_part parts[] = {
        {(void **)&feed->images, infer->direct ? 0 : images},
        {(void **)&feed->order, batch * sizeof(int32_t)},
        {(void **)&feed->labels, batch * sizeof(int32_t)},
        {(void **)&feed->report, sizeof *feed->report},
    };
    const heddle_part pinned[] = {
        {(void **)&slot->images, images},
        {(void **)&slot->probabilities, batch * infer->classes * sizeof(float)},
    };
    enum { PARTS = sizeof parts / sizeof *parts, PINNED = sizeof pinned / sizeof *pinned };
    const size_t bytes = heddle_parts_bytes(parts, PARTS);
    HEDDLE_TRY(heddle_alloc_parts(infer->state->device, "a batch of images", parts, PARTS, &slot->memory));
    HEDDLE_TRY(heddle_alloc_pinned_parts(infer->state->device, pinned, PINNED, &slot->pinned));
    HEDDLE_TRY(heddle_fill(slot->stream, slot->memory, 0, bytes));
    memset(slot->pinned, 0, heddle_parts_bytes(pinned, PINNED));
    if (infer->direct)
        feed->images = slot->images;
    feed->rows = feed->length = infer->batch;
    return HEDDLE_OK;
}

// Image i of a batch is image i of the slot.
static heddle_status upload_order(const heddle_infer *infer, infer_slot *slot)
{
    int32_t *order = malloc((size_t)infer->batch * sizeof *order);
    if (!order)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a batch of %d images", infer->batch);
    for (int i = 0; i < infer->batch; i++)
        order[i] = i;
    heddle_status status = heddle_copy(slot->stream, slot->feed.order, order, (size_t)infer->batch * sizeof *order);
    status = heddle_wait_after(slot->stream, status);
    free(order);
    return status;
}

static heddle_status fill_slot(heddle_infer *infer, infer_slot *slot)
{
    HEDDLE_TRY(heddle_stream_create(infer->state->device, 0, &slot->stream));
    HEDDLE_TRY(place_slot(infer, slot));
    HEDDLE_TRY(upload_order(infer, slot));
    const heddle_plan_options options = {
        .batch = infer->batch,
        .kernels = infer->options.kernels,
        .arithmetic = infer->options.arithmetic,
        .deterministic = infer->options.deterministic,
        .feed = &slot->feed,
        .ranges = infer->ranges,
        .predicts = true,
        .probabilities = infer->direct ? slot->probabilities : NULL,
    };
    HEDDLE_TRY(heddle_plan_create(infer->state, slot->stream, &options, &slot->plan));
    HEDDLE_TRY(heddle_plan_prepare(slot->plan, slot->stream));
    return heddle_stream_synchronize(slot->stream);
}

static heddle_status open_slot(heddle_infer *infer, infer_slot *slot)
{
    const heddle_status status = slot->plan ? HEDDLE_OK : fill_slot(infer, slot);
    if (status != HEDDLE_OK)
        close_slot(infer, slot);
    return status;
}

// --- batches ---------------------------------------------------------------------------------------------------------

static bool is_pinned(const heddle_infer *infer, const void *memory, size_t bytes)
{
    return !infer->direct && heddle_device_is_pinned(infer->state->device, memory, bytes);
}

// What a call has: whether the GPU copies from and to its memory itself.
typedef struct infer_call {
    const uint8_t *images;
    float *probabilities;
    bool pinned_images, pinned_rows;
} infer_call;

// Queues a batch of the slot's, `done` images after the first.
static heddle_status begin(const heddle_infer *infer, infer_slot *slot, const infer_call *call, int done, int count)
{
    const size_t bytes = (size_t)count * infer->pixels, rows = (size_t)count * infer->classes * sizeof(float);
    const bool pinned_images = call->pinned_images, pinned_rows = call->pinned_rows;
    const uint8_t *images = call->images + (size_t)done * infer->pixels;
    float *probabilities = call->probabilities + (size_t)done * infer->classes;
    if (!pinned_images)
        memcpy(slot->images, images, bytes);
    slot->count = count;
    slot->staged = infer->direct || !pinned_images || !pinned_rows;
    slot->answers = pinned_rows ? NULL : probabilities;
    if (!infer->direct)
        HEDDLE_TRY(heddle_copy(slot->stream, slot->feed.images, pinned_images ? images : slot->images, bytes));
    HEDDLE_TRY(heddle_plan_run(slot->plan, slot->stream));
    if (!infer->direct)
        HEDDLE_TRY(heddle_copy(slot->stream, pinned_rows ? probabilities : slot->probabilities,
                               slot->plan->probabilities, rows));
    return HEDDLE_OK;
}

// Waits for the slot's batch.
static heddle_status finish(const heddle_infer *infer, infer_slot *slot)
{
    const int count = slot->count;
    slot->count = 0;
    if (count == 0)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_stream_synchronize(slot->stream));
    if (slot->answers)
        memcpy(slot->answers, slot->probabilities, (size_t)count * infer->classes * sizeof(float));
    return HEDDLE_OK;
}

// Also after a failure nothing of it may be under way: it reads and writes the caller's memory.
static heddle_status finish_all(heddle_infer *infer, heddle_status status)
{
    for (int i = 0; i < SLOTS; i++) {
        infer_slot *slot = &infer->slots[i];
        if (status == HEDDLE_OK)
            status = finish(infer, slot);
        else if (slot->stream)
            status = heddle_wait_after(slot->stream, status);
        slot->count = 0;
    }
    return status;
}

heddle_status heddle_infer_run(heddle_infer *infer, const uint8_t *images, int count, float *probabilities)
{
    const infer_call call = {images, probabilities, is_pinned(infer, images, (size_t)count * infer->pixels),
                             is_pinned(infer, probabilities, (size_t)count * infer->classes * sizeof(float))};
    heddle_status status = HEDDLE_OK;
    for (int done = 0, turn = 0; done < count && status == HEDDLE_OK; turn++) {
        infer_slot *slot = &infer->slots[turn % infer->slot_count];
        const int part = count - done < infer->batch ? count - done : infer->batch;
        if (slot->staged) // else the next batch follows in the slot's stream, and the host has nothing to wait for
            status = finish(infer, slot);
        if (status == HEDDLE_OK)
            status = open_slot(infer, slot);
        if (status == HEDDLE_OUT_OF_MEMORY && turn > 0 && turn < infer->slot_count) { // fewer slots have to do
            infer->slot_count = turn;
            status = HEDDLE_OK;
            turn = -1;
            continue;
        }
        if (status == HEDDLE_OK)
            status = begin(infer, slot, &call, done, part);
        done += part;
    }
    return finish_all(infer, status);
}
