// Scheduling: what becomes ready when, in which order, and what follows when it is done. All of it under the device's
// lock, and nothing of it runs work.

#include "base/text.h"
#include "device/cpu/cpu.h"

void heddle_cpu_lock(struct cpu_device *device)
{
    pthread_mutex_lock(&device->lock);
}

void heddle_cpu_unlock(struct cpu_device *device)
{
    int wakes = atomic_load_explicit(&device->ready_count, memory_order_relaxed) - device->spinners;
    if (wakes > device->sleepers)
        wakes = device->sleepers;
    if (wakes > 0) {
        // Counted as awake from here on, so that the next unlock does not wake another for the same work.
        device->sleepers -= wakes;
        device->spinners += wakes;
        device->wakes += wakes;
    }
    bool notify = device->notify;
    device->notify = false;
    // Signalled after unlocking: a thread woken before would only queue up for the lock.
    pthread_mutex_unlock(&device->lock);
    for (int i = 0; i < wakes; i++)
        pthread_cond_signal(&device->work);
    if (notify)
        pthread_cond_broadcast(&device->progress);
}

// --- the ready queue ------------------------------------------------------------------------------------------------

void heddle_cpu_push_ready(struct cpu_device *device, struct cpu_item *item)
{
    item->next_ready = NULL;
    if (device->ready[item->level].last)
        device->ready[item->level].last->next_ready = item;
    else
        device->ready[item->level].first = item;
    device->ready[item->level].last = item;
    atomic_fetch_add_explicit(&device->ready_count, 1, memory_order_release);
}

struct cpu_item *heddle_cpu_take_ready(struct cpu_device *device)
{
    for (int level = 0; level < CPU_PRIORITY_LEVELS; level++) {
        struct cpu_item *item = device->ready[level].first;
        if (!item)
            continue;
        device->ready[level].first = item->next_ready;
        if (!item->next_ready)
            device->ready[level].last = NULL;
        atomic_fetch_sub_explicit(&device->ready_count, 1, memory_order_relaxed);
        return item;
    }
    return NULL;
}

// --- streams --------------------------------------------------------------------------------------------------------

bool heddle_cpu_passed(const struct cpu_stream *stream, uint64_t ticket)
{
    return !stream->head || stream->head->ticket > ticket;
}

void heddle_cpu_finish_head(struct cpu_stream *stream)
{
    struct cpu_device *device = cpu_stream_device(stream);
    struct cpu_item *item = stream->head;
    stream->head = item->next;
    if (!stream->head)
        stream->tail = NULL;
    atomic_store_explicit(&stream->completed, item->ticket, memory_order_release);
    if (stream->wake_at != UINT64_MAX && heddle_cpu_passed(stream, stream->wake_at)) {
        stream->wake_at = UINT64_MAX;
        device->notify = true;
    }
    heddle_cpu_item_release(device, item);
}

void heddle_cpu_advance_later(struct cpu_stream *stream)
{
    struct cpu_device *device = cpu_stream_device(stream);
    stream->next_advance = device->advance;
    device->advance = stream;
}

static void complete_mark(struct cpu_stream *stream, struct cpu_mark *mark)
{
    mark->time = heddle_now();
    mark->failure = heddle_cpu_failure_share(stream->failure);
    atomic_store_explicit(&mark->done, true, memory_order_release);
    if (mark->awaited)
        cpu_stream_device(stream)->notify = true;
    while (mark->blocked) {
        struct cpu_stream *blocked = mark->blocked;
        mark->blocked = blocked->next_blocked;
        heddle_cpu_advance_later(blocked);
    }
}

// Goes through the items at the head that need no executor, up to one that does or that has to wait.
static void advance(struct cpu_stream *stream)
{
    struct cpu_item *item;
    while ((item = stream->head)) {
        bool dropped = stream->failure && (item->kind == CPU_ITEM_WORK || item->kind == CPU_ITEM_GRAPH);
        if (item->kind == CPU_ITEM_RECORD) {
            complete_mark(stream, item->mark);
        } else if (item->kind == CPU_ITEM_WAIT && !atomic_load_explicit(&item->mark->done, memory_order_relaxed)) {
            stream->next_blocked = item->mark->blocked;
            item->mark->blocked = stream;
            return;
        } else if (item->kind == CPU_ITEM_WORK && !dropped) {
            heddle_cpu_push_ready(cpu_stream_device(stream), item);
            return;
        } else if (item->kind == CPU_ITEM_GRAPH && !dropped && !heddle_cpu_graph_start(stream, item)) {
            return;
        }
        heddle_cpu_finish_head(stream);
    }
}

// A list instead of recursion: streams that wait for each other in a long chain must not use up the stack.
static void settle(struct cpu_device *device)
{
    while (device->advance) {
        struct cpu_stream *stream = device->advance;
        device->advance = stream->next_advance;
        advance(stream);
    }
}

void heddle_cpu_enqueue(struct cpu_stream *stream, struct cpu_item *item)
{
    struct cpu_device *device = cpu_stream_device(stream);
    item->next = NULL;
    item->stream = stream;
    item->level = stream->level;
    item->ticket = stream->submitted = ++device->tickets;
    if (stream->tail) {
        stream->tail->next = item;
        stream->tail = item;
        return;
    }
    stream->head = stream->tail = item;
    heddle_cpu_advance_later(stream);
    settle(device);
}

void heddle_cpu_complete(struct cpu_device *device, struct cpu_item *item, heddle_status status)
{
    struct cpu_failure *failure = status == HEDDLE_OK ? NULL : heddle_cpu_failure_create(device, status);
    if (item->stream) {
        struct cpu_stream *stream = item->stream;
        stream->failure = failure;
        heddle_cpu_finish_head(stream);
        heddle_cpu_advance_later(stream);
    } else {
        heddle_cpu_graph_node_done((struct cpu_node *)item, failure);
    }
    settle(device);
}
