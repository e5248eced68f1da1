// Threads that poll. A thread that does nothing but poll lets every other thread of its block run first, then (through
// resident.c) other blocks. When nothing but polling has happened anywhere for long enough, it will go on for ever.
//
// Headers call sim_spin where a loop may be polling: a compare-and-swap that failed, an atomic that changed nothing.
// Much of that is ordinary work, so each call looks at the caller's registers and stack: a loop that only polls comes
// back with all of them as they were.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "core/host_threads.h"
#include "core/scheduler.h"
#include "machine/options.h"

enum {
    ROUNDS_IN_PLACE = 16,  // tries of a block before another block has a turn,
    ROUNDS_AT_WORK = 4096, // if its threads may be doing something
    POLLS_AT_WORK = 32,    // looks of a thread that may be doing something, before it lets others run
    IDLE_TURNS = 2,        // turns of each resident block without progress, at least, before a spin counts as endless
    STATE_BYTES = 2048,    // of the stack are looked at: the frames of the loop and some of its callers
};

// Of the time that a thread is given to compute: polling says itself that it waits, so less is enough, but a loop that
// counts its polls may be at work after all.
static const double polling_share = 0.1, working_share = 3;
static const double awake_share = 2;     // of a thread that polls, while the host goes on and may do it
static const double idle_seconds = 0.05; // of polling in vain: what is waited for may be the host's to do
static const double host_every = 0.001;  // seconds between looks at what the host does

static uint64_t idle_turns; // written by the workers

// sim_spin itself: saves the registers that a caller may keep its variables in, and passes their address.
#if defined(__aarch64__)
__asm__(".text\n"
        ".p2align 4\n"
        ".globl sim_spin\n"
        ".type sim_spin, %function\n"
        "sim_spin:\n"
        "    stp x29, x30, [sp, #-96]!\n"
        "    stp x19, x20, [sp, #16]\n"
        "    stp x21, x22, [sp, #32]\n"
        "    stp x23, x24, [sp, #48]\n"
        "    stp x25, x26, [sp, #64]\n"
        "    stp x27, x28, [sp, #80]\n"
        "    mov x0, sp\n"
        "    mov x1, x30\n"
        "    bl sim_spin_from\n"
        "    ldp x29, x30, [sp], #96\n"
        "    ret\n"
        ".size sim_spin, .-sim_spin\n");
#elif defined(__x86_64__)
__asm__(".text\n"
        ".p2align 4\n"
        ".globl sim_spin\n"
        ".type sim_spin, @function\n"
        "sim_spin:\n"
        "    mov (%rsp), %rsi\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, %rdi\n"
        "    sub $8, %rsp\n"
        "    call sim_spin_from\n"
        "    add $56, %rsp\n"
        "    ret\n"
        ".size sim_spin, .-sim_spin\n");
#else
void sim_spin_from(const uint64_t *state, uintptr_t pc);
void sim_spin(void)
{
    sim_spin_from(NULL, (uintptr_t)__builtin_return_address(0));
}
#endif

// Called from assembly only.
void sim_spin_from(const uint64_t *state, uintptr_t pc) __attribute__((visibility("hidden"), used));

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

// A thread that is found twice with everything that it depends on as it was, and has not touched memory, looked at a
// clock or met anybody between, will be found so for ever.
bool sim_spin_repeats(sim_worker *worker, uint64_t state)
{
    sim_runner *runner = sim_runner_of(worker);
    sim_seen *seen = &runner->seen;
    uint64_t events = atomic_load_explicit(&runner->events, memory_order_relaxed);
    if (seen->events != events || seen->acts != worker->acts || seen->log != worker->log_next ||
        seen->thread != worker->thread || seen->block != worker->block->number ||
        seen->launch != worker->launch->number)
        *seen = (sim_seen){.events = events,
                           .acts = worker->acts,
                           .log = worker->log_next,
                           .thread = worker->thread,
                           .block = worker->block->number,
                           .launch = worker->launch->number};
    for (unsigned i = 0; i < seen->count && i < SIM_SEEN_STATES; i++)
        if (seen->state[i] == state)
            return true;
    seen->state[seen->count++ % SIM_SEEN_STATES] = state;
    return false;
}

static uint32_t hash_state(sim_worker *worker, const uint64_t *state)
{
    const sim_resident *resident = sim_resident_of(worker->block);
    const char *top = sim_stacks_top(&sim_runner_of(worker)->stacks, resident->stack[worker->thread]);
    return (uint32_t)(sim_spin_hash(worker->block->number, state, (const uint64_t *)top) >> 32);
}

void sim_spin_from(const uint64_t *state, uintptr_t pc)
{
    sim_worker *worker = sim_current;
    if (!worker)
        return;
    sim_thread_acts(worker);
    sim_resident *resident = sim_resident_of(worker->block);
    uint32_t hash = state ? hash_state(worker, state) : 0, before = resident->state_hash[worker->thread];
    resident->state_hash[worker->thread] = hash;
    resident->unchanged[worker->thread] = state && hash == before;
    if (hash == before || ++resident->polls[worker->thread] % POLLS_AT_WORK == 0)
        sim_thread_polls(worker, pc, state && hash == before, NULL);
}

