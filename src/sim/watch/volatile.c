// Accesses through volatile: each may be a poll and may carry a protocol, so it is looked at when it is made.

#include "progress/polls.h"
#include "race/sync.h"
#include "watch/internal.h"

// After this many polls of one word without anything else, let others run.
enum { POLLS = 32 };

void sim_access_orders(sim_worker *worker, unsigned site, uintptr_t address)
{
    if (!sim_sync_begin(worker, site, address))
        return;
    sim_merge_lanes(worker, 1u << worker->lane);
    sim_sync_end(worker, site, address);
}

// A volatile write of a word that its thread has just read so may be the second half of an update.
static void note_update(const sim_worker *worker, unsigned site, uintptr_t address)
{
    const uint64_t *log = worker->watch->log[worker->lane];
    for (const uint64_t *entry = worker->log_next; entry-- > log;) {
        if ((*entry & SIM_ENTRY_ADDRESS) != address)
            continue;
        const unsigned last = (unsigned)(*entry >> SIM_ENTRY_SHIFT);
        if (sim_sites[last].kind == SIM_VOLATILE_READ)
            sim_sites[site].reads_at = (uint16_t)last;
        return;
    }
}

// Others run before the access is noted, not after: it is made when this returns, and what it then reads was written
// before it.
void sim_access_volatile(sim_worker *worker, unsigned site, uintptr_t address)
{
    static __thread uintptr_t polled;
    static __thread unsigned polls;
    static __thread const uint64_t *logged;
    bool write = sim_sites[site].kind == SIM_VOLATILE_WRITE;
    if (write)
        note_update(worker, site, address);
    if (write)
        for (int turns = sim_polls_write(worker, site, address); turns > 0; turns--)
            sim_scheduler->delays(worker, sim_sites[site].pc);
    else
        sim_polls_read(worker, site, address);
    if (write || polled != address) {
        polled = address;
        polls = 0;
    } else if (++polls >= POLLS) {
        polls = 0;
        const sim_polled word = {address, sim_sites[site].bytes, SIM_LOOK_VOLATILE};
        sim_scheduler->polls(worker, sim_sites[site].pc, worker->log_next == logged, &word);
    }
    sim_log_add(worker, site, address);
    sim_access_orders(worker, site, address);
    logged = worker->log_next;
}
