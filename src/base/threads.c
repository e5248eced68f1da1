// The thread pool. A run is published under a new generation number; every worker owns a slice of the indices and helps
// the others when its own is done, so that a worker that sleeps or is slow holds nobody up and neighbouring runs touch
// the same data from the same core. Which cores there are is left to cores.c.

#include "base/threads.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/futex.h"
#include "base/spawn.h"
#include "base/text.h"

enum {
    MAX_THREADS = 1024,
    LINE = 128,       // bytes kept apart so that cores do not fight over a line (adjacent-line prefetch included)
    INDEX_BITS = 31,  // an int that is not negative
    NAME_SIZE = 16,   // what the kernel keeps of a thread's name
    ALREADY_OVER = -1 // claim: nothing left in this slice
};

// Covers the gaps between the parallel regions of a training step; longer idleness is worth a sleep.
static const double spin_seconds = 40e-6;

// Next index of one worker's slice, below the generation it belongs to: a claim for an older run cannot succeed.
struct cursor {
    _Alignas(LINE) _Atomic uint64_t value;
};

struct helper {
    heddle_pool *pool;
    pthread_t thread;
    int number;
};

struct heddle_pool {
    int threads;
    double spin; // seconds before a waiting thread sleeps
    void *companion;
    pthread_mutex_t turn;
    struct helper *helpers; // threads - 1 of them, numbered from 1
    struct cursor *cursors; // one a worker

    // The run under way. A late helper may read these while the next run is being written: atomic, and written only
    // after every cursor has left the old generation, so that none of its claims can succeed then.
    _Atomic(heddle_task *) task;
    _Atomic(void *) context;
    atomic_int count;

    _Alignas(LINE) atomic_uint generation;
    atomic_int sleepers;
    atomic_bool stop;
    _Alignas(LINE) atomic_uint remaining; // indices of the run not done yet
    atomic_bool caller_sleeps;
};

// The pools whose task this thread is in, innermost first.
struct frame {
    const heddle_pool *pool;
    int worker;
    struct frame *outer;
};

static _Thread_local struct frame *innermost;

static const struct frame *find_frame(const heddle_pool *pool)
{
    const struct frame *frame = innermost;
    while (frame && frame->pool != pool)
        frame = frame->outer;
    return frame;
}

static int slice_begin(int count, int threads, int worker)
{
    return (int)((int64_t)count * worker / threads);
}

static uint64_t cursor_value(unsigned generation, int index)
{
    return (uint64_t)generation << INDEX_BITS | (uint64_t)index;
}

static int claim(struct cursor *cursor, unsigned generation, int end)
{
    uint64_t seen = atomic_load_explicit(&cursor->value, memory_order_acquire);
    // Success proves that the run is still this one: it cannot end, nor the next begin, before the claimed index is
    // done.
    while (seen >= cursor_value(generation, 0) && seen < cursor_value(generation, end)) {
        if (atomic_compare_exchange_weak_explicit(&cursor->value, &seen, seen + 1, memory_order_acq_rel,
                                                  memory_order_acquire))
            return (int)(seen - cursor_value(generation, 0));
    }
    return ALREADY_OVER;
}

static void work(heddle_pool *pool, int worker, unsigned generation)
{
    heddle_task *task = atomic_load_explicit(&pool->task, memory_order_acquire);
    void *context = atomic_load_explicit(&pool->context, memory_order_acquire);
    int count = atomic_load_explicit(&pool->count, memory_order_acquire);
    unsigned done = 0;
    for (int i = 0; i < pool->threads; i++) {
        int owner = (worker + i) % pool->threads;
        int end = slice_begin(count, pool->threads, owner + 1);
        int index;
        while ((index = claim(&pool->cursors[owner], generation, end)) != ALREADY_OVER) {
            task(context, index, worker);
            done++;
        }
    }
    if (done > 0 && atomic_fetch_sub(&pool->remaining, done) == done && atomic_load(&pool->caller_sleeps))
        heddle_futex_wake(&pool->remaining, 1);
}

static unsigned await_generation(heddle_pool *pool, unsigned seen)
{
    unsigned generation = atomic_load(&pool->generation);
    double deadline = heddle_now() + pool->spin;
    while (generation == seen && heddle_spin(deadline))
        generation = atomic_load_explicit(&pool->generation, memory_order_acquire);
    if (generation != seen)
        return generation;

    atomic_fetch_add(&pool->sleepers, 1);
    while ((generation = atomic_load(&pool->generation)) == seen)
        heddle_futex_wait(&pool->generation, seen);
    atomic_fetch_sub(&pool->sleepers, 1);
    return generation;
}

static void *help(void *context)
{
    const struct helper *helper = context;
    heddle_pool *pool = helper->pool;
    struct frame frame = {.pool = pool, .worker = helper->number, .outer = NULL};
    innermost = &frame;
    unsigned generation = 0;
    for (;;) {
        generation = await_generation(pool, generation);
        if (atomic_load(&pool->stop))
            return NULL;
        work(pool, helper->number, generation);
    }
}

static void announce(heddle_pool *pool, unsigned generation, int most)
{
    atomic_store(&pool->generation, generation);
    int sleepers = atomic_load(&pool->sleepers);
    if (sleepers > 0)
        heddle_futex_wake(&pool->generation, sleepers < most ? sleepers : most);
}

