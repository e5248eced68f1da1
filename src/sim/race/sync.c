// The words through which threads have handed on what they know.

#include "race/sync.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "machine/options.h"
#include "race/clock.h"
#include "race/handed.h"
#include "race/sequence.h"
#include "race/site.h"
#include "race/unfenced.h"

// What a word carries, for anybody (block 0), or for the threads of one block.
typedef struct carrier {
    uintptr_t address; // 0: free
    uint32_t block;    // serial number, from 1
    uint32_t age; // of block 0: stores so far, each of which starts anew; of others: that number when they were written
    sim_knowledge *carried;
} carrier;

// An open table; cleared with each launch, so that it stays small. Programs with atomics run on one worker.
static carrier *carriers;
static size_t used, room;
enum { FIRST_ROOM = 256 };

void sim_sync_launch_begin(void)
{
    for (size_t i = 0; i < room; i++)
        sim_knowledge_drop(carriers[i].carried);
    if (carriers)
        memset(carriers, 0, room * sizeof *carriers);
    used = 0;
    sim_sequence_launch_begin();
}

static size_t slot_of(const carrier *table, size_t size, uintptr_t address, uint32_t block)
{
    size_t at = (size_t)(((address >> 2) + (uintptr_t)block * 0x10001) * 0x9e3779b97f4a7c15u >> 20) & (size - 1);
    while (table[at].address != 0 && (table[at].address != address || table[at].block != block))
        at = (at + 1) & (size - 1);
    return at;
}

static bool grow(void)
{
    size_t larger = room ? 2 * room : FIRST_ROOM;
    carrier *table = calloc(larger, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < room; i++)
        if (carriers[i].address)
            table[slot_of(table, larger, carriers[i].address, carriers[i].block)] = carriers[i];
    free(carriers);
    carriers = table;
    room = larger;
    return true;
}

static carrier *find(uintptr_t address, uint32_t block)
{
    if (room == 0)
        return NULL;
    carrier *found = &carriers[slot_of(carriers, room, address, block)];
    return found->address ? found : NULL;
}

// May move other carriers: find those again.
static carrier *find_or_make(uintptr_t address, uint32_t block)
{
    if (2 * (used + 1) > room && !grow())
        return NULL;
    carrier *found = &carriers[slot_of(carriers, room, address, block)];
    if (!found->address) {
        *found = (carrier){.address = address, .block = block};
        used++;
    }
    return found;
}

// Shared memory of different blocks has the same addresses on one worker: what is carried there is for one block.
static bool is_shared(const sim_worker *worker, uintptr_t address)
{
    return address - worker->thread_local_lo < worker->thread_local_hi - worker->thread_local_lo;
}

// near: a thread of the same block has handed it on.
static void learn(sim_worker *worker, unsigned site, sim_knowledge *carried, bool near)
{
    sim_block_clock *clock = worker->block->clock;
    int thread = worker->thread;
    sim_knowledge *before = sim_knowledge_keep(clock->known[thread]);
    sim_knowledge_learn(&clock->known[thread], carried);
    clock->learned = true;
    if (sim_sites[site].kind == SIM_ATOMIC && (sim_sites[site].what & SIM_ATOMIC_ACQUIRE))
        sim_unfenced_acquired(clock, thread, carried);
    else
        sim_unfenced_saw(clock, thread, before, near ? carried : NULL, site);
    sim_knowledge_drop(before);
}

static void acquire(sim_worker *worker, unsigned site, uintptr_t address, int scope)
{
    const sim_block_clock *clock = worker->block->clock;
    const carrier *wide = find(address, 0), *narrow = find(address, clock->serial);
    if (!wide)
        return;
    // A block-scope read still takes over what its own block has released more widely: that is in narrow too.
    if (narrow && narrow->carried && narrow->age == wide->age)
        learn(worker, site, narrow->carried, true);
    if (wide->carried && scope != SIM_SCOPE_BLOCK && !is_shared(worker, address))
        learn(worker, site, wide->carried, false);
}

