// A reduction by shuffles down (by 8, 4, 2, 1) reads, in its upper lanes, values that nobody uses, and at the edge of
// an array lanes throw away what they get. Lanes that are not there do no harm then, as long as what they give does not
// travel down to the lowest lane; so it is followed on its way. Whether a lane has used what it got shows at the next
// step: it comes with another value than before. In any other shuffle down, to read a lane that the mask leaves out or
// the block never had is mostly the edge of an array, and the value is dropped; one that the mask names but that has
// exited is wrong. Which of the two a first step is shows at the next.
#include "core/shuffle_down.h"

#include <stdio.h>

#include "core/meet.h"
#include "core/scheduler.h"

// The lane that a shuffle reads; its own where the other would lie outside its segment.
int sim_shuffle_source(int operation, int lane, int argument, int width)
{
    int distance = argument & (SIM_LANES - 1); // the hardware looks at five bits
    int first = lane & ~(width - 1), last = first + width - 1;
    switch (operation) {
    case SIM_SHUFFLE_INDEX: return first + (argument & (width - 1));
    case SIM_SHUFFLE_UP: return lane - distance < first ? lane : lane - distance;
    case SIM_SHUFFLE_DOWN: return lane + distance > last ? lane : lane + distance;
    default: return (lane ^ distance) > last ? lane : lane ^ distance;
    }
}

void sim_shuffle_report(sim_worker *worker, sim_lost_read lost, const char *name)
{
    sim_finding finding = sim_finding_make(worker, SIM_WARP_MASK, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message,
             "%s: lane %d reads from lane %d, which does not take part: the value is undefined", name, lost.reader,
             lost.source);
    finding.place[0] = sim_place_of(worker, worker->warp * SIM_LANES + lost.reader, lost.at, "call");
    sim_report(&finding);
}

static sim_shuffles *shuffles_of(sim_worker *worker)
{
    return &sim_resident_of(worker->block)->shuffles;
}

static bool report_lost(sim_worker *worker, sim_lost_read lost)
{
    sim_shuffle_report(worker, lost, sim_warp_name(SIM_SHUFFLE_DOWN));
    return false;
}

static void report_open(sim_worker *worker, int warp)
{
    sim_shuffles *shuffles = shuffles_of(worker);
    int before = worker->warp;
    shuffles->warps_open &= ~(1u << warp);
    worker->warp = warp;
    report_lost(worker, shuffles->open[warp]);
    worker->warp = before;
}

void sim_shuffles_conclude(sim_worker *worker)
{
    const sim_shuffles *shuffles = shuffles_of(worker);
    while (shuffles->warps_open)
        report_open(worker, __builtin_ctz(shuffles->warps_open));
}

static bool is_lowest(const sim_collectives *collectives, int thread, uint32_t lanes)
{
    unsigned lane = (unsigned)thread % SIM_LANES, first = lane & ~(collectives->width[thread] - 1u);
    return __builtin_ctz(lanes >> first << first) == (int)lane;
}

// Whether the lane comes with a value that it had at the last step: what it got then, it has thrown away.
static bool holds_still(const sim_shuffles *shuffles, int thread, uint64_t value)
{
    for (int i = 0; i < shuffles->held_count[thread / SIM_LANES]; i++)
        if (shuffles->held[i][thread] == value)
            return true;
    return false;
}

// The next step of a reduction: who has used the undefined value of the last one. False: the lowest lane has.
static bool settle(sim_worker *worker, uint32_t lanes)
{
    const sim_collectives *collectives = &sim_resident_of(worker->block)->collectives;
    sim_shuffles *shuffles = shuffles_of(worker);
    int warp = worker->warp;
    bool fine = true;
    for (uint32_t rest = shuffles->received[warp] & lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest), thread = warp * SIM_LANES + lane;
        if (shuffles->undefined[warp] >> lane & 1 || holds_still(shuffles, thread, collectives->value[thread]))
            continue;
        shuffles->undefined[warp] |= 1u << lane;
        if (is_lowest(collectives, thread, lanes))
            fine = report_lost(worker, shuffles->lost[thread]);
    }
    return fine;
}

