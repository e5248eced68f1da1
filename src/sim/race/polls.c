// A read polls if the same instruction was seen to read a word again in the same thread, which had not stored there in
// between: two reads in one expression are two instructions. Where the compiler has written a loop's first round out by
// itself, the instruction before the loop polls with the one in it: same thread, word and source line. A read that
// found what it waited for at the first look was not seen to poll: so a site that races is asked about (SIM_VALUES),
// and in the next run its stores let all others go first.

#include "race/polls.h"

#include <string.h>

#include "core/scheduler.h"
#include "race/clock.h"
#include "race/site.h"
#include "report/lines.h"
#include "watch/internal.h"

enum {
    MOST_DELAYS = 64,  // of the stores of one site: the first few threads show whether anybody waits for them
    TURNS_OF_DELAY = 2 // the first is for the other threads of the block, the second for other blocks
};

// What another thread, or another block, has looked at does not count.
static sim_looked *looked_by(sim_worker *worker)
{
    const sim_block_clock *clock = worker->block->clock;
    uint32_t block = clock ? clock->serial : 0;
    sim_looked *looked = &worker->watch->looked;
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

void sim_polls_write(sim_worker *worker, unsigned site, uintptr_t address)
{
    static uint16_t delays[SIM_SITES];
    sim_looked *looked = looked_by(worker);
    for (unsigned i = 0; i < looked->count; i++)
        if (looked->address[i] == address)
            looked->address[i] = 0;
    if (!sim_sites[site].values || __atomic_load_n(&delays[site], __ATOMIC_RELAXED) >= MOST_DELAYS)
        return;
    __atomic_fetch_add(&delays[site], 1, __ATOMIC_RELAXED);
    for (int turn = 0; turn < TURNS_OF_DELAY; turn++)
        sim_spin_delay(worker, sim_sites[site].pc);
}

// Asks for all lines at once: each question starts a program.
static void find_lines(void)
{
    bool asked = false;
    for (unsigned site = 1; site < SIM_SITES; site++) {
        unsigned again = sim_sites[site].again;
        if (again == 0 || again == site || (sim_lines_of(sim_sites[site].pc) && sim_lines_of(sim_sites[again].pc)))
            continue;
        sim_lines_want(sim_sites[site].pc);
        sim_lines_want(sim_sites[again].pc);
        asked = true;
    }
    if (asked)
        sim_lines_resolve();
}

static const sim_frame *frame_of(unsigned site)
{
    const sim_stack *stack = sim_lines_of(sim_sites[site].pc);
    return stack ? &stack->frames[0] : NULL;
}

bool sim_polls_at(unsigned site)
{
    unsigned again = sim_sites[site].again;
    if (again == 0 || again == site)
        return again == site;
    if (sim_sites[again].again != again)
        return false; // neither of them is in a loop
    find_lines();
    const sim_frame *one = frame_of(site), *other = frame_of(again);
    return one && other && one->line == other->line && strcmp(one->file, other->file) == 0;
}
