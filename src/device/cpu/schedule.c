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

static void push_ready(struct cpu_device *device, struct cpu_item *item)
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

// Drops the stream's first item, which is done.
static void finish_head(struct cpu_stream *stream)
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

// Has the stream look at its next item soon.
static void advance_later(struct cpu_stream *stream)
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
        advance_later(blocked);
    }
}

// --- graphs ---------------------------------------------------------------------------------------------------------

// Branches that do not depend on each other run beside each other; launches of one graph run one after another.

static void wait_for_turn(struct cpu_graph *graph, struct cpu_stream *stream)
{
    stream->next_blocked = NULL;
    if (graph->waiting)
        graph->waiting_last->next_blocked = stream;
    else
        graph->waiting = stream;
    graph->waiting_last = stream;
}

// Starts the launch at the head of the stream, or lets the stream wait for the launch before it. True: nothing to run,
// the launch is done.
static bool start_graph(struct cpu_stream *stream, struct cpu_item *launch)
{
    struct cpu_graph *graph = launch->graph;
    if (graph->count == 0)
        return true;
    if (graph->launch) {
        wait_for_turn(graph, stream);
        return false;
    }
    graph->launch = launch;
    graph->remaining = graph->count;
    for (int i = 0; i < graph->count; i++)
        graph->nodes[i].pending = graph->nodes[i].dependency_count;
    // A node without dependencies is work: joins have two.
    for (int i = 0; i < graph->count; i++)
        if (graph->nodes[i].dependency_count == 0)
            push_ready(cpu_stream_device(stream), &graph->nodes[i].item);
    return false;
}

static void finish_launch(struct cpu_graph *graph)
{
    struct cpu_stream *stream = graph->launch->stream;
    graph->launch = NULL;
    stream->failure = graph->failure;
    graph->failure = NULL;
    advance_later(stream);
    // Looked at before `stream`, the list being last in, first out: who launches in a row must not keep others waiting.
    if (graph->waiting) {
        struct cpu_stream *next = graph->waiting;
        graph->waiting = next->next_blocked;
        advance_later(next);
    }
    // Last, for it may free the graph.
    finish_head(stream);
}

// `failure` is taken over; NULL: the node succeeded.
static void finish_node(struct cpu_node *node, struct cpu_failure *failure)
{
    struct cpu_graph *graph = node->item.graph;
    struct cpu_device *device = cpu_device_of(graph->base.device);
    if (failure && !graph->failure)
        graph->failure = failure;
    else
        heddle_cpu_failure_release(failure);
    // Nodes done but not yet looked behind; joins, and all that a failure drops, are done as soon as it is their turn.
    struct cpu_item *done = &node->item;
    done->next_ready = NULL;
    while (done) {
        node = (struct cpu_node *)done;
        done = done->next_ready;
        graph->remaining--;
        for (int edge = node->first_edge; edge != CPU_NO_EDGE;) {
            struct cpu_node *dependent = &graph->nodes[edge / CPU_NODE_DEPENDENCIES];
            edge = dependent->next_edge[edge % CPU_NODE_DEPENDENCIES];
            if (--dependent->pending > 0)
                continue;
            if (dependent->item.kind == CPU_ITEM_JOIN || graph->failure) {
                dependent->item.next_ready = done;
                done = &dependent->item;
            } else {
                push_ready(device, &dependent->item);
            }
        }
    }
    if (graph->remaining == 0)
        finish_launch(graph);
}

// --- what follows ---------------------------------------------------------------------------------------------------

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
            push_ready(cpu_stream_device(stream), item);
            return;
        } else if (item->kind == CPU_ITEM_GRAPH && !dropped && !start_graph(stream, item)) {
            return;
        }
        finish_head(stream);
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
    advance_later(stream);
    settle(device);
}

void heddle_cpu_complete(struct cpu_device *device, struct cpu_item *item, heddle_status status)
{
    struct cpu_failure *failure = status == HEDDLE_OK ? NULL : heddle_cpu_failure_create(device, status);
    if (item->stream) {
        struct cpu_stream *stream = item->stream;
        stream->failure = failure;
        finish_head(stream);
        advance_later(stream);
    } else {
        finish_node((struct cpu_node *)item, failure);
    }
    settle(device);
}