static void release(sim_worker *worker, uintptr_t address, int scope, bool update, const sim_fenced *fenced)
{
    if (!fenced->block && !fenced->device && (update || !find(address, 0)))
        return;
    uint32_t serial = worker->block->clock->serial;
    if (!find_or_make(address, 0))
        return;
    carrier *narrow = find_or_make(address, serial);
    carrier *wide = find(address, 0); // making the other may have moved it
    if (!narrow || !wide)
        return;
    // A plain store starts anew; an update goes on with the chain of releases before it.
    if (!update) {
        wide->age++;
        sim_knowledge_drop(wide->carried);
        wide->carried = NULL;
    }
    if (narrow->age != wide->age) {
        sim_knowledge_drop(narrow->carried);
        narrow->carried = NULL;
        narrow->age = wide->age;
    }
    sim_knowledge_learn(&narrow->carried, fenced->block);
    sim_knowledge_learn(&narrow->carried, fenced->device);
    if (scope != SIM_SCOPE_BLOCK && !is_shared(worker, address))
        sim_knowledge_learn(&wide->carried, fenced->device);
}

// How an access takes part in the order of threads: an atomic as its site says, a volatile one in the widest scope.
typedef struct part {
    int scope;
    unsigned what;
    bool reads, update;
} part;

static part part_of(const sim_site *about)
{
    if (about->kind == SIM_VOLATILE_READ)
        return (part){SIM_SCOPE_SYSTEM, SIM_ATOMIC_LOAD, true, false};
    if (about->kind == SIM_VOLATILE_WRITE)
        return (part){SIM_SCOPE_SYSTEM, SIM_ATOMIC_STORE, false, false};
    return (part){about->scope, about->what, (about->what & SIM_ATOMIC_LOAD) && !about->discards,
                  (about->what & SIM_ATOMIC_UPDATE) == SIM_ATOMIC_UPDATE};
}

bool sim_sync_begin(sim_worker *worker, unsigned site, uintptr_t address)
{
    const sim_block_clock *clock = worker->block->clock;
    const part own = part_of(&sim_sites[site]);
    if (!clock)
        return false;
    if (sim_sites[site].kind == SIM_ATOMIC && !is_shared(worker, address))
        sim_sequence_note(worker, site, address);
    if (own.reads)
        sim_handed_took(clock->stamp, (unsigned)worker->thread, address);
    else if (own.what & SIM_ATOMIC_STORE)
        sim_handed_gave(clock->stamp, (unsigned)worker->thread, address);
    bool orders = (own.what & (SIM_ATOMIC_ACQUIRE | SIM_ATOMIC_RELEASE)) != 0;
    return orders || used > 0 || (worker->launch->uses & SIM_USES_FENCES);
}

void sim_sync_end(sim_worker *worker, unsigned site, uintptr_t address)
{
    sim_block_clock *clock = worker->block->clock;
    const part own = part_of(&sim_sites[site]);
    int thread = worker->thread;
    if (own.reads)
        acquire(worker, site, address, own.scope);
    if (!(own.what & SIM_ATOMIC_STORE))
        return;
    sim_fenced fenced = clock->fenced[thread];
    sim_knowledge *now = NULL;
    if (own.what & SIM_ATOMIC_RELEASE) {
        now = sim_clock_tell(clock, thread);
        fenced.block = now;
        if (own.scope != SIM_SCOPE_BLOCK)
            fenced.device = now;
        sim_clock_advance(clock, thread);
    }
    release(worker, address, own.scope, own.update, &fenced);
    sim_knowledge_drop(now);
}

// What the thread has done so far is told by what it stores from now on.
static void release_fence(sim_block_clock *clock, int thread, int scope)
{
    sim_fenced *fenced = &clock->fenced[thread];
    sim_knowledge *told = sim_clock_tell(clock, thread);
    sim_knowledge_learn(&fenced->block, told);
    if (scope != SIM_SCOPE_BLOCK)
        sim_knowledge_learn(&fenced->device, told);
    sim_knowledge_drop(told);
}

void sim_sync_fence(sim_worker *worker, int scope, int sides)
{
    sim_block_clock *clock = worker->block->clock;
    sim_sequence_fence(worker);
    if (sides & SIM_ATOMIC_RELEASE)
        release_fence(clock, worker->thread, scope);
    clock->learned = true;
    if (sides & SIM_ATOMIC_ACQUIRE)
        sim_unfenced_fence(clock, worker->thread, scope);
    sim_clock_advance(clock, worker->thread);
}
