// A look counts from its first time on: work runs when somebody waits for it, so what the host has set until then is
// there when the kernel looks. Whether the kernel would have waited for it is not known.
#include "watch/host_sets.h"

#include <pthread.h>
#include <string.h>

#include "core/options.h"
#include "race/cell.h"
#include "race/exact.h"
#include "race/launches.h"
#include "watch/internal.h"

enum { SETS = 1 << 12, LOOKS = 1 << 14 }; // of which half are used at most
enum { FIRST_CLOCK = 1 };                 // of a thread in an interval: it has met nobody yet

typedef struct host_set {
    uintptr_t address; // 0: free
    uint64_t when;     // the last time
} host_set;

typedef struct look {
    uintptr_t address; // 0: free
    uint32_t serial, stamp;
    uint16_t thread, clock;
    bool certain;
    uint64_t seen; // when the host had set the word
} look;

static host_set sets[SETS];
static size_t sets_used;
uint64_t sim_host_sets;

// Several workers may look at a time.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static look looks[LOOKS];
static size_t looks_used;
static uint64_t forgotten; // looks of launches up to this one may be

static host_set *set_at(uintptr_t address)
{
    size_t at = (size_t)((address >> 2) * 0x9e3779b97f4a7c15u >> 32) % SETS;
    while (sets[at].address != 0 && sets[at].address != address)
        at = (at + 1) % SETS;
    return &sets[at];
}

void sim_host_set(uintptr_t address)
{
    host_set *one = set_at(address);
    if (one->address == 0 && 2 * (sets_used + 1) > SETS) {
        memset(sets, 0, sizeof sets);
        sets_used = 0;
        one = set_at(address);
    }
    sets_used += one->address == 0;
    *one = (host_set){address, ++sim_host_sets};
}

// --- kernels look
// ------------------------------------------------------------------------------------------------------

static look *look_at(uintptr_t address, uint32_t serial, unsigned thread)
{
    const uint64_t key = (address >> 2) ^ (uint64_t)serial << 10 ^ (uint64_t)thread << 40;
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 32) % LOOKS;
    while (looks[at].address != 0 &&
           !(looks[at].address == address && looks[at].serial == serial && looks[at].thread == thread))
        at = (at + 1) % LOOKS;
    return &looks[at];
}

void sim_host_set_looked(sim_worker *worker, uintptr_t address, bool certain)
{
    const sim_block_clock *clock = worker->block->clock;
    const uint64_t seen = sets_used > 0 ? set_at(address)->when : 0;
    if (seen == 0 || !clock)
        return;
    const unsigned thread = (unsigned)worker->thread;
    pthread_mutex_lock(&lock);
    look *one = look_at(address, clock->serial, thread);
    if (one->address == 0 && 2 * (looks_used + 1) > LOOKS) {
        memset(looks, 0, sizeof looks);
        looks_used = 0;
        forgotten = worker->launch->number;
        one = look_at(address, clock->serial, thread);
    }
    if (one->address == 0) {
        looks_used++;
        *one = (look){.address = address,
                      .serial = clock->serial,
                      .stamp = clock->stamp,
                      .thread = (uint16_t)thread,
                      .clock = clock->clock[thread],
                      .certain = certain,
                      .seen = seen};
    }
    pthread_mutex_unlock(&lock);
}

// --- judging, when the kernel has run
// ----------------------------------------------------------------------------------

typedef struct question {
    uint64_t number, since;
    bool reads;
    bool found, unordered; // a use; one that no look comes before
} question;

// Blocks of one launch meet in grid barriers or by atomics: whether this use comes behind such a meeting.
static bool has_met_blocks(uint64_t use, const sim_launch_record *launch)
{
    const uint32_t end = sim_stamp_of(use), serial = sim_clock_block_of(end);
    if (!(sim_program_uses & SIM_USES_ATOMICS) && sim_clock_floor <= launch->first_stamp)
        return false;
    bool later = sim_clock_of(use) > FIRST_CLOCK;
    for (uint32_t stamp = launch->first_stamp; stamp < end && !later; stamp++)
        later = sim_clock_block_of(stamp) == serial;
    return later;
}

// Threads other than the one that looked have to have met somebody since; whom is not known here any more.
static bool is_behind(const look *one, uint64_t use, bool met_blocks)
{
    const uint32_t stamp = sim_stamp_of(use), serial = sim_clock_block_of(stamp);
    const unsigned clock = sim_clock_of(use);
    if (one->serial != serial)
        return sim_launches_ordered(one->serial, serial) || (met_blocks && stamp > one->stamp);
    if (stamp != one->stamp)
        return stamp > one->stamp;
    if (sim_thread_of(use) != one->thread)
        return clock > FIRST_CLOCK;
    return one->certain ? clock >= one->clock : clock > one->clock;
}

static void judge(uint64_t use, bool reads, void *context)
{
    question *asked = context;
    const sim_launch_record *launch = use != 0 ? sim_launches_find(sim_clock_block_of(sim_stamp_of(use))) : NULL;
    if (!launch || launch->number != asked->number || (reads && !asked->reads) || asked->unordered)
        return;
    asked->found = true;
    const bool met_blocks = has_met_blocks(use, launch);
    for (size_t i = 0; i < LOOKS; i++) {
        const look *one = &looks[i];
        if (one->seen > asked->since && is_behind(one, use, met_blocks))
            return;
    }
    asked->unordered = true;
}

bool sim_host_set_orders(uintptr_t address, bool reads, uint64_t number, uint64_t since)
{
    if (looks_used == 0)
        return false;
    if (number <= forgotten)
        return true;
    const sim_cell *cell = sim_watched_cell(address);
    question asked = {.number = number, .since = since, .reads = reads};
    if (!cell)
        return false;
    if (sim_exact_is(cell)) {
        sim_exact_each_word(cell, judge, &asked);
    } else {
        judge(cell->write, false, &asked);
        judge(cell->read, true, &asked);
    }
    return asked.found && !asked.unordered;
}
