// Whether racing stores stored the same value. Hooks run before a store, so the value is read afterwards: when the lane
// stops, or makes its next store that is asked about. Only the sites named in SIM_VALUES are asked about; a first run
// finds them, a second one tells.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "machine/options.h"
#include "program/program.h"
#include "race/clock.h"
#include "race/race.h"
#include "race/site.h"
#include "race/values.h"

// The last value stored at an address, in the interval in which it was stored.
typedef struct stored {
    uintptr_t address;     // 0: free
    uint32_t floor, stamp; // stamp only in shared memory
    unsigned site;
    uint64_t value[2];
} stored;

enum { FIRST_ROOM = 1 << 12, MOST_ROOM = 1 << 21 };

// An open table of what the launch that began with this stamp has stored.
static stored *table;
static size_t used, room;
static uint32_t launch;
static bool differs[SIM_SITES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool sim_values_equal(unsigned one, unsigned other)
{
    return !differs[one] && !differs[other];
}

void sim_values_store(sim_worker *worker, unsigned site, uintptr_t address)
{
    sim_values_settle(worker);
    worker->race->pending = (sim_pending_store){address, site, sim_sites[site].bytes};
}

static stored *slot_of(stored *in, size_t size, uintptr_t address)
{
    size_t at = (size_t)(address * 0x9e3779b97f4a7c15u >> 20) & (size - 1);
    while (in[at].address != 0 && in[at].address != address)
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
            *slot_of(made, larger, table[i].address) = table[i];
    free(table);
    table = made;
    room = larger;
    return true;
}

static void forget_launch(void)
{
    if (used)
        memset(table, 0, room * sizeof *table);
    used = 0;
    launch = sim_clock_begun;
}

// Where so much is stored that not all of it can be compared, it is taken to differ.
static void compare(const stored *now)
{
    if (launch != sim_clock_begun)
        forget_launch();
    if (2 * (used + 1) > room && !grow()) {
        differs[now->site] = true;
        return;
    }
    stored *last = slot_of(table, room, now->address);
    bool same_time = last->address && last->floor == now->floor && last->stamp == now->stamp;
    if (same_time && memcmp(last->value, now->value, sizeof now->value) != 0)
        differs[last->site] = differs[now->site] = true;
    used += last->address == 0;
    *last = *now;
}

void sim_values_settle(sim_worker *worker)
{
    sim_pending_store *pending = &worker->race->pending;
    uintptr_t address = pending->address;
    pending->address = 0;
    if (!address || !worker->block->clock)
        return;
    const sim_region *shared = &worker->race->shared;
    bool in_shared = shared->pages && address - shared->base < shared->span;
    stored now = {.address = address,
                  .floor = sim_clock_floor,
                  .stamp = in_shared ? worker->block->clock->stamp : 0,
                  .site = pending->site};
    memcpy(now.value, (const void *)address, pending->bytes); // NOLINT(performance-no-int-to-ptr)
    pthread_mutex_lock(&lock);
    compare(&now);
    pthread_mutex_unlock(&lock);
}
