// Accesses through volatile: each may be a poll and may carry a protocol, so it is looked at when it is made.

#include "progress/polls.h"
#include "race/sync.h"
#include "watch/internal.h"

// After this many polls, of one word or of several in turn, others run; and after so many looks in any case, for the
// words may be more than are remembered. So, too, after so many looks at words again, whatever is stored elsewhere
// between them: a thread may count its rounds for others to see until one of them, or the host, tells it to stop.
enum { POLLS = 32, MOST_LOOKS = 1024, MOST_AGAIN = 128 };

// The looks of a worker's threads since the last volatile store, or since others ran.
typedef struct looks {
    uintptr_t last; // the word that was looked at last
    unsigned polls, count;
    int thread;
    unsigned again;         // of that thread, at words that it had looked at from there before
    const uint64_t *logged; // where the log was behind the last one
    bool only;              // nothing else was logged between them
} looks;

// True: the thread polls.
static bool look(looks *made, const sim_worker *worker, uintptr_t address, bool again)
{
    made->only &= worker->log_next == made->logged;
    made->polls = again || made->last == address ? made->polls + 1 : 0;
    made->last = address;
    made->again = worker->thread == made->thread ? made->again + again : again;
    made->thread = worker->thread;
    return made->polls >= POLLS || ++made->count >= MOST_LOOKS || made->again >= MOST_AGAIN;
}

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
    static __thread looks made;
    sim_watch_log_all(worker); // whether it does nothing but poll is seen in the log
    bool write = sim_sites[site].kind == SIM_VOLATILE_WRITE;
    if (write) {
        note_update(worker, site, address);
        for (int turns = sim_polls_write(worker, site, address); turns > 0; turns--)
            sim_scheduler->delays(worker, sim_sites[site].pc);
        made = (looks){.last = address, .thread = made.thread, .again = made.again, .only = true};
    } else if (look(&made, worker, address, sim_polls_read(worker, site, address))) {
        const sim_polled word = {address, sim_sites[site].bytes, SIM_LOOK_VOLATILE};
        const bool surely = made.only && made.again < MOST_AGAIN;
        made = (looks){.last = address, .only = true};
        sim_scheduler->polls(worker, sim_sites[site].pc, surely, &word);
    }
    sim_log_add(worker, site, address);
    sim_access_orders(worker, site, address);
    made.logged = worker->log_next;
}
