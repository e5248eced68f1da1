// Stamps, clocks, and the question whether one access happened before another.

#include "race/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "memory/reserve.h"
#include "race/launches.h"
#include "race/race.h"
#include "race/unfenced.h"

// 28 bits hold a stamp in a cell, and the largest of them mark a list (SIM_EXACT). The table says which block had it.
enum { STAMPS = SIM_EXACT >> SIM_STAMP_SHIFT };

uint32_t sim_clock_floor = 1, sim_clock_floor_passed = 1, sim_clock_begun = 1;
bool sim_clock_spent;
static uint32_t next_stamp = 1;
static uint32_t *block_of_stamp;

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static sim_block_clock *pool;

uint32_t sim_clock_block_of(uint32_t stamp)
{
    return block_of_stamp && stamp < STAMPS ? block_of_stamp[stamp] : 0;
}

static uint32_t new_stamp(uint32_t serial)
{
    uint32_t stamp = __atomic_fetch_add(&next_stamp, 1, __ATOMIC_RELAXED);
    if (stamp >= STAMPS - 1) {
        __atomic_store_n(&next_stamp, STAMPS - 1, __ATOMIC_RELAXED);
        __atomic_store_n(&sim_clock_spent, true, __ATOMIC_RELAXED);
        stamp = STAMPS - 2;
    }
    if (block_of_stamp)
        block_of_stamp[stamp] = serial;
    return stamp;
}

bool sim_clock_start(void)
{
    block_of_stamp = sim_reserve((size_t)STAMPS * sizeof(uint32_t));
    return block_of_stamp != NULL;
}

bool sim_clock_restart(void)
{
    if (next_stamp <= STAMPS / 2)
        return false;
    next_stamp = 1;
    sim_clock_spent = false;
    for (sim_block_clock *clock = pool; clock; clock = clock->next_free)
        memset(clock->warp_stamp, 0, sizeof clock->warp_stamp);
    sim_launches_forget();
    return true;
}

void sim_clock_launch_begin(sim_launch_state *launch)
{
    sim_clock_begun = next_stamp;
    sim_clock_floor = sim_launches_begin(launch, next_stamp, &sim_clock_floor_passed);
}

static void begin_waiting(sim_block_clock *clock, const sim_launch_state *launch)
{
    clock->awaits = launch->awaits;
    clock->waited = clock->triggered_early = false;
    clock->passed = 0;
    for (int warp = 0; launch->awaits != 0 && warp < launch->warps; warp++) {
        const int threads = launch->threads - warp * SIM_LANES;
        clock->left[warp] = (uint8_t)(threads < SIM_LANES ? threads : SIM_LANES);
    }
}

sim_block_clock *sim_clock_block_begin(const sim_block *block)
{
    pthread_mutex_lock(&pool_lock);
    sim_block_clock *clock = pool;
    if (clock)
        pool = clock->next_free;
    pthread_mutex_unlock(&pool_lock);
    if (!clock)
        clock = calloc(1, sizeof *clock);
    if (!clock)
        return NULL;
    clock->serial = block->launch->first_serial + (uint32_t)block->number;
    clock->stamp = new_stamp(clock->serial);
    const sim_origin *origin = block->launch->origin;
    for (int i = 0; i < block->launch->threads; i++) {
        clock->clock[i] = 1;
        clock->known[i] = origin ? sim_knowledge_keep(origin->known) : NULL;
    }
    clock->learned = origin && origin->known;
    begin_waiting(clock, block->launch);
    return clock;
}

static void forget_learned(sim_block_clock *clock)
{
    for (int i = 0; i < SIM_THREADS; i++) {
        sim_knowledge_drop(clock->known[i]);
        sim_knowledge_drop(clock->fenced[i].block);
        sim_knowledge_drop(clock->fenced[i].device);
        clock->known[i] = NULL;
        clock->fenced[i] = (sim_fenced){0};
    }
    for (int id = 0; id < SIM_NAMED_BARRIERS; id++) {
        sim_knowledge_drop(clock->arrived[id]);
        clock->arrived[id] = NULL;
    }
    sim_unfenced_forget(clock);
    clock->learned = false;
}

