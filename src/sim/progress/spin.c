// Whether a thread that polls only polls, how often it tries again, and when polling has gone on for too long.
#define _GNU_SOURCE
#include "progress/spin.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "findings/finding.h"
#include "machine/clock.h"
#include "machine/options.h"
#include "progress/host_threads.h"

enum {
    ROUNDS_IN_PLACE = 16,  // tries of a block before another block has a turn,
    ROUNDS_AT_WORK = 4096, // if its threads may be doing something,
    ROUNDS_THAT_MEET = 32, // and if threads met, at a barrier or in a warp, but none has ended
    POLLS_AT_WORK = 32,    // looks of a thread that may be doing something, before it lets others run
    IDLE_TURNS = 2,        // turns of each resident block without progress, at least, before a spin counts as endless
    STATE_BYTES = 2048,    // of the stack are looked at: the frames of the loop and some of its callers
    ALIKE = 2,             // interrupts that find a thread unchanged before it counts as polling
    TIMES_AGAIN = 3,       // interrupts that find a thread in a known state before its loop counts as endless
};

// Of the time that a thread is given to compute: polling says itself that it waits, so less is enough, but a loop that
// counts its polls may be at work after all.
static const double polling_share = 0.1, working_share = 3;
static const double awake_share = 2;     // of a thread that polls, while the host goes on and may do it
static const double idle_seconds = 0.05; // of polling in vain: what is waited for may be the host's to do
static const double host_every = 0.001;  // seconds between looks at what the host does
static const double least_run = 0.001;   // of processor time between two states of a thread that are compared

static uint64_t idle_turns; // written by the workers

uint64_t sim_spin_hash(uint64_t seed, const uint64_t *from, const uint64_t *end)
{
    uint64_t hash = seed + 1;
    if ((size_t)(end - from) > STATE_BYTES / sizeof *from)
        end = from + STATE_BYTES / sizeof *from;
    while (from < end)
        hash = (hash ^ *from++) * 0x9e3779b97f4a7c15u + (hash >> 29);
    return hash;
}

uint64_t sim_spin_hash_all(uint64_t seed, const uint64_t *from, const uint64_t *end)
{
    uint64_t hash = seed + 1;
    while (from < end)
        hash = (hash ^ *from++) * 0x9e3779b97f4a7c15u + (hash >> 29);
    return hash;
}

// A thread that is found again with everything that it depends on as it was, and has not touched memory, looked at a
// clock or met anybody between, will be found so forever: if it ran in between. On a busy machine the next interrupt
// may wait when the last returns, and comes before the next instruction. So time has to have passed, and as a virtual
// machine may count time that it did not have, that has to happen several times.
bool sim_spin_repeats(sim_worker *worker, uint64_t state)
{
    sim_seen *seen = &worker->progress->seen;
    const double time = sim_seconds(CLOCK_THREAD_CPUTIME_ID);
    uint64_t events = atomic_load_explicit(&worker->progress->events, memory_order_relaxed);
    if (seen->events != events || seen->acts != worker->acts || seen->log != worker->log_next ||
        seen->thread != worker->thread || seen->block != worker->block->number ||
        seen->launch != worker->launch->number)
        *seen = (sim_seen){.events = events,
                           .acts = worker->acts,
                           .log = worker->log_next,
                           .thread = worker->thread,
                           .block = worker->block->number,
                           .launch = worker->launch->number};
    if (seen->count > 0 && time - seen->time < least_run)
        return false;
    seen->time = time;
    for (unsigned i = 0; i < seen->count && i < SIM_SEEN_STATES; i++)
        if (seen->state[i] == state)
            return ++seen->again >= TIMES_AGAIN;
    seen->state[seen->count++ % SIM_SEEN_STATES] = state;
    return false;
}

bool sim_spin_polls(sim_worker *worker, uint32_t state_hash, bool known, bool *surely)
{
    sim_block_progress *block = worker->block->progress;
    int thread = worker->thread;
    // A loop that looks at several words comes back with the state of some poll before the last.
    bool same = state_hash == block->state_hash[thread] || state_hash == block->kept_hash[thread];
    bool long_at_it = !same && ++block->polls[thread] % POLLS_AT_WORK == 0;
    block->state_hash[thread] = state_hash;
    if (long_at_it)
        block->kept_hash[thread] = state_hash;
    block->unchanged[thread] = *surely = known && same;
    return same || long_at_it;
}

void sim_spin_stops(sim_worker *worker, uintptr_t pc, bool surely, sim_polled word)
{
    sim_block *block = worker->block;
    sim_block_progress *progress = block->progress;
    int thread = worker->thread;
    uint32_t lane = 1u << worker->lane;
    if (!surely && !progress->unchanged[thread]) {
        progress->at_work++;
        worker->progress->at_work++;
    }
    progress->polled[thread] = word;
    block->waits_at[thread] = pc;
    block->state[thread] = SIM_SPINNING;
    block->ready[worker->warp] &= ~lane;
    progress->spinning[worker->warp] |= lane;
    progress->warps_spinning |= 1u << worker->warp;
}

void sim_spin_block_begins(sim_block_progress *block, int threads, int warps)
{
    memset(block->unchanged, 0, (size_t)threads);
    memset(block->spinning, 0, (size_t)warps * sizeof *block->spinning);
    block->warps_spinning = 0;
    block->steps = block->round_steps = 0;
    block->at_work = block->round_at_work = 0;
    block->idle_rounds = block->met_rounds = block->round_ended = 0;
    block->ended_before = 0;
}

