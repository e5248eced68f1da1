// From 32 logs, one of each lane, to the rows of accesses that the warp makes together. Lanes whose next access is at
// the same site form a row. Where lanes are at different sites, the lowest in the code goes first: lanes still in a
// loop run on until the others' site comes up, as the hardware's reconvergence has it. A lane whose log is full has
// more to come: nothing that might come after its next access is taken before it has run again.

#include <string.h>

#include "race/race.h"
#include "race/values.h"
#include "watch/internal.h"
#include "watch/trace.h"

// Cuts the lanes of `mask` into runs; entry[lane] is a log entry.
static void row_make(sim_row *row, unsigned site, uint32_t mask, const uint64_t entry[SIM_LANES])
{
    unsigned bytes = sim_sites[site].bytes;
    row->site = site;
    row->mask = mask;
    row->step = 0;
    row->runs = 0;
    for (int lane = 0; lane < SIM_LANES;) {
        if (!(mask >> lane & 1)) {
            lane++;
            continue;
        }
        sim_stretch *run = &row->run[row->runs++];
        *run = (sim_stretch){lane, 1, entry[lane] & SIM_ENTRY_ADDRESS, 0};
        int next = lane + 1;
        if (next < SIM_LANES && (mask >> next & 1)) {
            uint64_t step = entry[next] - entry[lane];
            if (step == 0 || step == bytes) {
                run->stride = (unsigned)step;
                while (next < SIM_LANES && (mask >> next & 1) && entry[next] - entry[next - 1] == step)
                    next++;
                run->lanes = next - lane;
            }
        }
        lane = next;
    }
}

enum { HALF = SIM_LANES / 2 };

// How the addresses of half a warp grow: by `step` from each lane to the next, unless uneven is other than 0.
typedef struct half {
    uint64_t step, uneven;
} half;

// All 32 lanes are apart by the same step.
static void row_make_even(sim_row *row, const uint64_t entry[SIM_LANES], uint64_t step)
{
    row->step = (intptr_t)step;
    row->runs = SIM_LANES;
    for (int lane = 0; lane < SIM_LANES; lane++)
        row->run[lane] = (sim_stretch){lane, 1, entry[lane] & SIM_ENTRY_ADDRESS, 0};
}

// All 32 lanes are at one site. Half warps that are each consecutive or at one address, as blocks 16 wide have them,
// and whole ones with equal steps are known without a look at each lane.
static void row_make_whole(sim_row *row, unsigned site, const uint64_t entry[SIM_LANES], const half halves[2])
{
    const uint64_t bytes = sim_sites[site].bytes, step = halves[0].step;
    const bool dense = (step == 0 || step == bytes) && (halves[1].step == 0 || halves[1].step == bytes);
    const bool even = step == halves[1].step && entry[HALF] - entry[HALF - 1] == step;
    if (halves[0].uneven || halves[1].uneven || !(dense || even)) {
        row_make(row, site, UINT32_MAX, entry);
        return;
    }
    row->site = site;
    row->mask = UINT32_MAX;
    if (!dense) {
        row_make_even(row, entry, step);
        return;
    }
    row->step = 0;
    row->runs = even ? 1 : 2;
    row->run[0] = (sim_stretch){0, even ? SIM_LANES : HALF, entry[0] & SIM_ENTRY_ADDRESS, (unsigned)step};
    row->run[1] = (sim_stretch){HALF, HALF, entry[HALF] & SIM_ENTRY_ADDRESS, (unsigned)halves[1].step};
}

// What the stores of a row have left is in memory by now.
static inline void look_for_pointers(sim_worker *worker, const sim_row *row)
{
    if (__builtin_expect(sim_published_none[row->site] < SIM_PUBLISHED_LOOKS, 0))
        sim_published_row(worker, row);
}

// All 32 lanes have at least `steps` entries. Takes rows as long as all lanes are at one site, which is most of what
// most kernels do. Returns how many rows it took.
static uint32_t take_whole(sim_worker *worker, uint32_t steps)
{
    struct sim_watch *watch = worker->watch;
    const uint64_t *next[SIM_LANES];
    for (int lane = 0; lane < SIM_LANES; lane++)
        next[lane] = watch->log[lane] + watch->head[lane];
    const bool traced = worker->block->trace != NULL;
    uint32_t taken = 0;
    sim_row row;
    for (; taken < steps; taken++) {
        uint64_t entry[SIM_LANES], other = 0;
        half halves[2];
        const uint64_t site = next[0][taken] >> SIM_ENTRY_SHIFT << SIM_ENTRY_SHIFT;
        for (int which = 0; which < 2; which++) {
            const uint64_t *const *lanes = next + which * HALF;
            uint64_t expected = lanes[0][taken], uneven = 0;
            const uint64_t step = lanes[1][taken] - expected;
            for (int i = 0; i < HALF; i++, expected += step) {
                uint64_t one = lanes[i][taken];
                entry[which * HALF + i] = one;
                other |= one ^ site;
                uneven |= one ^ expected;
            }
            halves[which] = (half){step, uneven};
        }
        if (other >> SIM_ENTRY_SHIFT)
            break;
        row_make_whole(&row, (unsigned)(site >> SIM_ENTRY_SHIFT), entry, halves);
        sim_counters_row(worker, &row);
        if (traced)
            sim_trace_row(worker, &row);
        look_for_pointers(worker, &row);
        sim_race_row(worker, &row);
    }
    watch->accesses += (uint64_t)taken * SIM_LANES;
    return taken;
}

