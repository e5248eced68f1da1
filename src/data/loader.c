// The loader: a thread that prepares batches ahead of the trainer. Which samples a batch has depends on the seed, the
// epoch and the batch's number alone, so that a run continues anywhere with the same batches.

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/spawn.h"
#include "base/threads.h"
#include "data/augment.h"
#include "heddle/data.h"
#include "heddle/random.h"

enum {
    DEFAULT_AHEAD = 2,
    MOST_AHEAD = 1024,
    MOST_THREADS = 64,
    PIECE = 64, // samples that a thread takes at a time
    CACHE_LINE = 64,
    MOST_EPOCH = INT_MAX / 2, // so that running on never overflows
    MESSAGE_SIZE = 512,
};
static const uint64_t loader_sequence = 0x4c4f414400000000; // "LOAD": keeps these numbers apart from others of the seed
static const float brightest = 255.0f;

typedef enum heddle_slot_state {
    SLOT_FREE,
    SLOT_FILLING, // the thread writes it
    SLOT_READY,   // in the queue
    SLOT_HELD,    // the caller reads it
} heddle_slot_state;

typedef struct heddle_slot {
    heddle_slot_state state;
    unsigned long given; // SLOT_HELD: which of the caller's batches this was, counted
    heddle_batch batch;
    float *images;  // NULL where images stay bytes
    uint8_t *bytes; // the caller's, as its labels are then
    int32_t *labels;
    uint32_t *order;
} heddle_slot;

typedef struct heddle_position {
    int epoch, index;
} heddle_position;

struct heddle_loader {
    const heddle_dataset *dataset;
    heddle_loader_options options;
    int batches;
    size_t pixels; // of an image
    int slot_count;
    heddle_slot *slots;
    uint32_t *order; // of the epoch order_epoch; the thread's own
    int order_epoch;
    heddle_pool *pool; // NULL: the thread fills batches alone
    bool augments;
    uint8_t *moved; // a moved image for each of the pool's threads; NULL where images stay bytes
    pthread_t thread;
    bool running;

    pthread_mutex_t mutex; // guards all below, and the slots' states
    pthread_cond_t ready, wanted;
    int *queue; // ready slots, oldest first
    int queued;
    heddle_position next; // to be prepared
    unsigned generation;  // counts seeks: work started before one is discarded
    unsigned long given;  // batches that the caller has had
    bool stop;
    heddle_status failure; // of the thread, which then waits for a seek
    char message[MESSAGE_SIZE];
};

void heddle_epoch_order(uint64_t seed, int epoch, uint32_t *order, int count)
{
    heddle_random random = heddle_random_make(seed, loader_sequence | (uint64_t)epoch);
    heddle_random_permutation(&random, order, (uint32_t)count);
}

int heddle_shard(int count, int rank, int ranks, int *first)
{
    int each = count / ranks, more = count % ranks; // the first `more` ranks have one sample more
    *first = rank * each + (rank < more ? rank : more);
    return each + (rank < more);
}

// --- the thread -----------------------------------------------------------------------------------------------------

static void make_order(heddle_loader *loader, int epoch)
{
    uint32_t count = (uint32_t)loader->dataset->count;
    if (loader->order_epoch == epoch)
        return;
    if (loader->options.shuffle)
        heddle_epoch_order(loader->options.seed, epoch, loader->order, (int)count);
    for (uint32_t i = 0; i < count && !loader->options.shuffle; i++)
        loader->order[i] = i;
    loader->order_epoch = epoch;
}

// Divided, not multiplied by 1/255, so that a pixel is the float nearest to its value.
static void to_floats(const uint8_t *restrict from, float *restrict to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (float)from[i] / brightest;
}

// A batch that is being filled, in pieces.
typedef struct heddle_filling {
    const heddle_loader *loader;
    heddle_slot *slot;
    const uint32_t *order; // of its samples
    int count;
    int epoch;
} heddle_filling;

// Samples are scattered over the dataset: the next one is prefetched while this one is copied.
static void copy_bytes(const heddle_filling *filling, int index)
{
    size_t pixels = filling->loader->pixels;
    const uint8_t *images = filling->loader->dataset->images;
    if (index + 1 < filling->count)
        for (size_t i = 0; i < pixels; i += CACHE_LINE)
            __builtin_prefetch(images + filling->order[index + 1] * pixels + i);
    memcpy(filling->slot->bytes + (size_t)index * pixels, images + filling->order[index] * pixels, pixels);
}

