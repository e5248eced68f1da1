// Keeps the words that the current thread has looked at, and from where, and notes at the sites which reads come again.
#include "progress/polls.h"

#include "progress/progress.h"
#include "race/clock.h"
#include "race/site.h"

enum {
    MOST_DELAYS = 64,  // of the stores of one site: the first few threads show whether anybody waits for them
    TURNS_OF_DELAY = 2 // the first is for the other threads of the block, the second for other blocks
};

// What another thread, or another block, has looked at does not count.
static sim_looked *looked_by(sim_worker *worker)
{
    const sim_block_clock *clock = worker->block->clock;
    uint32_t block = clock ? clock->serial : 0;
    sim_looked *looked = &worker->progress->looked;
    if (looked->block != block || looked->thread != worker->thread) {
        looked->block = block;
        looked->thread = worker->thread;
        looked->count = looked->next = 0;
    }
    return looked;
}

bool sim_polls_read(sim_worker *worker, unsigned site, uintptr_t address)
{
    sim_looked *looked = looked_by(worker);
    for (unsigned i = 0; i < looked->count; i++)
        if (looked->address[i] == address && looked->site[i] == site) {
            sim_sites[site].polls = true;
            return true;
        }
    looked->address[looked->next] = address;
    looked->site[looked->next] = site;
    looked->next = (looked->next + 1) % SIM_LOOKED_WORDS;
    looked->count += looked->count < SIM_LOOKED_WORDS;
    return false;
}

int sim_polls_write(sim_worker *worker, unsigned site, uintptr_t address)
{
    static uint16_t delays[SIM_SITES];
    sim_looked *looked = looked_by(worker);
    for (unsigned i = 0; i < looked->count; i++)
        if (looked->address[i] == address)
            looked->address[i] = 0;
    if (!sim_sites[site].values || __atomic_load_n(&delays[site], __ATOMIC_RELAXED) >= MOST_DELAYS)
        return 0;
    __atomic_fetch_add(&delays[site], 1, __ATOMIC_RELAXED);
    return TURNS_OF_DELAY;
}