void sim_thread_polls(sim_worker *worker, uintptr_t pc, bool surely, const sim_polled *word)
{
    sim_block *block = worker->block;
    sim_resident *resident = sim_resident_of(block);
    uint32_t lane = 1u << worker->lane;
    if (!surely && !resident->unchanged[worker->thread]) {
        resident->at_work++;
        sim_runner_of(worker)->at_work++;
    }
    resident->polled[worker->thread] = word ? *word : sim_watch_polled(worker);
    sim_thread_stops(worker);
    block->waits_at[worker->thread] = pc;
    block->state[worker->thread] = SIM_SPINNING;
    block->ready[worker->warp] &= ~lane;
    resident->spinning[worker->warp] |= lane;
    resident->warps_spinning |= 1u << worker->warp;
    sim_thread_waits(worker);
}

static void sum_of_all(uint64_t *progress, uint64_t *at_work)
{
    *progress = *at_work = 0;
    for (int number = 0; number < sim_workers; number++) {
        sim_runner *runner = sim_runner_of(sim_worker_at(number));
        *progress += atomic_load_explicit(&runner->progress, memory_order_relaxed);
        *at_work += __atomic_load_n(&runner->at_work, __ATOMIC_RELAXED);
    }
}

uint64_t sim_progress_of_all(void)
{
    uint64_t progress, at_work;
    sum_of_all(&progress, &at_work);
    return progress;
}

bool sim_spin_interrupted_long(sim_worker *worker)
{
    sim_runner *runner = sim_runner_of(worker);
    uint64_t progress, at_work;
    struct timespec used;
    sum_of_all(&progress, &at_work);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    double time = (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
    if (progress != runner->interrupted_progress) {
        runner->interrupted_progress = progress;
        runner->interrupted_since = time;
    }
    return time - runner->interrupted_since > sim_options_get()->spin_limit;
}

void sim_spin_interrupted(sim_worker *worker, uintptr_t pc)
{
    sim_resident_of(worker->block)->idle_rounds = ROUNDS_IN_PLACE;
    sim_thread_polls(worker, pc, true, NULL);
}

// Who polls for what this thread is about to do does not wait for ever, so it counts as progress; but not as the
// block's, which would keep other blocks from their turn.
void sim_spin_delay(sim_worker *worker, uintptr_t pc)
{
    sim_runner *runner = sim_runner_of(worker);
    sim_spin_interrupted(worker, pc);
    atomic_store_explicit(&runner->progress, atomic_load_explicit(&runner->progress, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

void sim_spin_wake(sim_resident *resident)
{
    for (uint32_t rest = resident->warps_spinning; rest; rest &= rest - 1) {
        int warp = __builtin_ctz(rest);
        sim_lane_ready(resident, warp, resident->spinning[warp]);
        resident->spinning[warp] = 0;
    }
    resident->warps_spinning = 0;
}

bool sim_spin_round(sim_worker *worker)
{
    sim_resident *resident = sim_resident_of(worker->block);
    if (!resident->warps_spinning)
        return false;
    bool at_work = resident->at_work != resident->round_at_work;
    resident->round_at_work = resident->at_work;
    if (resident->progress != resident->round_progress) {
        resident->round_progress = resident->progress;
        resident->idle_rounds = 0;
    } else if (++resident->idle_rounds > (at_work ? ROUNDS_AT_WORK : ROUNDS_IN_PLACE)) {
        return false;
    }
    sim_spin_wake(resident);
    return true;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
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

bool sim_spin_endless(sim_worker *worker)
{
    sim_runner *runner = sim_runner_of(worker);
    sim_resident_of(worker->block)->idle_rounds = 0;
    if (sim_workers > 1)
        sched_yield();
    uint64_t progress, at_work;
    double time = now(), limit = sim_options_get()->spin_limit;
    bool turned, goes_on = host_goes_on(time, &turned);
    if (turned)
        runner->idle_count = 0;
    sum_of_all(&progress, &at_work);
    if (progress != runner->idle_progress || runner->idle_count == 0) {
        runner->idle_progress = progress;
        runner->idle_count = 0;
        runner->idle_since = time;
    }
    if (at_work != runner->idle_at_work || runner->idle_count == 0) {
        runner->idle_at_work = at_work;
        runner->polling_since = time;
    }
    if (++runner->idle_count < IDLE_TURNS * runner->resident)
        return false;
    if (time - runner->idle_since > idle_seconds)
        __atomic_fetch_add(&idle_turns, 1, __ATOMIC_RELAXED);
    double share = goes_on ? awake_share : polling_share;
    return time - runner->polling_since > share * limit || time - runner->idle_since > working_share * limit;
}

void sim_spin_report(sim_worker *worker)
{
    const sim_block *block = worker->block;
    const sim_resident *resident = sim_resident_of(worker->block);
    int warp = __builtin_ctz(resident->warps_spinning);
    int thread = warp * SIM_LANES + __builtin_ctz(resident->spinning[warp]);
    sim_finding finding = sim_finding_make(worker, SIM_SPIN, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message,
             "a thread waits in a loop for something that never happens: no other thread can still do it");
    static const char *const roles[] = {"call", "read", "volatile read", "atomic"};
    const sim_polled *word = &resident->polled[thread];
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
