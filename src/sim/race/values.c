// Whether racing stores stored the same value. Hooks run before a store, so the value is read afterwards: when the lane
// stops, or makes its next store that is asked about. Only the sites named in SIM_VALUES are asked about; a first run
// finds them, a second one tells.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/options.h"
#include "race/clock.h"
#include "report/report.h"
#include "watch/internal.h"

// The last value stored at an address, in the interval in which it was stored.
typedef struct stored {
    uintptr_t address;
    uint32_t launch_floor, stamp; // stamp only in shared memory
    unsigned site;
    int thread;
    uint64_t value[2];
    bool used;
} stored;

enum { TABLE = 1 << 16, MOST_OFFSETS = 4096 };

static uintptr_t asked[MOST_OFFSETS];
static size_t asked_count;
static stored *table;
static bool differs[SIM_SITES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void sim_values_start(void)
{
    const char *path = sim_options_get()->values;
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file)
        return;
    unsigned long long offset;
    while (asked_count < MOST_OFFSETS && fscanf(file, "%llu", &offset) == 1)
        asked[asked_count++] = sim_module_self()->base + (uintptr_t)offset;
    fclose(file);
    table = calloc(TABLE, sizeof *table);
}

bool sim_values_wanted(uintptr_t pc)
{
    for (size_t i = 0; table && i < asked_count; i++)
        if (asked[i] == pc)
            return true;
    return false;
}

bool sim_values_asked(unsigned site)
{
    return sim_sites[site].values;
}

bool sim_values_equal(unsigned one, unsigned other)
{
    return !differs[one] && !differs[other];
}

void sim_values_store(sim_worker *worker, unsigned site, uintptr_t address)
{
    sim_values_settle(worker);
    worker->watch->pending = (sim_pending_store){address, site, sim_sites[site].bytes, worker->thread};
}

void sim_values_settle(sim_worker *worker)
{
    sim_pending_store *pending = &worker->watch->pending;
    if (!pending->address || !table || !worker->block->clock) {
        pending->address = 0;
        return;
    }
    bool shared =
        worker->watch->shared.pages && pending->address - worker->watch->shared.base < worker->watch->shared.span;
    stored now = {.address = pending->address,
                  .launch_floor = sim_clock_floor,
                  .stamp = shared ? worker->block->clock->stamp : 0,
                  .site = pending->site,
                  .thread = pending->thread,
                  .used = true};
    memcpy(now.value, (const void *)pending->address, pending->bytes); // NOLINT(performance-no-int-to-ptr)
    pthread_mutex_lock(&lock);
    stored *last = &table[(pending->address >> 2) % TABLE];
    bool same_time = last->used && last->address == now.address && last->launch_floor == now.launch_floor &&
                     last->stamp == now.stamp;
    if (same_time && memcmp(last->value, now.value, sizeof now.value) != 0)
        differs[last->site] = differs[now.site] = true;
    *last = now;
    pthread_mutex_unlock(&lock);
    pending->address = 0;
}
