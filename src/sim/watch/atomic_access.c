// What every atomic access goes through, whoever announces it.

#include "machine/options.h"
#include "progress/host_sets.h"
#include "watch/internal.h"
#include "watch/trace.h"

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

// Threads run one after the other until one waits, so nothing would change between a look and the atomic that relies on
// it. In schedules other than the first, the first threads that come to an atomic let others go first. An atomic whose
// result is not used relies on nothing.
static void let_others_run(sim_worker *worker, unsigned site)
{
    enum {
        MOST_DELAYS = 16,  // at one place
        TURNS_OF_DELAY = 2 // the first is for the other threads of the block, the second for other blocks
    };
    static uint8_t delays[SIM_SITES];
    if (sim_schedule == SIM_SCHEDULE_ASCENDING || sim_sites[site].discards ||
        __atomic_load_n(&delays[site], __ATOMIC_RELAXED) >= MOST_DELAYS)
        return;
    __atomic_fetch_add(&delays[site], 1, __ATOMIC_RELAXED);
    for (int turn = 0; turn < TURNS_OF_DELAY; turn++)
        sim_scheduler->delays(worker, sim_sites[site].pc);
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
    let_others_run(worker, site);
    if (sim_site_confirms(&sim_sites[site]))
        note_guess(worker, address);
    poll(address, bytes, pc);
    sim_log_add(worker, site, address);
    sim_access_orders(worker, site, address);
    if (worker->block->trace && (what & SIM_ATOMIC_STORE))
        sim_trace_stores(worker, address, bytes);
    if ((what & SIM_ATOMIC_LOAD) && !sim_sites[site].discards)
        sim_host_set_looked(worker, address, (what & SIM_ATOMIC_ACQUIRE) != 0);
}