void sim_clock_block_end(sim_block_clock *clock)
{
    if (!clock)
        return;
    if (clock->waited && !clock->triggered_early)
        sim_launches_waited_first(clock->serial);
    if (clock->learned)
        forget_learned(clock);
    pthread_mutex_lock(&pool_lock);
    clock->next_free = pool;
    pool = clock;
    pthread_mutex_unlock(&pool_lock);
}

// The end of the launch before is a thing that threads know of, and tell each other, as of another block's accesses.
enum { AWAITED_STAMP = 1, AWAITED_THREAD = 0, AWAITED_CLOCK = 1 };

static sim_fact awaited(const sim_block_clock *clock)
{
    return (sim_fact){clock->awaits, AWAITED_STAMP, AWAITED_THREAD, AWAITED_CLOCK};
}

static bool all_passed(const sim_block_clock *clock)
{
    return clock->passed == UINT32_MAX;
}

static bool has_waited(const sim_block_clock *clock, const sim_knowledge *known)
{
    return all_passed(clock) || sim_knowledge_has(known, clock->awaits, AWAITED_STAMP, AWAITED_THREAD, AWAITED_CLOCK);
}

// The block has met, and some thread has waited: then all have, and need not know it one by one.
static void pass_all(sim_block_clock *clock, sim_knowledge **known)
{
    if (clock->awaits == 0 || !has_waited(clock, *known))
        return;
    clock->passed = UINT32_MAX;
    sim_knowledge_forget(known, clock->awaits);
}

// Since the last barrier most threads have learned nothing: they hold the very same.
static void learn_next(sim_knowledge **held, sim_knowledge *more, sim_knowledge **last)
{
    if (more && more != *last)
        sim_knowledge_learn(held, more);
    *last = more;
}

// After a barrier every thread knows what any knew, and may hand on what any had fenced.
static void share_learned(sim_block_clock *clock)
{
    sim_knowledge *known = NULL, *block = NULL, *device = NULL;
    sim_knowledge *last_known = NULL, *last_block = NULL, *last_device = NULL;
    sim_unfenced unfenced = {0};
    for (int i = 0; clock->unfenced_threads && i < SIM_THREADS; i++)
        sim_unfenced_gather(clock, i, &unfenced);
    for (int i = 0; i < SIM_THREADS; i++) {
        learn_next(&known, clock->known[i], &last_known);
        learn_next(&block, clock->fenced[i].block, &last_block);
        learn_next(&device, clock->fenced[i].device, &last_device);
    }
    // What a thread tells of its own block's new interval says all that the old ones could.
    sim_knowledge_forget(&known, clock->serial);
    sim_knowledge_forget(&unfenced.near, clock->serial);
    pass_all(clock, &known);
    forget_learned(clock);
    for (int i = 0; i < SIM_THREADS; i++) {
        clock->known[i] = sim_knowledge_keep(known);
        clock->fenced[i].block = sim_knowledge_keep(block);
        clock->fenced[i].device = sim_knowledge_keep(device);
    }
    clock->learned = known || block || device;
    if (unfenced.any && !sim_knowledge_same(unfenced.near, known))
        for (int i = 0; i < SIM_THREADS; i++)
            sim_unfenced_spread(clock, i, &unfenced);
    sim_knowledge_drop(unfenced.near);
    sim_knowledge_drop(known);
    sim_knowledge_drop(block);
    sim_knowledge_drop(device);
}

static void start_interval(sim_block_clock *clock)
{
    clock->stamp = new_stamp(clock->serial);
    for (int i = 0; i < SIM_THREADS; i++)
        clock->clock[i] = 1;
}

void sim_clock_barrier(sim_block_clock *clock)
{
    if (clock->learned)
        share_learned(clock);
    start_interval(clock);
}

void sim_clock_barrier_grid(void)
{
    sim_clock_floor = sim_clock_floor_passed = __atomic_load_n(&next_stamp, __ATOMIC_RELAXED);
}

static sim_warp_clock *warp_clock(sim_block_clock *clock, int warp)
{
    if (!clock->warp[warp])
        clock->warp[warp] = malloc(sizeof(sim_warp_clock));
    if (clock->warp[warp] && clock->warp_stamp[warp] != clock->stamp) {
        memset(clock->warp[warp], 0, sizeof(sim_warp_clock));
        clock->warp_stamp[warp] = clock->stamp;
    }
    return clock->warp[warp];
}

