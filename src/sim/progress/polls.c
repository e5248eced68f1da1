// Keeps the words that the current thread has looked at, and notes at the sites which reads come again. Where the
// compiler has written a loop's first round out by itself, the instruction before the loop polls with the one in it: so
// two sites that read one word are joined, and race/polling.c compares their source lines.
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

// Two places of the program that read a word one after the other: what one of them does says something of the other,
// too, unless that is known of itself.
static void join(unsigned site, unsigned other)
{
    if (sim_sites[site].again != site)
        sim_sites[site].again = (uint16_t)other;
}

void sim_polls_read(sim_worker *worker, unsigned site, uintptr_t address)
{
    sim_looked *looked = looked_by(worker);
    for (unsigned i = 0; i < looked->count; i++) {
        if (looked->address[i] != address)
            continue;
        join(site, looked->site[i]);
        join(looked->site[i], site);
        if (looked->site[i] == site)
            return;
    }
    looked->address[looked->next] = address;
    looked->site[looked->next] = site;
    looked->next = (looked->next + 1) % SIM_LOOKED_WORDS;
    looked->count += looked->count < SIM_LOOKED_WORDS;
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
