// Pointers to shared memory that a block leaves in global memory. Here every block that runs on a worker has its shared
// variables at the same addresses, so that another block's use of such a pointer would find memory of its own. When a
// block ends or gives way to another, the pointers that it has stored are turned away, to addresses where nothing is;
// when it comes back, they are what they were.

#include "watch/published.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "machine/errors.h"
#include "machine/options.h"
#include "memory/memory.h"
#include "program/program.h"
#include "watch/internal.h"

// An index may lead away from the pointer.
enum { SLACK = 1 << 20, TOLD = 64 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t nowhere; // addresses that stand for shared memory of blocks that are away; 0: none
static size_t nowhere_bytes;

// Where pointers were stored that have been turned away: the last ones.
static struct {
    uintptr_t value, pc;
} told[TOLD];
static size_t told_count;

static void reserve_nowhere(void)
{
    nowhere_bytes = sim_module_self()->tls_bytes + 2 * (size_t)SLACK;
    void *range = mmap(NULL, nowhere_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    nowhere = range == MAP_FAILED ? 0 : (uintptr_t)range;
}

static bool in_shared(const sim_worker *worker, uintptr_t address)
{
    return address - worker->thread_local_lo < worker->thread_local_hi - worker->thread_local_lo;
}

void sim_published_begin(sim_worker *worker)
{
    size_t variables;
    sim_shared_variables(&variables);
    worker->watch->publishes = variables > 0 || worker->launch->config.shared > 0;
}

static void note(sim_worker *worker, uintptr_t word, uintptr_t value, uintptr_t pc)
{
    struct sim_published *all = &worker->watch->published;
    const sim_published_word made = {worker->block, word, value, 0, pc};
    unsigned at = 0;
    while (at < all->count && (all->at[at].word != word || all->at[at].block != worker->block))
        at++;
    if (at == SIM_PUBLISHED)
        return;
    all->at[at] = made;
    all->count += at == all->count;
}

static void note_run(sim_worker *worker, uintptr_t start, size_t words, uintptr_t pc)
{
    const uintptr_t *stored = (const uintptr_t *)start; // NOLINT(performance-no-int-to-ptr)
    for (size_t i = 0; i < words; i++)
        if (in_shared(worker, stored[i]))
            note(worker, start + i * sizeof *stored, stored[i], pc);
}

void sim_published_row(sim_worker *worker, const sim_row *row)
{
    const sim_site *about = &sim_sites[row->site];
    const uintptr_t low = worker->thread_local_lo, span = worker->thread_local_hi - low;
    for (int i = 0; i < row->runs; i++) {
        const sim_stretch *run = &row->run[i];
        if (run->address % sizeof(uintptr_t) != 0 || run->address - low < span)
            continue;
        const uintptr_t *stored = (const uintptr_t *)run->address; // NOLINT(performance-no-int-to-ptr)
        const size_t words = sim_stretch_span(run, about->bytes) / sizeof *stored;
        bool any = false;
        for (size_t at = 0; at < words; at++)
            any |= stored[at] - low < span;
        if (any)
            note_run(worker, run->address, words, about->pc);
    }
}

static void exchange(uintptr_t word, uintptr_t from, uintptr_t to)
{
    uintptr_t expected = from;
    __atomic_compare_exchange_n((uintptr_t *)word, &expected, to, false, // NOLINT(performance-no-int-to-ptr)
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static bool is_there(uintptr_t word)
{
    sim_allocation found;
    return word - sim_memory_base >= sim_memory_span || sim_memory_find(word, &found);
}

static void turn_away(const sim_worker *worker, sim_published_word *one)
{
    pthread_once(&once, reserve_nowhere);
    if (!nowhere || one->away || !is_there(one->word))
        return;
    one->away = nowhere + SLACK + (one->value - worker->thread_local_lo);
    exchange(one->word, one->value, one->away);
    pthread_mutex_lock(&lock);
    told[told_count % TOLD].value = one->away;
    told[told_count++ % TOLD].pc = one->pc;
    pthread_mutex_unlock(&lock);
}

void sim_published_park(sim_worker *worker)
{
    struct sim_published *all = &worker->watch->published;
    for (unsigned i = 0; i < all->count; i++)
        if (all->at[i].block == worker->block)
            turn_away(worker, &all->at[i]);
}

void sim_published_resume(sim_worker *worker)
{
    struct sim_published *all = &worker->watch->published;
    for (unsigned i = 0; i < all->count; i++) {
        sim_published_word *one = &all->at[i];
        if (one->block != worker->block || !one->away)
            continue;
        if (is_there(one->word))
            exchange(one->word, one->away, one->value);
        one->away = 0;
    }
}

void sim_published_end(sim_worker *worker)
{
    struct sim_published *all = &worker->watch->published;
    sim_published_park(worker);
    for (unsigned i = all->count; i-- > 0;)
        if (all->at[i].block == worker->block)
            all->at[i] = all->at[--all->count];
}

static uintptr_t stored_at(uintptr_t address)
{
    uintptr_t pc = 0;
    size_t nearest = SIZE_MAX;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < TOLD && i < told_count; i++) {
        const size_t apart = address > told[i].value ? address - told[i].value : told[i].value - address;
        if (apart < nearest) {
            nearest = apart;
            pc = told[i].pc;
        }
    }
    pthread_mutex_unlock(&lock);
    return pc;
}

bool sim_published_find(const sim_worker *worker, uintptr_t address, sim_foreign *found)
{
    if (nowhere && address - nowhere < nowhere_bytes) {
        *found = (sim_foreign){worker->thread_local_lo + (address - nowhere - SLACK), stored_at(address)};
        return true;
    }
    for (int i = 0; i < sim_workers; i++) {
        const sim_worker *other = sim_worker_at(i);
        if (other && other != worker && in_shared(other, address)) {
            *found = (sim_foreign){worker->thread_local_lo + (address - other->thread_local_lo), 0};
            return true;
        }
    }
    return false;
}