static void copy_moved(const heddle_filling *filling, int index, int worker)
{
    const heddle_loader *loader = filling->loader;
    const heddle_dataset *dataset = loader->dataset;
    const uint32_t sample = filling->order[index];
    uint8_t *to = filling->slot->bytes ? filling->slot->bytes + (size_t)index * loader->pixels
                                       : loader->moved + (size_t)worker * loader->pixels;
    int8_t move[HEDDLE_MOVE_COUNT];
    heddle_augment_draw(&loader->options.augment, loader->options.seed, filling->epoch, sample, move);
    heddle_augment_apply(move, dataset->images + sample * loader->pixels, dataset->channels, dataset->height,
                         dataset->width, to);
    if (!filling->slot->bytes)
        to_floats(to, filling->slot->images + (size_t)index * loader->pixels, loader->pixels);
}

static void fill_piece(void *context, int piece, int worker)
{
    const heddle_filling *filling = context;
    const heddle_loader *loader = filling->loader;
    heddle_slot *slot = filling->slot;
    int end = (piece + 1) * PIECE < filling->count ? (piece + 1) * PIECE : filling->count;
    for (int i = piece * PIECE; i < end; i++) {
        uint32_t sample = filling->order[i];
        if (loader->augments)
            copy_moved(filling, i, worker);
        else if (slot->bytes)
            copy_bytes(filling, i);
        else
            to_floats(loader->dataset->images + sample * loader->pixels, slot->images + (size_t)i * loader->pixels,
                      loader->pixels);
        slot->labels[i] = loader->dataset->labels[sample];
        slot->order[i] = sample;
    }
}

static heddle_status fill_slot(heddle_loader *loader, heddle_slot *slot, heddle_position at)
{
    const heddle_dataset *dataset = loader->dataset;
    make_order(loader, at.epoch);
    size_t first = (size_t)at.index * (size_t)loader->options.batch;
    size_t left = (size_t)dataset->count - first;
    int whole = left < (size_t)loader->options.batch ? (int)left : loader->options.batch, own = 0;
    int count = heddle_shard(whole, loader->options.rank, loader->options.ranks, &own);
    first += (size_t)own;
    heddle_filling filling = {
        .loader = loader, .slot = slot, .order = loader->order + first, .count = count, .epoch = at.epoch};
    for (int i = 0; i < count; i++)
        if (dataset->labels[filling.order[i]] >= dataset->classes)
            return heddle_fail(
                HEDDLE_CORRUPT, "dataset %s: label %d of image %u is out of range: the classes are 0 to %d",
                dataset->name, dataset->labels[filling.order[i]], filling.order[i], dataset->classes - 1);
    heddle_pool_run(loader->pool, (count + PIECE - 1) / PIECE, fill_piece, &filling);
    slot->batch = (heddle_batch){
        .count = count,
        .first = own,
        .whole = whole,
        .epoch = at.epoch,
        .index = at.index,
        .images = slot->images,
        .labels = slot->labels,
        .order = slot->order,
        .bytes = slot->bytes,
    };
    return HEDDLE_OK;
}

static heddle_slot *free_slot(heddle_loader *loader)
{
    for (int i = 0; i < loader->slot_count; i++)
        if (loader->slots[i].state == SLOT_FREE)
            return &loader->slots[i];
    return NULL;
}

static heddle_position following(const heddle_loader *loader, heddle_position at)
{
    if (at.index + 1 < loader->batches)
        return (heddle_position){at.epoch, at.index + 1};
    return (heddle_position){at.epoch + 1, 0};
}

// With the mutex held; lets go of it while it fills the slot.
static heddle_status prepare_one(heddle_loader *loader, heddle_slot *slot)
{
    heddle_position at = loader->next;
    unsigned generation = loader->generation;
    loader->next = following(loader, at);
    slot->state = SLOT_FILLING;
    pthread_mutex_unlock(&loader->mutex);
    heddle_status status = fill_slot(loader, slot, at);
    pthread_mutex_lock(&loader->mutex);
    if (generation != loader->generation || status != HEDDLE_OK) {
        slot->state = SLOT_FREE;
        return generation == loader->generation ? status : HEDDLE_OK;
    }
    slot->state = SLOT_READY;
    loader->queue[loader->queued++] = (int)(slot - loader->slots);
    pthread_cond_signal(&loader->ready);
    return HEDDLE_OK;
}