static void await_end(heddle_pool *pool)
{
    unsigned remaining = atomic_load_explicit(&pool->remaining, memory_order_acquire);
    double deadline = heddle_now() + pool->spin;
    while (remaining != 0 && heddle_spin(deadline))
        remaining = atomic_load_explicit(&pool->remaining, memory_order_acquire);
    if (remaining == 0)
        return;

    atomic_store(&pool->caller_sleeps, true);
    while ((remaining = atomic_load(&pool->remaining)) != 0)
        heddle_futex_wait(&pool->remaining, remaining);
    atomic_store(&pool->caller_sleeps, false);
}

static void run_together(heddle_pool *pool, int count, heddle_task *task, void *context)
{
    unsigned generation = atomic_load_explicit(&pool->generation, memory_order_relaxed) + 1;
    for (int worker = 0; worker < pool->threads; worker++)
        atomic_store_explicit(&pool->cursors[worker].value, cursor_value(generation, INT_MAX), memory_order_relaxed);
    atomic_store_explicit(&pool->task, task, memory_order_release);
    atomic_store_explicit(&pool->context, context, memory_order_release);
    atomic_store_explicit(&pool->count, count, memory_order_release);
    atomic_store_explicit(&pool->remaining, (unsigned)count, memory_order_relaxed);
    for (int worker = 0; worker < pool->threads; worker++)
        atomic_store_explicit(&pool->cursors[worker].value,
                              cursor_value(generation, slice_begin(count, pool->threads, worker)),
                              memory_order_release);
    announce(pool, generation, count - 1);
    work(pool, 0, generation);
    await_end(pool);
}

static void run_inline(int count, heddle_task *task, void *context, int worker)
{
    for (int i = 0; i < count; i++)
        task(context, i, worker);
}

void heddle_pool_run(heddle_pool *pool, int count, heddle_task *task, void *context)
{
    if (count <= 0)
        return;
    if (!pool) {
        run_inline(count, task, context, 0);
        return;
    }
    const struct frame *around = find_frame(pool);
    if (around) {
        run_inline(count, task, context, around->worker);
        return;
    }

    // The turn is taken even where no helper is needed: worker 0 must be one thread at a time.
    pthread_mutex_lock(&pool->turn);
    struct frame frame = {.pool = pool, .worker = 0, .outer = innermost};
    innermost = &frame;
    if (pool->threads == 1 || count == 1)
        run_inline(count, task, context, 0);
    else
        run_together(pool, count, task, context);
    innermost = frame.outer;
    pthread_mutex_unlock(&pool->turn);
}

static heddle_status start_helpers(heddle_pool *pool, int threads)
{
    for (int number = 1; number < threads; number++) {
        struct helper *helper = &pool->helpers[number - 1];
        *helper = (struct helper){.pool = pool, .number = number};
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "heddle-pool-%d", number);
        HEDDLE_TRY(heddle_thread_start(&helper->thread, name, help, helper));
        // Nothing runs before create returns, so a helper cannot see this change.
        pool->threads = number + 1;
    }
    return HEDDLE_OK;
}

heddle_status heddle_pool_create(int threads, heddle_pool **pool)
{
    *pool = NULL;
    if (threads < 0 || threads > MAX_THREADS)
        return heddle_fail(HEDDLE_INVALID, "%d threads requested; use 1 to %d, or 0 for one per core", threads,
                           MAX_THREADS);
    int cores = heddle_usable_cores();
    if (threads == 0)
        threads = cores < MAX_THREADS ? cores : MAX_THREADS;

    heddle_pool *made = aligned_alloc(LINE, sizeof *made);
    struct helper *helpers = calloc((size_t)threads, sizeof *helpers);
    struct cursor *cursors = aligned_alloc(LINE, (size_t)threads * sizeof *cursors);
    if (!made || !helpers || !cursors) {
        free(cursors);
        free(helpers);
        free(made);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for a pool of %d threads", threads);
    }
    *made = (heddle_pool){.threads = 1, .helpers = helpers, .cursors = cursors};
    // With more threads than cores, a spinning thread keeps the one it waits for from running.
    made->spin = threads <= cores ? spin_seconds : 0;
    for (int worker = 0; worker < threads; worker++)
        atomic_init(&cursors[worker].value, 0);
    pthread_mutex_init(&made->turn, NULL);

    heddle_status status = start_helpers(made, threads);
    if (status != HEDDLE_OK) {
        heddle_pool_destroy(made);
        return status;
    }
    *pool = made;
    return HEDDLE_OK;
}

void heddle_pool_destroy(heddle_pool *pool)
{
    if (!pool)
        return;
    atomic_store(&pool->stop, true);
    announce(pool, atomic_load(&pool->generation) + 1, MAX_THREADS);
    for (int i = 0; i < pool->threads - 1; i++)
        pthread_join(pool->helpers[i].thread, NULL);
    pthread_mutex_destroy(&pool->turn);
    free(pool->cursors);
    free(pool->helpers);
    free(pool);
}

void heddle_pool_set_companion(heddle_pool *pool, void *companion)
{
    pool->companion = companion;
}

void *heddle_pool_companion(const heddle_pool *pool)
{
    return pool ? pool->companion : NULL;
}

int heddle_pool_threads(const heddle_pool *pool)
{
    return pool ? pool->threads : 1;
}
