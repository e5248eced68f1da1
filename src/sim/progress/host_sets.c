// A look counts from its first time on: work runs when somebody waits for it, so what the host has set until then is
// there when the kernel looks. Whether the kernel would have waited for it is not known.
#include "progress/host_sets.h"

#include <pthread.h>
#include <string.h>

#include "machine/options.h"
#include "race/cell.h"
#include "race/exact.h"
#include "race/last.h"
#include "race/launches.h"

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

// Several threads may set words, and workers look at them, at a time. Looks are many and most are at words that the
// host has not set, so they take no lock to see that: a word is in its place when it has its time.
static pthread_mutex_t sets_lock = PTHREAD_MUTEX_INITIALIZER;
static host_set sets[SETS];
static size_t sets_used;
static uint64_t times;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static look looks[LOOKS];
static size_t looks_used;
static uint64_t forgotten; // looks of launches up to this one may be

static host_set *set_at(uintptr_t address)
{
    size_t at = (size_t)((address >> 2) * 0x9e3779b97f4a7c15u >> 32) % SETS;
    for (uintptr_t there; (there = __atomic_load_n(&sets[at].address, __ATOMIC_ACQUIRE)) != 0 && there != address;)
        at = (at + 1) % SETS;
    return &sets[at];
}

uint64_t sim_host_sets(void)
{
    return __atomic_load_n(&times, __ATOMIC_RELAXED);
}

static void forget_sets(void)
{
    for (size_t i = 0; i < SETS; i++) {
        __atomic_store_n(&sets[i].address, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&sets[i].when, 0, __ATOMIC_RELAXED);
    }
    sets_used = 0;
}

void sim_host_set(uintptr_t address)
{
    pthread_mutex_lock(&sets_lock);
    host_set *one = set_at(address);
    if (one->address == 0 && 2 * (sets_used + 1) > SETS) {
        forget_sets();
        one = set_at(address);
    }
    sets_used += one->address == 0;
    __atomic_store_n(&one->when, __atomic_add_fetch(&times, 1, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
    __atomic_store_n(&one->address, address, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&sets_lock);
}

static uint64_t set_when(uintptr_t address)
{
    if (sim_host_sets() == 0)
        return 0;
    const host_set *one = set_at(address);
    return __atomic_load_n(&one->address, __ATOMIC_ACQUIRE) == address ? __atomic_load_n(&one->when, __ATOMIC_ACQUIRE)
                                                                       : 0;
}

// --- kernels look ---------------------------------------------------------------------------------------------------

// A look that sees the word set anew, while the kernel runs, is another one.
static look *look_at(uintptr_t address, uint32_t serial, unsigned thread, uint64_t seen)
{
    const uint64_t key = (address >> 2) ^ (uint64_t)serial << 10 ^ (uint64_t)thread << 40 ^ seen << 20;
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 32) % LOOKS;
    while (looks[at].address != 0 && !(looks[at].address == address && looks[at].serial == serial &&
                                       looks[at].thread == thread && looks[at].seen == seen))
        at = (at + 1) % LOOKS;
    return &looks[at];
}

static void keep_look(sim_worker *worker, const look *made)
{
    pthread_mutex_lock(&lock);
    const bool full = 2 * (looks_used + 1) > LOOKS;
    look *one = look_at(made->address, made->serial, made->thread, made->seen);
    if (one->address == 0 && full && made->seen != 0) {
        memset(looks, 0, sizeof looks);
        looks_used = 0;
        forgotten = worker->launch->number;
        one = look_at(made->address, made->serial, made->thread, made->seen);
    }
    if (one->address == 0 && (!full || made->seen != 0)) {
        looks_used++;
        *one = *made;
    }
    pthread_mutex_unlock(&lock);
}

// The host may set the word between this and the read itself. So looks at a word that it has not set yet count too,
// where a thread looks again and again.
void sim_host_set_looked(sim_worker *worker, uintptr_t address, bool certain)
{
    static __thread look last;
    static __thread bool kept;
    const sim_block_clock *clock = worker->block->clock;
    if (!clock)
        return;
    const unsigned thread = (unsigned)worker->thread;
    const uint64_t seen = set_when(address);
    const bool again = last.address == address && last.serial == clock->serial && last.thread == thread;
    if (again && kept && last.seen == seen)
        return;
    last = (look){.address = address,
                  .serial = clock->serial,
                  .stamp = clock->stamp,
                  .thread = (uint16_t)thread,
                  .clock = clock->clock[thread],
                  .certain = certain,
                  .seen = seen};
    kept = again || seen != 0;
    if (kept)
        keep_look(worker, &last);
}

// --- judging, when the kernel has run -------------------------------------------------------------------------------

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

// A thread that did not look again when the host had set the word anew may have seen it by its last look; not when its
// launch had ended before.
static uint64_t seen_at_most(const look *one, uint64_t number)
{
    const sim_launch_record *launch = sim_launches_find(one->serial);
    if (!launch || launch->number != number)
        return one->seen;
    const uint64_t when = set_when(one->address);
    return look_at(one->address, one->serial, one->thread, when)->address == 0 ? when : one->seen;
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
        if (one->address != 0 && is_behind(one, use, met_blocks) && seen_at_most(one, asked->number) > asked->since)
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
    const sim_cell *cell = sim_cell_of(address);
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