static uint32_t lanes_with_entries(const struct sim_watch *watch)
{
    uint32_t lanes = 0;
    for (int lane = 0; lane < SIM_LANES; lane++)
        lanes |= (uint32_t)(watch->head[lane] < watch->tail[lane]) << lane;
    return lanes;
}

// The row of the lanes whose next site is the lowest in the code.
static void take_row(sim_worker *worker, uint32_t active)
{
    struct sim_watch *watch = worker->watch;
    uint64_t entry[SIM_LANES] = {0};
    unsigned lowest = 0;
    uint32_t mask = 0, unraced = 0;
    for (uint32_t rest = active; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        entry[lane] = watch->log[lane][watch->head[lane]];
        unsigned site = (unsigned)(entry[lane] >> SIM_ENTRY_SHIFT);
        if (mask == 0 || (site != lowest && sim_sites[site].pc < sim_sites[lowest].pc)) {
            lowest = site;
            mask = unraced = 0;
        }
        if (site != lowest)
            continue;
        mask |= 1u << lane;
        unraced |= (uint32_t)(watch->head[lane] >= watch->raced[lane]) << lane;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        watch->head[__builtin_ctz(rest)]++;
    watch->accesses += (unsigned)__builtin_popcount(mask);
    sim_row row;
    row_make(&row, lowest, mask, entry);
    sim_counters_row(worker, &row);
    if (worker->block->trace)
        sim_trace_row(worker, &row);
    look_for_pointers(worker, &row);
    if (unraced != mask)
        row_make(&row, lowest, unraced, entry);
    sim_race_row(worker, &row);
}

static uint32_t common_steps(const struct sim_watch *watch)
{
    uint32_t steps = UINT32_MAX;
    for (int lane = 0; lane < SIM_LANES; lane++) {
        uint32_t left = watch->raced[lane] > watch->head[lane] ? 0 : watch->tail[lane] - watch->head[lane];
        steps = left < steps ? left : steps;
    }
    return steps;
}

// What is left moves to the front of its log.
static void compact(struct sim_watch *watch)
{
    for (int lane = 0; lane < SIM_LANES; lane++) {
        uint32_t head = watch->head[lane], left = watch->tail[lane] - head;
        if (head == 0)
            continue;
        memmove(watch->log[lane], watch->log[lane] + head, left * sizeof(uint64_t));
        watch->head[lane] = 0;
        watch->tail[lane] = left;
        watch->raced[lane] = watch->raced[lane] > head ? watch->raced[lane] - head : 0;
    }
}

void sim_merge(sim_worker *worker, uint32_t unfinished)
{
    struct sim_watch *watch = worker->watch;
    if (worker->block->unwatched) {
        sim_log_pass(worker);
        return;
    }
    for (;;) {
        uint32_t active = lanes_with_entries(watch);
        if (active == 0 || (unfinished & ~active))
            break;
        if (active == UINT32_MAX) {
            uint32_t taken = take_whole(worker, common_steps(watch));
            for (int lane = 0; taken > 0 && lane < SIM_LANES; lane++)
                watch->head[lane] += taken;
            if (taken > 0)
                continue;
        }
        take_row(worker, active);
    }
    compact(watch);
}

static void race_lane(sim_worker *worker, int lane)
{
    struct sim_watch *watch = worker->watch;
    uint32_t at = watch->raced[lane] > watch->head[lane] ? watch->raced[lane] : watch->head[lane];
    for (; at < watch->tail[lane]; at++) {
        uint64_t entry = watch->log[lane][at];
        sim_row row = {.site = (unsigned)(entry >> SIM_ENTRY_SHIFT), .mask = 1u << lane, .runs = 1};
        row.run[0] = (sim_stretch){lane, 1, entry & SIM_ENTRY_ADDRESS, 0};
        sim_race_row(worker, &row);
    }
    watch->raced[lane] = watch->tail[lane];
}

void sim_merge_lanes(sim_worker *worker, uint32_t lanes)
{
    if (worker->log_entered)
        worker->watch->tail[worker->lane] = (uint32_t)(worker->log_next - worker->watch->log[worker->lane]);
    sim_values_settle(worker);
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        race_lane(worker, __builtin_ctz(rest));
}