static void sum_of_all(uint64_t *steps, uint64_t *at_work)
{
    *steps = *at_work = 0;
    for (int number = 0; number < sim_workers; number++) {
        const sim_worker_progress *progress = sim_worker_at(number)->progress;
        *steps += atomic_load_explicit(&progress->steps, memory_order_relaxed);
        *at_work += __atomic_load_n(&progress->at_work, __ATOMIC_RELAXED);
    }
}

uint64_t sim_progress_of_all(void)
{
    uint64_t steps, at_work;
    sum_of_all(&steps, &at_work);
    return steps;
}

bool sim_spin_interrupted_long(sim_worker *worker)
{
    sim_worker_progress *progress = worker->progress;
    double time = sim_seconds(CLOCK_THREAD_CPUTIME_ID);
    uint64_t steps = sim_progress_of_all();
    if (steps != progress->interrupted_steps) {
        progress->interrupted_steps = steps;
        progress->interrupted_since = time;
    }
    return time - progress->interrupted_since > sim_options_get()->spin_limit;
}

bool sim_spin_alike(sim_worker *worker, uint64_t hash)
{
    sim_worker_progress *progress = worker->progress;
    progress->interrupted_alike = hash == progress->interrupted_hash ? progress->interrupted_alike + 1 : 0;
    progress->interrupted_hash = hash;
    return progress->interrupted_alike >= ALIKE;
}

void sim_spin_hurry(sim_block_progress *block)
{
    block->idle_rounds = ROUNDS_IN_PLACE;
}

bool sim_spin_again(sim_block_progress *block, int ended)
{
    if (!block->warps_spinning)
        return false;
    bool at_work = block->at_work != block->round_at_work;
    block->round_at_work = block->at_work;
    if (block->steps != block->round_steps) {
        block->round_steps = block->steps;
        block->idle_rounds = 0;
        block->met_rounds = ended == block->round_ended ? block->met_rounds + 1 : 0;
        block->round_ended = ended;
        return block->met_rounds <= ROUNDS_THAT_MEET;
    }
    return ++block->idle_rounds <= (at_work ? ROUNDS_AT_WORK : ROUNDS_IN_PLACE);
}

uint64_t sim_spin_idle(void)
{
    return __atomic_load_n(&idle_turns, __ATOMIC_RELAXED);
}

// Whether the host goes on. turned: since this worker last asked, the host has said so or otherwise, or it has stopped:
// what it did before, threads have to have looked at.
static bool host_goes_on(double time, bool *turned)
{
    static __thread uint64_t turns_seen;
    static __thread double asked;
    static __thread bool goes_on;
    const uint64_t turns = sim_host_turns();
    const bool before = goes_on;
    if (turns != turns_seen || time - asked > host_every) {
        goes_on = sim_host_goes_on();
        asked = time;
    }
    *turned = turns != turns_seen || (before && !goes_on);
    turns_seen = turns;
    return goes_on;
}

bool sim_spin_endless(sim_worker *worker, unsigned blocks)
{
    sim_worker_progress *progress = worker->progress;
    worker->block->progress->idle_rounds = worker->block->progress->met_rounds = 0;
    if (sim_workers_taking_part > 1)
        sched_yield();
    uint64_t steps, at_work;
    double time = sim_seconds(CLOCK_MONOTONIC), limit = sim_options_get()->spin_limit;
    bool turned, goes_on = host_goes_on(time, &turned);
    if (turned)
        progress->idle_count = 0;
    sum_of_all(&steps, &at_work);
    if (steps != progress->idle_steps || progress->idle_count == 0) {
        progress->idle_steps = steps;
        progress->idle_count = 0;
        progress->idle_since = time;
    }
    if (at_work != progress->idle_at_work || progress->idle_count == 0) {
        progress->idle_at_work = at_work;
        progress->polling_since = time;
    }
    if (++progress->idle_count < IDLE_TURNS * blocks)
        return false;
    if (time - progress->idle_since > idle_seconds)
        __atomic_fetch_add(&idle_turns, 1, __ATOMIC_RELAXED);
    double share = goes_on ? awake_share : polling_share;
    return time - progress->polling_since > share * limit || time - progress->idle_since > working_share * limit;
}

void sim_spin_report(sim_worker *worker)
{
    const sim_block *block = worker->block;
    const sim_block_progress *progress = block->progress;
    int warp = __builtin_ctz(progress->warps_spinning);
    int thread = warp * SIM_LANES + __builtin_ctz(progress->spinning[warp]);
    sim_finding finding = sim_finding_of(worker, SIM_SPIN, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message,
             "a thread waits in a loop for something that never happens: no other thread is left to do it");
    static const char *const roles[] = {"call", "read", "volatile read", "atomic"};
    const sim_polled *word = &progress->polled[thread];
    finding.place[0] = sim_place_of(worker, thread, block->waits_at[thread], roles[word->look]);
    finding.address = word->address;
    finding.bytes = word->bytes;
    for (int other = 0; other < block->launch->threads; other++)
        if (block->state[other] != SIM_SPINNING && block->state[other] != SIM_ENDED) {
            finding.place[1] = sim_place_of(worker, other, block->waits_at[other], "call");
            snprintf(finding.note, sizeof finding.note, "another thread of the block waits here");
            break;
        }
    sim_report(&finding);
}
