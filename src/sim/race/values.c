// Whether racing stores stored the same value. Hooks run before a store, so the value is read afterwards: when the
// thread stops, orders itself with others, or makes its next store that is asked about. Only the sites named in
// SIM_VALUES are asked about; a first run finds them, a second one tells.

#include "race/values.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "race/clock.h"
#include "race/race.h"
#include "race/site.h"

// The last value stored in each byte of a word, and when and from where (cell.h); 0: not stored.
typedef struct stored {
    uintptr_t address; // of the word; 0: free
    uint32_t block;    // in shared memory: whose; else 0
    unsigned char value[1 << SIM_WORD_SHIFT];
    uint64_t when[1 << SIM_WORD_SHIFT];
} stored;

enum { FIRST_ROOM = 1 << 12, MOST_ROOM = 1 << 21 };

// An open table of what the launch with this number has stored, and the kernels that it launched.
static stored *table;
static size_t used, room;
static uint64_t launch;
static bool differs[SIM_SITES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool sim_values_equal(unsigned one, unsigned other)
{
    return !differs[one] && !differs[other];
}

// The hook of one store may tell of it in pieces, all before it is made: they are read together.
void sim_values_store(sim_worker *worker, unsigned site, uintptr_t address, size_t bytes)
{
    sim_pending_store *pending = &worker->race->pending;
    if (!worker->block->clock)
        return;
    const uint64_t when = sim_clock_word(worker->block->clock, worker->thread) | (uint64_t)site << SIM_SITE_SHIFT;
    if (pending->address && pending->when == when && pending->address + pending->bytes == address) {
        pending->bytes += bytes;
        return;
    }
    sim_values_settle(worker);
    *pending = (sim_pending_store){address, bytes, when};
    worker->settles = true;
}

static stored *slot_of(stored *in, size_t size, uintptr_t word, uint32_t block)
{
    size_t at = (size_t)((word + block) * 0x9e3779b97f4a7c15u >> 20) & (size - 1);
    while (in[at].address != 0 && (in[at].address != word || in[at].block != block))
        at = (at + 1) & (size - 1);
    return &in[at];
}

static bool grow(void)
{
    size_t larger = room ? 2 * room : FIRST_ROOM;
    stored *made = larger <= MOST_ROOM ? calloc(larger, sizeof *made) : NULL;
    if (!made)
        return false;
    for (size_t i = 0; i < room; i++)
        if (table[i].address)
            *slot_of(made, larger, table[i].address, table[i].block) = table[i];
    free(table);
    table = made;
    room = larger;
    return true;
}

// The word's entry; NULL: so much is stored that not all of it can be compared.
static stored *entry_of(const sim_worker *worker, uintptr_t word, uint32_t block)
{
    if (launch != worker->launch->number) {
        if (used)
            memset(table, 0, room * sizeof *table);
        used = 0;
        launch = worker->launch->number;
    }
    if (2 * (used + 1) > room && !grow())
        return NULL;
    stored *entry = slot_of(table, room, word, block);
    used += entry->address == 0;
    entry->address = word;
    entry->block = block;
    return entry;
}

// What is ordered before this store may have been another value.
static bool races(const sim_worker *worker, uint64_t earlier, bool shared)
{
    return earlier && !sim_clock_ordered(worker->block->clock, worker->thread, sim_stamp_of(earlier),
                                         sim_thread_of(earlier), sim_clock_of(earlier), shared);
}

static void compare(const sim_worker *worker, const sim_pending_store *store, bool shared)
{
    const unsigned site = sim_site_of(store->when);
    const unsigned char *stored_bytes = (const unsigned char *)store->address; // NOLINT(performance-no-int-to-ptr)
    stored *entry = NULL;
    for (size_t i = 0; i < store->bytes; i++) {
        const uintptr_t at = store->address + i, word = at >> SIM_WORD_SHIFT << SIM_WORD_SHIFT;
        if (!entry || entry->address != word)
            entry = entry_of(worker, word, shared ? worker->block->clock->serial : 0);
        if (!entry) {
            differs[site] = true;
            return;
        }
        const size_t byte = at - word;
        const uint64_t earlier = entry->when[byte];
        if (entry->value[byte] != stored_bytes[i] && races(worker, earlier, shared))
            differs[sim_site_of(earlier)] = differs[site] = true;
        entry->value[byte] = stored_bytes[i];
        entry->when[byte] = store->when;
    }
}

void sim_values_settle(sim_worker *worker)
{
    const sim_pending_store store = worker->race->pending;
    worker->race->pending.address = 0;
    worker->settles = false;
    if (!store.address || !worker->block->clock)
        return;
    const sim_region *shared = &worker->race->shared;
    bool in_shared = shared->pages && store.address - shared->base < shared->span;
    pthread_mutex_lock(&lock);
    compare(worker, &store, in_shared);
    pthread_mutex_unlock(&lock);
}
