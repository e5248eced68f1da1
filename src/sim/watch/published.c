// Pointers to shared memory that a block leaves in global memory. Here every block that runs on a worker has its shared
// variables at the same addresses, so that another block's use of such a pointer would find memory of its own. When a
// block ends or gives way to another, the pointers that it has stored are turned away, to addresses where nothing is;
// when it comes back, they are what they were. In the same way pointers to local memory are turned away while another
// thread than their own runs: here all threads can reach all stacks.

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
enum { SLACK = 1 << 20, TOLD = 64, SHARED = -1 };

uint8_t sim_published_none[SIM_SITES];

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// Addresses that stand for shared memory of blocks that are away, and behind that for local memory; 0: none.
static uintptr_t nowhere;
static size_t nowhere_bytes, nowhere_shared;

// Where pointers were stored that have been turned away: the last ones.
static struct {
    uintptr_t value, pc;
} told[TOLD];
static size_t told_count;

static void reserve_nowhere(void)
{
    nowhere_shared = sim_module_self()->tls_bytes + 2 * (size_t)SLACK;
    nowhere_bytes = nowhere_shared + 3 * (size_t)SLACK;
    void *range = mmap(NULL, nowhere_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    nowhere = range == MAP_FAILED ? 0 : (uintptr_t)range;
}

static bool in_shared(const sim_worker *worker, uintptr_t address)
{
    return address - worker->thread_local_lo < worker->thread_local_hi - worker->thread_local_lo;
}

static bool in_local(const sim_worker *worker, uintptr_t address)
{
    return address - worker->stacks_lo < worker->stacks_hi - worker->stacks_lo;
}

static bool is_of_block(const sim_worker *worker, const sim_published_word *one)
{
    return one->block == worker->block;
}

static void look_whether_lends(sim_worker *worker)
{
    const struct sim_published *all = &worker->watch->published;
    worker->lends = false;
    for (unsigned i = 0; i < all->count; i++)
        worker->lends |= is_of_block(worker, &all->at[i]) && all->at[i].thread != SHARED;
}

static sim_published_word *slot_of(sim_worker *worker, uintptr_t word)
{
    struct sim_published *all = &worker->watch->published;
    for (unsigned i = 0; i < all->count; i++)
        if (all->at[i].word == word && is_of_block(worker, &all->at[i]))
            return &all->at[i];
    return all->count < SIM_PUBLISHED ? &all->at[all->count++] : NULL;
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
    one->away = one->thread == SHARED ? nowhere + SLACK + (one->value - worker->thread_local_lo)
                                      : nowhere + nowhere_shared + SLACK + one->value % SLACK;
    exchange(one->word, one->value, one->away);
    pthread_mutex_lock(&lock);
    const size_t last = told_count ? (told_count - 1) % TOLD : 0;
    if (!told_count || told[last].value != one->away || told[last].pc != one->pc) {
        told[told_count % TOLD].value = one->away;
        told[told_count++ % TOLD].pc = one->pc;
    }
    pthread_mutex_unlock(&lock);
}

static void turn_back(sim_published_word *one)
{
    if (one->away && is_there(one->word))
        exchange(one->word, one->away, one->value);
    one->away = 0;
}

// --- what a warp has stored -----------------------------------------------------------------------------------------

static bool is_own(sim_worker *worker, int thread, uintptr_t value)
{
    if (!in_local(worker, value))
        return false;
    const int current = worker->thread;
    worker->thread = thread;
    const uintptr_t top = sim_scheduler->stack_top(worker);
    worker->thread = current;
    return top - value <= sim_options_get()->stack;
}

// The current thread may go on with its own pointer only when it is entered again, which is where merging ends.
static void note(sim_worker *worker, uintptr_t word, uintptr_t value, uintptr_t pc, int thread)
{
    sim_published_word *one = slot_of(worker, word);
    if (!one)
        return;
    *one = (sim_published_word){worker->block, word, value, 0, pc, thread};
    if (thread == SHARED)
        return;
    worker->lends = true;
    turn_away(worker, one);
}

static void note_run(sim_worker *worker, const sim_stretch *run, size_t words, const sim_site *about)
{
    const uintptr_t *stored = (const uintptr_t *)run->address; // NOLINT(performance-no-int-to-ptr)
    const bool into_shared = in_shared(worker, run->address);
    for (size_t i = 0; i < words; i++) {
        const uintptr_t word = run->address + i * sizeof *stored, value = stored[i];
        const int lane = run->first + (run->stride ? (int)(i * sizeof *stored / run->stride) : 0);
        const int thread = worker->warp * SIM_LANES + lane;
        if (in_shared(worker, value) && !into_shared)
            note(worker, word, value, about->pc, SHARED);
        else if (is_own(worker, thread, value))
            note(worker, word, value, about->pc, thread);
    }
}

void sim_published_row(sim_worker *worker, const sim_row *row)
{
    const sim_site *about = &sim_sites[row->site];
    uint8_t *none = &sim_published_none[row->site];
    if (about->kind != SIM_WRITE || about->bytes < sizeof(uintptr_t)) {
        *none = SIM_PUBLISHED_LOOKS;
        return;
    }
    const uintptr_t low = worker->thread_local_lo, span = worker->thread_local_hi - low;
    const uintptr_t stacks = worker->stacks_lo, stacks_span = worker->stacks_hi - stacks;
    bool found = false;
    for (int i = 0; i < row->runs; i++) {
        const sim_stretch *run = &row->run[i];
        if (run->address % sizeof(uintptr_t) != 0)
            continue;
        const uintptr_t *stored = (const uintptr_t *)run->address; // NOLINT(performance-no-int-to-ptr)
        const size_t words = sim_stretch_span(run, about->bytes) / sizeof *stored;
        bool any = false;
        for (size_t at = 0; at < words; at++)
            any |= (stored[at] - low < span) | (stored[at] - stacks < stacks_span);
        if (any)
            note_run(worker, run, words, about);
        found |= any;
    }
    if (!found && *none < SIM_PUBLISHED_LOOKS)
        ++*none;
}

void sim_watch_lends(sim_worker *worker, bool enters)
{
    struct sim_published *all = &worker->watch->published;
    for (unsigned i = 0; i < all->count; i++) {
        sim_published_word *one = &all->at[i];
        if (!is_of_block(worker, one) || one->thread != worker->thread)
            continue;
        if (enters)
            turn_back(one);
        else
            turn_away(worker, one);
    }
}

// --- blocks ---------------------------------------------------------------------------------------------------------

void sim_published_begin(sim_worker *worker)
{
    worker->lends = false;
}

void sim_published_park(sim_worker *worker)
{
    struct sim_published *all = &worker->watch->published;
    for (unsigned i = 0; i < all->count; i++)
        if (is_of_block(worker, &all->at[i]))
            turn_away(worker, &all->at[i]);
    worker->lends = false;
}

// Those of a thread come back with the thread.
void sim_published_resume(sim_worker *worker)
{
    struct sim_published *all = &worker->watch->published;
    for (unsigned i = 0; i < all->count; i++)
        if (is_of_block(worker, &all->at[i]) && all->at[i].thread == SHARED)
            turn_back(&all->at[i]);
    look_whether_lends(worker);
}

void sim_published_end(sim_worker *worker)
{
    struct sim_published *all = &worker->watch->published;
    sim_published_park(worker);
    for (unsigned i = all->count; i-- > 0;)
        if (is_of_block(worker, &all->at[i]))
            all->at[i] = all->at[--all->count];
}

// --- asking ---------------------------------------------------------------------------------------------------------

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
        const bool shared = address - nowhere < nowhere_shared;
        const uintptr_t own = shared ? worker->thread_local_lo + (address - nowhere - SLACK) : 0;
        *found = (sim_foreign){own, stored_at(address)};
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