static void hold(sim_shuffles *shuffles, const uint64_t *value, int warp, uint32_t lanes)
{
    if (shuffles->held_count[warp] == SIM_HELD_VALUES)
        return;
    uint64_t *held = shuffles->held[shuffles->held_count[warp]++];
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int thread = warp * SIM_LANES + __builtin_ctz(rest);
        held[thread] = value[thread];
    }
}

// One lane shuffles down. False: an undefined value has reached the lowest lane.
static bool follow_lane(sim_worker *worker, int lane, uint32_t lanes, uint32_t gone)
{
    sim_resident *resident = sim_resident_of(worker->block);
    const sim_collectives *collectives = &resident->collectives;
    sim_shuffles *shuffles = &resident->shuffles;
    int warp = worker->warp, thread = warp * SIM_LANES + lane;
    int source = sim_shuffle_source(SIM_SHUFFLE_DOWN, lane, collectives->argument[thread], collectives->width[thread]);
    const sim_lost_read own = {resident->block.waits_at[thread], (uint8_t)lane, (uint8_t)source};
    bool missing = !(lanes >> source & 1);
    if (!missing && (source == lane || !(shuffles->undefined[warp] >> source & 1)))
        return true;
    shuffles->received[warp] |= 1u << lane;
    if (!(shuffles->undefined[warp] >> lane & 1)) // the first that a lane has used is the one to name
        shuffles->lost[thread] = missing ? own : shuffles->lost[warp * SIM_LANES + source];
    if (!missing && is_lowest(collectives, thread, lanes))
        return report_lost(worker, shuffles->lost[thread]);
    if (gone >> source & 1 && shuffles->shift[warp] == 0) {
        shuffles->warps_open |= 1u << warp;
        shuffles->open[warp] = own;
    }
    return true;
}

static bool follow(sim_worker *worker, uint32_t lanes, uint32_t gone)
{
    const sim_collectives *collectives = &sim_resident_of(worker->block)->collectives;
    bool fine = true;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (collectives->operation[worker->warp * SIM_LANES + lane] == SIM_SHUFFLE_DOWN)
            fine &= follow_lane(worker, lane, lanes, gone);
    }
    return fine;
}

bool sim_shuffle_down(sim_worker *worker, uint32_t lanes, uint32_t gone)
{
    const sim_collectives *collectives = &sim_resident_of(worker->block)->collectives;
    sim_shuffles *shuffles = shuffles_of(worker);
    int warp = worker->warp, leader = warp * SIM_LANES + __builtin_ctz(lanes);
    int distance = collectives->argument[leader] & (SIM_LANES - 1), before = shuffles->shift[warp];
    uint32_t bit = 1u << warp;
    bool goes_on = distance > 0 && distance == before / 2, fine = true;
    // The same distance again: a second value that is reduced beside the first.
    bool repeats = distance == before && (distance > 1 || (shuffles->warps_reducing & bit));
    if (goes_on) {
        shuffles->warps_open &= ~bit;
        shuffles->warps_reducing |= bit;
        fine = settle(worker, lanes);
    } else {
        shuffles->undefined[warp] = 0;
    }
    shuffles->received[warp] = 0;
    if (!repeats)
        shuffles->held_count[warp] = 0;
    hold(shuffles, collectives->value, warp, lanes);
    if (!goes_on && !repeats) {
        if (shuffles->warps_open & bit)
            report_open(worker, warp);
        shuffles->warps_reducing &= ~bit;
        shuffles->shift[warp] = 0;
    }
    if (lanes != UINT32_MAX || shuffles->undefined[warp])
        fine &= follow(worker, lanes, gone);
    shuffles->shift[warp] = (uint8_t)distance;
    // By one, and no step by two before it: no reduction.
    if (distance == 1 && (shuffles->warps_open & bit)) {
        report_open(worker, warp);
        fine = false;
    }
    return fine;
}