static void *run_thread(void *context)
{
    heddle_loader *loader = context;
    pthread_mutex_lock(&loader->mutex);
    while (!loader->stop) {
        heddle_slot *slot = loader->failure == HEDDLE_OK ? free_slot(loader) : NULL;
        if (!slot) {
            pthread_cond_wait(&loader->wanted, &loader->mutex);
            continue;
        }
        heddle_status status = prepare_one(loader, slot);
        if (status != HEDDLE_OK) {
            loader->failure = status;
            strncpy(loader->message, heddle_last_error(), sizeof loader->message - 1);
            pthread_cond_signal(&loader->ready);
        }
    }
    pthread_mutex_unlock(&loader->mutex);
    return NULL;
}

static heddle_status start_thread(heddle_loader *loader)
{
    HEDDLE_TRY(heddle_thread_start(&loader->thread, "heddle-loader", run_thread, loader));
    loader->running = true;
    return HEDDLE_OK;
}

// --- making and ending ----------------------------------------------------------------------------------------------

static heddle_status check(const heddle_dataset *dataset, const heddle_loader_options *options)
{
    if (!dataset || dataset->count <= 0 || dataset->channels <= 0 || dataset->height <= 0 || dataset->width <= 0 ||
        !dataset->images || !dataset->labels)
        return heddle_fail(HEDDLE_INVALID, "the loader needs a dataset with images and labels");
    if (options->batch <= 0)
        return heddle_fail(HEDDLE_INVALID, "batch size %d is invalid: it must be at least 1", options->batch);
    if (options->ahead < 0 || options->ahead > MOST_AHEAD)
        return heddle_fail(HEDDLE_INVALID, "the loader can prepare 0 to %d batches ahead, not %d", MOST_AHEAD,
                           options->ahead);
    if (options->hold < 0 || options->hold > MOST_AHEAD)
        return heddle_fail(HEDDLE_INVALID, "the loader can keep 1 to %d batches valid, not %d", MOST_AHEAD,
                           options->hold);
    if (options->threads < 0 || options->threads > MOST_THREADS)
        return heddle_fail(HEDDLE_INVALID, "the loader can use 1 to %d threads, not %d", MOST_THREADS,
                           options->threads);
    if (!options->bytes != !options->labels)
        return heddle_fail(HEDDLE_INVALID, "the loader needs space for images and labels, or for neither");
    if (options->ranks < 0 || (options->ranks > 0 && (options->rank < 0 || options->rank >= options->ranks)))
        return heddle_fail(HEDDLE_INVALID, "shard %d of %d does not exist", options->rank, options->ranks);
    HEDDLE_TRY(heddle_augment_check(&options->augment, dataset->height, dataset->width));
    if (options->drop_last && dataset->count < options->batch)
        return heddle_fail(HEDDLE_INVALID,
                           "dataset %s has %d images, fewer than one batch of %d, and short batches are dropped",
                           dataset->name, dataset->count, options->batch);
    return HEDDLE_OK;
}

static bool make_slots(heddle_loader *loader)
{
    int first;
    size_t batch = (size_t)heddle_shard(loader->options.batch, 0, loader->options.ranks, &first), values; // the largest
    if (__builtin_mul_overflow(batch, loader->pixels, &values))
        return false;
    loader->slots = calloc((size_t)loader->slot_count, sizeof *loader->slots);
    loader->queue = calloc((size_t)loader->slot_count, sizeof *loader->queue);
    loader->order = calloc((size_t)loader->dataset->count, sizeof *loader->order);
    if (loader->augments && !loader->options.bytes)
        loader->moved = calloc((size_t)heddle_pool_threads(loader->pool), loader->pixels);
    if (!loader->slots || !loader->queue || !loader->order ||
        (loader->augments && !loader->options.bytes && !loader->moved))
        return false;
    for (int i = 0; i < loader->slot_count; i++) {
        heddle_slot *slot = &loader->slots[i];
        bool own = !loader->options.bytes;
        slot->images = own ? calloc(values, sizeof *slot->images) : NULL;
        slot->bytes = own ? NULL : loader->options.bytes + (size_t)i * values;
        slot->labels = own ? calloc(batch, sizeof *slot->labels) : loader->options.labels + (size_t)i * batch;
        slot->order = calloc(batch, sizeof *slot->order);
        if ((own && !slot->images) || !slot->labels || !slot->order)
            return false;
    }
    return true;
}