// A thread whose clock has no higher number starts a new interval, as if the block had met: what raced across that
// moment is missed, what comes after it is not.
void sim_clock_advance(sim_block_clock *clock, int thread)
{
    if (clock->clock[thread] < SIM_CLOCK_MAX)
        clock->clock[thread]++;
    else
        start_interval(clock);
}

// What the lanes of the mask have met between them, by lane. Nobody has met a later time of a lane than its own.
static void join_lanes(const sim_block_clock *clock, const sim_warp_clock *seen, int base, uint32_t mask,
                       uint16_t joined[SIM_LANES])
{
    memcpy(joined, &clock->clock[base], SIM_LANES * sizeof *joined);
    for (uint32_t others = ~mask; others; others &= others - 1) {
        int other = __builtin_ctz(others);
        joined[other] = 0;
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            uint16_t met = seen->seen[__builtin_ctz(rest)][other];
            joined[other] = met > joined[other] ? met : joined[other];
        }
    }
}

static void share_among_lanes(sim_block_clock *clock, int base, uint32_t mask)
{
    sim_knowledge *known = NULL, *block = NULL, *device = NULL;
    sim_unfenced unfenced = {0};
    for (uint32_t rest = clock->unfenced_threads ? mask : 0; rest; rest &= rest - 1)
        sim_unfenced_gather(clock, base + __builtin_ctz(rest), &unfenced);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int thread = base + __builtin_ctz(rest);
        sim_knowledge_learn(&known, clock->known[thread]);
        sim_knowledge_learn(&block, clock->fenced[thread].block);
        sim_knowledge_learn(&device, clock->fenced[thread].device);
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int thread = base + __builtin_ctz(rest);
        sim_knowledge_learn(&clock->known[thread], known);
        sim_knowledge_learn(&clock->fenced[thread].block, block);
        sim_knowledge_learn(&clock->fenced[thread].device, device);
        sim_unfenced_spread(clock, thread, &unfenced);
    }
    sim_knowledge_drop(unfenced.near);
    sim_knowledge_drop(known);
    sim_knowledge_drop(block);
    sim_knowledge_drop(device);
}

void sim_clock_warp(sim_block_clock *clock, int warp, uint32_t mask)
{
    sim_warp_clock *seen = warp_clock(clock, warp);
    if (!seen)
        return;
    int base = warp * SIM_LANES;
    uint16_t joined[SIM_LANES];
    join_lanes(clock, seen, base, mask, joined);
    if (clock->learned)
        share_among_lanes(clock, base, mask);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        memcpy(seen->seen[lane], joined, sizeof joined);
        sim_clock_advance(clock, base + lane);
    }
}

// What `thread` knows by itself, and by meetings with lanes of its warp, of the current interval.
static sim_knowledge *tell_self(const sim_block_clock *clock, int thread)
{
    int warp = thread / SIM_LANES, lane = thread % SIM_LANES;
    sim_fact fact[SIM_LANES + 1];
    uint32_t count = 0;
    bool met = clock->warp[warp] && clock->warp_stamp[warp] == clock->stamp;
    for (int other = 0; other < SIM_LANES; other++) {
        unsigned at = other == lane ? clock->clock[thread] : met ? clock->warp[warp]->seen[lane][other] : 0;
        if (at > 0)
            fact[count++] = (sim_fact){clock->serial, clock->stamp, (uint32_t)(warp * SIM_LANES + other), at};
    }
    if (clock->awaits != 0 && all_passed(clock))
        fact[count++] = awaited(clock); // a number behind those of all blocks
    return sim_knowledge_make(fact, count);
}

sim_knowledge *sim_clock_tell(sim_block_clock *clock, int thread)
{
    sim_knowledge *self = tell_self(clock, thread);
    sim_knowledge *told = sim_knowledge_join(clock->known[thread], self);
    sim_knowledge_drop(self);
    return told;
}

void sim_clock_child(sim_block_clock *clock, int thread, sim_origin *origin)
{
    origin->block = clock->serial;
    origin->floor = sim_clock_floor;
    origin->known = sim_clock_tell(clock, thread);
    sim_clock_advance(clock, thread);
}

static void gather_with_self(const sim_block_clock *clock, int thread, sim_unfenced *met)
{
    sim_knowledge *self = tell_self(clock, thread);
    sim_unfenced_gather(clock, thread, met);
    sim_knowledge_learn(&met->near, self);
    sim_knowledge_drop(self);
}

