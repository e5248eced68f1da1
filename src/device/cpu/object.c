// Items, marks and failures. Items and marks are recycled, so that a stream in steady use allocates nothing.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cpu/cpu.h"

enum {
    MOST_FREE_ITEMS = 4096, // 2 MiB kept; a burst beyond that goes back to the system
    FIRST_FREE_ITEMS = 64,  // more than a training step queues, however far it runs ahead of the executors
};

struct cpu_item *heddle_cpu_item_create(struct cpu_device *device, enum cpu_item_kind kind)
{
    struct cpu_item *item = device->free_items;
    if (item) {
        device->free_items = item->next;
        device->free_item_count--;
    } else {
        item = malloc(sizeof *item);
        if (!item) {
            heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to queue work on a cpu stream");
            return NULL;
        }
    }
    // All but the arguments, which are the bulk of it and are written next.
    memset(item, 0, offsetof(struct cpu_item, arguments));
    item->kind = kind;
    return item;
}

heddle_status heddle_cpu_reserve_items(struct cpu_device *device)
{
    while (device->free_item_count < FIRST_FREE_ITEMS) {
        struct cpu_item *item = malloc(sizeof *item);
        if (!item)
            return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the queues of the cpu device");
        item->next = device->free_items;
        device->free_items = item;
        device->free_item_count++;
    }
    return HEDDLE_OK;
}

void heddle_cpu_item_release(struct cpu_device *device, struct cpu_item *item)
{
    free(item->large_arguments);
    heddle_cpu_mark_release(device, item->mark);
    if (item->kind == CPU_ITEM_GRAPH)
        heddle_cpu_graph_release(item->graph);
    if (device->free_item_count >= MOST_FREE_ITEMS) {
        free(item);
        return;
    }
    item->next = device->free_items;
    device->free_items = item;
    device->free_item_count++;
}

bool heddle_cpu_item_set_work(struct cpu_item *item, heddle_work *work, const void *arguments, size_t size)
{
    item->work = work;
    void *place = item->arguments;
    if (size > CPU_INLINE_ARGUMENTS) {
        place = item->large_arguments = malloc(size);
        if (!place) {
            heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the arguments of queued work (%zu bytes)", size);
            return false;
        }
    }
    if (size > 0)
        memcpy(place, arguments, size);
    return true;
}

const void *heddle_cpu_item_arguments(const struct cpu_item *item)
{
    return item->large_arguments ? item->large_arguments : item->arguments;
}

struct cpu_mark *heddle_cpu_mark_create(struct cpu_device *device)
{
    struct cpu_mark *mark = device->free_marks;
    if (mark)
        device->free_marks = mark->next_free;
    else
        mark = malloc(sizeof *mark);
    if (!mark) {
        heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to record an event");
        return NULL;
    }
    *mark = (struct cpu_mark){.references = 1};
    return mark;
}

void heddle_cpu_mark_release(struct cpu_device *device, struct cpu_mark *mark)
{
    if (!mark || --mark->references > 0)
        return;
    heddle_cpu_failure_release(mark->failure);
    mark->next_free = device->free_marks;
    device->free_marks = mark;
}

// For when there is no memory to say what failed: shared by all, never freed.
static struct cpu_failure failure_without_memory = {
    .order = UINT64_MAX,
    .status = HEDDLE_OUT_OF_MEMORY,
    .message = "work on a cpu stream failed, and there was no memory to keep its message",
};

struct cpu_failure *heddle_cpu_failure_create(struct cpu_device *device, heddle_status status)
{
    struct cpu_failure *failure = malloc(sizeof *failure);
    if (!failure)
        return &failure_without_memory;
    failure->references = 1;
    failure->order = ++device->failures;
    failure->status = status;
    snprintf(failure->message, sizeof failure->message, "%s", heddle_last_error());
    return failure;
}

struct cpu_failure *heddle_cpu_failure_share(struct cpu_failure *failure)
{
    if (failure && failure != &failure_without_memory)
        failure->references++;
    return failure;
}

void heddle_cpu_failure_release(struct cpu_failure *failure)
{
    if (failure && failure != &failure_without_memory && --failure->references == 0)
        free(failure);
}

void heddle_cpu_free_objects(struct cpu_device *device)
{
    while (device->free_items) {
        struct cpu_item *item = device->free_items;
        device->free_items = item->next;
        free(item);
    }
    while (device->free_marks) {
        struct cpu_mark *mark = device->free_marks;
        device->free_marks = mark->next_free;
        free(mark);
    }
}
