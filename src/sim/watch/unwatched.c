// Blocks that are not watched in full (core/sample.c). Addresses are checked, and of the accesses only one thing is
// kept: what has been written is initialised. Accesses that have a range (ranges.h) are not in the logs, others are.

#include "race/granule.h"
#include "race/word.h"
#include "watch/internal.h"

// A lane may fill its log so often before others of its warp have their turn: it may wait for them.
enum { LOGS_IN_A_ROW = 64 };

static bool only_reads[SIM_SITES]; // known of the site

static bool writes(const sim_site *about)
{
    return about->kind == SIM_WRITE || about->kind == SIM_VOLATILE_WRITE ||
           (about->kind == SIM_ATOMIC && (about->what & SIM_ATOMIC_STORE));
}

// Shared memory is forgotten with the block, and variables of the program are always initialised.
void sim_unwatched_mark(uintptr_t address, size_t bytes)
{
    sim_region *region = &sim_global_region;
    if (address - region->base >= region->span)
        return;
    bool lock = bytes < 4 && sim_region_common(region); // other bytes of the word may be another worker's
    if (lock)
        sim_granules_lock(address, bytes);
    sim_region_mark(region, address, bytes, true);
    if (lock)
        sim_granules_unlock(address, bytes);
}

void sim_unwatched_write(uintptr_t address, unsigned bytes)
{
    uint8_t *word = sim_global_region.initialised + ((address - sim_global_region.base) >> SIM_WORD_SHIFT);
    if (bytes < 4)
        sim_unwatched_mark(address, bytes);
    for (unsigned i = 0; i < bytes / 4; i++)
        word[i] = SIM_WORD_INITIALISED;
}

static void look(uint64_t entry)
{
    const sim_site *about = &sim_sites[entry >> SIM_ENTRY_SHIFT];
    if (writes(about))
        sim_unwatched_mark(entry & SIM_ENTRY_ADDRESS, about->bytes);
    else
        only_reads[entry >> SIM_ENTRY_SHIFT] = true;
}

// Nearly all are reads.
static void pass(const uint64_t *entry, const uint64_t *end)
{
    enum { AT_ONCE = 4 };
    for (; end - entry >= AT_ONCE; entry += AT_ONCE) {
        bool reads = true;
        for (int i = 0; i < AT_ONCE; i++)
            reads &= only_reads[entry[i] >> SIM_ENTRY_SHIFT];
        for (int i = 0; !reads && i < AT_ONCE; i++)
            look(entry[i]);
    }
    for (; entry < end; entry++)
        look(*entry);
}

void sim_log_pass(sim_worker *worker)
{
    struct sim_watch *watch = worker->watch;
    for (int lane = 0; lane < SIM_LANES; lane++) {
        if (watch->tail[lane] == 0)
            continue;
        pass(watch->log[lane], watch->log[lane] + watch->tail[lane]);
        watch->tail[lane] = watch->raced[lane] = 0;
    }
}

bool sim_log_pass_full(sim_worker *worker)
{
    struct sim_watch *watch = worker->watch;
    pass(watch->log[worker->lane], worker->log_next);
    worker->log_next = watch->log[worker->lane];
    watch->tail[worker->lane] = watch->raced[worker->lane] = 0;
    return ++watch->passed % LOGS_IN_A_ROW != 0;
}
