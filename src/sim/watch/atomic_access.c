// What every atomic access goes through, whoever announces it.

#include "progress/host_sets.h"
#include "watch/internal.h"

// After this many atomics of one thread on one word with nothing between, others run: it may be a lock.
enum { POLLS = 32 };

static void poll(uintptr_t address, unsigned bytes, uintptr_t pc)
{
    static __thread uintptr_t polled;
    static __thread int thread, polls;
    if (polled == address && thread == sim_current->thread) {
        if (++polls < POLLS)
            return;
        polls = 0;
        sim_scheduler->polls(sim_current, pc, false, &(sim_polled){address, (uint8_t)bytes, SIM_LOOK_ATOMIC});
        return;
    }
    polled = address;
    thread = sim_current->thread;
    polls = 0;
}

// The plain reads of the word that this very thread has made before, as far back as its log reaches. Older ones are
// found in the story of the word (race/exact.c).
static void note_guess(const sim_worker *worker, uintptr_t address)
{
    const uint64_t *log = worker->watch->log[worker->lane];
    for (const uint64_t *entry = worker->log_next; entry-- > log;) {
        sim_site *about = &sim_sites[*entry >> SIM_ENTRY_SHIFT];
        if ((*entry & SIM_ENTRY_ADDRESS) == address && about->kind == SIM_READ)
            about->optimistic = true;
    }
}

void sim_access_atomic(uintptr_t address, unsigned bytes, int scope, int what, uintptr_t pc)
{
    sim_worker *worker = sim_current;
    if (!worker) {
        sim_access_host(address, bytes, what & SIM_ATOMIC_STORE ? SIM_VOLATILE_WRITE : SIM_VOLATILE_READ, pc);
        return;
    }
    if (!sim_watching)
        return;
    unsigned site = sim_site_find(pc);
    if (site == 0) {
        site = sim_site_make(pc, SIM_ATOMIC, bytes);
        sim_sites[site].scope = (uint8_t)scope;
        sim_sites[site].what = (uint8_t)what;
        sim_sites[site].discards = worker->watch->discard;
    }
    worker->watch->discard = false;
    if (!sim_access_check(worker, site, address, bytes, SIM_ATOMIC, pc) ||
        sim_access_unnumbered(worker, site, address, bytes, (what & SIM_ATOMIC_STORE) != 0))
        return;
    if (sim_site_confirms(&sim_sites[site]))
        note_guess(worker, address);
    poll(address, bytes, pc);
    sim_log_add(worker, site, address);
    sim_access_orders(worker, site, address);
    if ((what & SIM_ATOMIC_LOAD) && !sim_sites[site].discards)
        sim_host_set_looked(worker, address, (what & SIM_ATOMIC_ACQUIRE) != 0);
}
