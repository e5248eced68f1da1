// Copies that a kernel asked for and has not waited for yet: one queue for each CUDA thread (cp.async), one for each
// phase of a barrier (cuda::memcpy_async). They only wait here; the thread that waits for them makes them, and
// announces them.
#include "sim/library.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "machine/worker.h"
#include "race/under_way.h"
#include "watch/internal.h"

typedef struct queued {
    sim_copy copy;
    uint64_t batch;
} queued;

typedef struct queue {
    struct queue *next;
    uint64_t launch, block; // whose it is: queues of ended launches are thrown away
    const void *barrier;    // NULL: a thread's
    unsigned phase;
    queued *items;
    size_t first, count, room;
    uint64_t committed; // batches
    unsigned being_made;
} queue;

// Of one worker, touched by it alone.
typedef struct queues {
    queue *of_thread[SIM_THREADS], *of_barriers;
} queues;

enum { MOST_WORKERS = 1024, FIRST_ROOM = 16 };
static queues *workers[MOST_WORKERS];

static void leave_all(sim_worker *worker);

static queues *queues_here(void)
{
    sim_async_left = leave_all;
    queues **mine = &workers[sim_current->number % MOST_WORKERS];
    if (!*mine)
        *mine = calloc(1, sizeof **mine);
    return *mine;
}

static void queue_free(queue *old)
{
    free(old->items);
    free(old);
}

// All copies of a phase of a barrier have been made. A thread's queue is kept for its count of batches.
static bool is_done(const queue *one)
{
    return one->barrier && one->first == one->count && one->being_made == 0;
}

// The queue with this owner in a list; made where there is none and `make` is set. Those that nobody needs any more are
// thrown away on the way: a pipeline has a phase for each of its steps.
static queue *queue_find(queue **list, const void *barrier, unsigned phase, bool make)
{
    uint64_t launch = sim_current->launch->number, block = sim_current->block->number;
    for (queue **at = list; *at;) {
        queue *one = *at;
        if (one->launch == launch && one->block == block && one->barrier == barrier && one->phase == phase)
            return one;
        if (one->launch != launch || is_done(one)) {
            *at = one->next;
            queue_free(one);
            continue;
        }
        at = &one->next;
    }
    if (!make)
        return NULL;
    queue *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    *made = (queue){.next = *list, .launch = launch, .block = block, .barrier = barrier, .phase = phase};
    *list = made;
    return made;
}

static void queue_add(queue *to, const sim_copy *copy)
{
    if (!to)
        return;
    if (to->first == to->count)
        to->first = to->count = 0;
    if (to->count == to->room) {
        size_t room = to->room ? to->room * 2 : FIRST_ROOM;
        queued *items = realloc(to->items, room * sizeof *items);
        if (!items)
            return;
        to->items = items;
        to->room = room;
    }
    to->items[to->count++] = (queued){*copy, to->committed};
}

static queue *thread_queue(bool make)
{
    queues *mine = queues_here();
    return mine ? queue_find(&mine->of_thread[sim_current->thread], NULL, 0, make) : NULL;
}

void sim_copy_add(const sim_copy *copy)
{
    queue_add(thread_queue(true), copy);
}

void sim_copy_commit(void)
{
    queue *mine = thread_queue(true);
    if (mine)
        mine->committed++;
}

int sim_copy_next(unsigned batches, sim_copy *copy)
{
    queue *mine = thread_queue(false);
    if (!mine || mine->first == mine->count || mine->items[mine->first].batch + batches >= mine->committed)
        return 0;
    *copy = mine->items[mine->first++].copy;
    return 1;
}

static queue *barrier_queue(const void *barrier, unsigned phase, bool make)
{
    queues *mine = queues_here();
    return mine ? queue_find(&mine->of_barriers, barrier, phase, make) : NULL;
}

void sim_copy_add_to(const void *barrier, unsigned phase, const sim_copy *copy)
{
    queue_add(barrier_queue(barrier, phase, true), copy);
}

int sim_copy_next_for(const void *barrier, unsigned phase, sim_copy *copy, unsigned mine)
{
    queue *its = barrier_queue(barrier, phase, false);
    if (!its)
        return 0;
    if (its->first == its->count)
        return its->being_made > mine ? -1 : 0;
    *copy = its->items[its->first++].copy;
    its->being_made++;
    return 1;
}

void sim_copy_made_for(const void *barrier, unsigned phase, unsigned made)
{
    queue *its = barrier_queue(barrier, phase, false);
    if (its)
        its->being_made -= made;
}

void sim_copy_make(const sim_copy *copy)
{
    memcpy(copy->to, copy->from, copy->bytes);
    memset((char *)copy->to + copy->bytes, 0, copy->zeros);
}

// The block has ended, and its queues with it: the next block's would be looked for behind them.
static void leave(sim_worker *worker, queue **list, int thread)
{
    for (queue **at = list; *at;) {
        queue *one = *at;
        if (one->launch != worker->launch->number || one->block != worker->block->number) {
            at = &one->next;
            continue;
        }
        for (size_t i = one->first; i < one->count; i++) {
            const sim_copy *copy = &one->items[i].copy;
            sim_under_way_left(worker, thread, (uintptr_t)copy->to, copy->bytes + copy->zeros, copy->place);
        }
        *at = one->next;
        queue_free(one);
    }
}

static void leave_all(sim_worker *worker)
{
    queues *mine = workers[worker->number % MOST_WORKERS];
    for (int thread = 0; mine && thread < worker->launch->threads; thread++)
        leave(worker, &mine->of_thread[thread], thread);
    if (mine)
        leave(worker, &mine->of_barriers, 0);
}

void sim_copy_aligned(const void *to, const void *from, size_t bytes)
{
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    if (sim_watching && (uintptr_t)from % bytes != 0)
        sim_fail_misaligned(sim_current, (uintptr_t)from, (unsigned)bytes, SIM_READ, pc);
    if (sim_watching && (uintptr_t)to % bytes != 0)
        sim_fail_misaligned(sim_current, (uintptr_t)to, (unsigned)bytes, SIM_WRITE, pc);
}

uintptr_t sim_copy_issued(const sim_copy *copy)
{
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    sim_async_note((uintptr_t)copy->to, copy->bytes + copy->zeros, SIM_COPY_ISSUED, pc, 0);
    return pc;
}

void sim_copy_landed(const sim_copy *copy)
{
    sim_async_note((uintptr_t)copy->from, copy->bytes, SIM_COPY_SOURCE, copy->place, 0);
    sim_async_note((uintptr_t)copy->to, copy->bytes + copy->zeros, SIM_COPY_LANDED,
                   (uintptr_t)__builtin_return_address(0), copy->place);
}