void sim_clock_barrier_arrive(sim_block_clock *clock, int id, int thread)
{
    sim_knowledge *told = sim_clock_tell(clock, thread);
    sim_knowledge_learn(&clock->arrived[id], told);
    sim_knowledge_drop(told);
    sim_clock_advance(clock, thread);
    clock->learned = true;
}

void sim_clock_barrier_some(sim_block_clock *clock, int id, const uint32_t members[SIM_WARPS])
{
    sim_knowledge *met = clock->arrived[id];
    clock->arrived[id] = NULL;
    sim_unfenced unfenced = {0};
    for (int warp = 0; clock->unfenced_threads && warp < SIM_WARPS; warp++)
        for (uint32_t rest = members[warp]; rest; rest &= rest - 1)
            gather_with_self(clock, warp * SIM_LANES + __builtin_ctz(rest), &unfenced);
    if (clock->unfenced_threads)
        sim_knowledge_learn(&unfenced.near, met);
    for (int warp = 0; warp < SIM_WARPS; warp++)
        for (uint32_t rest = members[warp]; rest; rest &= rest - 1) {
            sim_knowledge *told = sim_clock_tell(clock, warp * SIM_LANES + __builtin_ctz(rest));
            sim_knowledge_learn(&met, told);
            sim_knowledge_drop(told);
        }
    for (int warp = 0; warp < SIM_WARPS; warp++)
        for (uint32_t rest = members[warp]; rest; rest &= rest - 1) {
            int thread = warp * SIM_LANES + __builtin_ctz(rest);
            sim_knowledge_learn(&clock->known[thread], met);
            sim_unfenced_spread(clock, thread, &unfenced);
            sim_clock_advance(clock, thread);
        }
    clock->learned = true;
    sim_knowledge_drop(unfenced.near);
    sim_knowledge_drop(met);
}

void sim_clock_dependency_wait(sim_block_clock *clock, int thread)
{
    if (clock->awaits == 0 || has_waited(clock, clock->known[thread]))
        return;
    const sim_fact fact = awaited(clock);
    sim_knowledge *ended = sim_knowledge_make(&fact, 1);
    sim_knowledge_learn(&clock->known[thread], ended);
    sim_unfenced_acquired(clock, thread, ended);
    sim_knowledge_drop(ended);
    clock->learned = clock->waited = true;
    if (--clock->left[thread / SIM_LANES] == 0)
        clock->passed |= 1u << thread / SIM_LANES;
    sim_launches_wait(clock->serial);
}

void sim_clock_dependency_trigger(sim_block_clock *clock, int thread)
{
    if (clock->awaits != 0 && !has_waited(clock, clock->known[thread]))
        clock->triggered_early = true;
    sim_launches_trigger(clock->serial);
}

bool sim_clock_launch_ended(const sim_block_clock *clock, const sim_knowledge *known, uint32_t serial)
{
    return sim_launches_ordered(serial, clock->serial) &&
           (clock->awaits == 0 || sim_launches_ended(serial, clock->serial, has_waited(clock, known)));
}

bool sim_clock_ordered_by(const sim_block_clock *clock, int me, uint32_t stamp, unsigned thread, unsigned at,
                          bool shared, const sim_knowledge *known)
{
    uint32_t serial = clock->serial;
    if (stamp == clock->stamp) {
        if (thread == (unsigned)me)
            return true;
        unsigned warp = thread / SIM_LANES;
        if (warp == (unsigned)me / SIM_LANES && clock->warp_stamp[warp] == stamp && clock->warp[warp] &&
            clock->warp[warp]->seen[me % SIM_LANES][thread % SIM_LANES] >= at)
            return true;
    } else {
        if (stamp < sim_clock_floor || shared)
            return true;
        serial = sim_clock_block_of(stamp);
        if (serial == clock->serial || sim_clock_launch_ended(clock, known, serial))
            return true;
    }
    return sim_knowledge_has(known, serial, stamp, thread, at);
}

bool sim_clock_ordered(const sim_block_clock *clock, int me, uint32_t stamp, unsigned thread, unsigned at, bool shared)
{
    return sim_clock_ordered_by(clock, me, stamp, thread, at, shared, clock->known[me]);
}