heddle_status heddle_loader_create(const heddle_dataset *dataset, const heddle_loader_options *options,
                                   heddle_loader **loader)
{
    *loader = NULL;
    HEDDLE_TRY(check(dataset, options));
    heddle_loader *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for the loader");
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->ready, NULL);
    pthread_cond_init(&made->wanted, NULL);
    made->dataset = dataset;
    made->options = *options;
    if (made->options.batch > dataset->count)
        made->options.batch = dataset->count; // no room for images that never come
    int whole = dataset->count / made->options.batch;
    made->batches = whole + (!options->drop_last && dataset->count % made->options.batch != 0);
    made->pixels = (size_t)dataset->channels * (size_t)dataset->height * (size_t)dataset->width;
    if (!made->options.hold)
        made->options.hold = 1;
    if (!made->options.ranks)
        made->options.ranks = 1;
    made->slot_count = (options->ahead ? options->ahead : DEFAULT_AHEAD) + made->options.hold;
    made->order_epoch = -1;
    made->augments = heddle_augments(&options->augment);
    heddle_status status = options->threads > 1 ? heddle_pool_create(options->threads, &made->pool) : HEDDLE_OK;
    if (status == HEDDLE_OK && !make_slots(made))
        status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for %d batches of %d images", made->slot_count,
                             made->options.batch);
    if (status == HEDDLE_OK)
        status = start_thread(made);
    if (status != HEDDLE_OK) {
        heddle_loader_destroy(made);
        return status;
    }
    *loader = made;
    return HEDDLE_OK;
}

void heddle_loader_destroy(heddle_loader *loader)
{
    if (!loader)
        return;
    if (loader->running) {
        pthread_mutex_lock(&loader->mutex);
        loader->stop = true;
        pthread_cond_signal(&loader->wanted);
        pthread_mutex_unlock(&loader->mutex);
        pthread_join(loader->thread, NULL);
    }
    heddle_pool_destroy(loader->pool);
    for (int i = 0; loader->slots && i < loader->slot_count; i++) {
        free(loader->slots[i].images);
        if (!loader->options.bytes)
            free(loader->slots[i].labels);
        free(loader->slots[i].order);
    }
    free(loader->slots);
    free(loader->queue);
    free(loader->order);
    free(loader->moved);
    pthread_cond_destroy(&loader->wanted);
    pthread_cond_destroy(&loader->ready);
    pthread_mutex_destroy(&loader->mutex);
    free(loader);
}

int heddle_loader_batches(const heddle_loader *loader)
{
    return loader->batches;
}

// --- batches --------------------------------------------------------------------------------------------------------

heddle_status heddle_loader_seek(heddle_loader *loader, int epoch, int index)
{
    if (epoch < 0 || epoch > MOST_EPOCH || index < 0 || index > loader->batches)
        return heddle_fail(HEDDLE_INVALID, "batch %d of epoch %d does not exist: an epoch has %d", index, epoch,
                           loader->batches);
    pthread_mutex_lock(&loader->mutex);
    loader->next = index < loader->batches ? (heddle_position){epoch, index} : (heddle_position){epoch + 1, 0};
    loader->generation++;
    for (int i = 0; i < loader->queued; i++)
        loader->slots[loader->queue[i]].state = SLOT_FREE;
    loader->queued = 0;
    loader->failure = HEDDLE_OK; // another place may be fine
    pthread_cond_signal(&loader->wanted);
    pthread_mutex_unlock(&loader->mutex);
    return HEDDLE_OK;
}

// Those that the batch to come makes too old.
static void release_held(heddle_loader *loader)
{
    unsigned long hold = (unsigned long)loader->options.hold;
    for (int i = 0; i < loader->slot_count; i++)
        if (loader->slots[i].state == SLOT_HELD && loader->given - loader->slots[i].given >= hold)
            loader->slots[i].state = SLOT_FREE;
}

heddle_status heddle_loader_next(heddle_loader *loader, heddle_batch *batch)
{
    pthread_mutex_lock(&loader->mutex);
    release_held(loader);
    pthread_cond_signal(&loader->wanted);
    while (loader->queued == 0 && loader->failure == HEDDLE_OK)
        pthread_cond_wait(&loader->ready, &loader->mutex);

    heddle_status status = HEDDLE_OK;
    if (loader->queued > 0) {
        heddle_slot *slot = &loader->slots[loader->queue[0]];
        loader->queued--;
        memmove(loader->queue, loader->queue + 1, (size_t)loader->queued * sizeof *loader->queue);
        slot->state = SLOT_HELD;
        slot->given = loader->given++;
        *batch = slot->batch;
    } else {
        *batch = (heddle_batch){0};
        status = heddle_fail(loader->failure, "%s", loader->message);
    }
    pthread_mutex_unlock(&loader->mutex);
    return status;
}
