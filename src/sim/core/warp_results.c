// What the lanes of a warp collective get: shuffles, votes, matches and reductions, by the rules of PTX. Lanes that
// came with different operations (reported by meet.c) each get the result of their own.
#include <stdio.h>
#include <string.h>

#include "core/scheduler.h"

const char *sim_warp_name(int operation)
{
    static const char *const names[] = {
        [SIM_SHUFFLE_INDEX] = "__shfl_sync",
        [SIM_SHUFFLE_UP] = "__shfl_up_sync",
        [SIM_SHUFFLE_DOWN] = "__shfl_down_sync",
        [SIM_SHUFFLE_XOR] = "__shfl_xor_sync",
        [SIM_BALLOT] = "__ballot_sync",
        [SIM_ALL] = "__all_sync",
        [SIM_ANY] = "__any_sync",
        [SIM_MATCH_ANY] = "__match_any_sync",
        [SIM_MATCH_ALL] = "__match_all_sync",
        [SIM_REDUCE_ADD] = "__reduce_add_sync",
        [SIM_REDUCE_MIN] = "__reduce_min_sync",
        [SIM_REDUCE_MAX] = "__reduce_max_sync",
        [SIM_REDUCE_MIN_SIGNED] = "__reduce_min_sync",
        [SIM_REDUCE_MAX_SIGNED] = "__reduce_max_sync",
        [SIM_REDUCE_AND] = "__reduce_and_sync",
        [SIM_REDUCE_OR] = "__reduce_or_sync",
        [SIM_REDUCE_XOR] = "__reduce_xor_sync",
        [SIM_WARP_SYNC] = "__syncwarp",
        [SIM_WARP_CALL] = "a warp-wide operation",
        [SIM_WARP_ACTIVE] = "__activemask",
    };
    return names[operation];
}

// The lane that a shuffle reads; its own where the other would lie outside its segment.
static int source_of(int operation, int lane, int argument, int width)
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

static void report_source(sim_worker *worker, int lane, int source, uintptr_t pc, const char *name)
{
    sim_finding finding = sim_finding_make(worker, SIM_WARP_MASK, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message,
             "%s: lane %d reads from lane %d, which does not take part: the value is undefined", name, lane, source);
    finding.place[0] = sim_place_of(worker, worker->warp * SIM_LANES + lane, pc, "call");
    sim_report(&finding);
}

static int checked_width(sim_worker *worker, int lane, int width)
{
    if (width >= 1 && width <= SIM_LANES && (width & (width - 1)) == 0)
        return width;
    const sim_block *block = worker->block;
    int thread = worker->warp * SIM_LANES + lane;
    sim_finding finding = sim_finding_make(worker, SIM_WARP_MASK, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message, "the width of a shuffle is %d, not a power of two up to 32",
             width);
    finding.place[0] = sim_place_of(worker, thread, block->waits_at[thread], "call");
    sim_report(&finding);
    return SIM_LANES;
}

// What a lane gets from one that is not there: the largest float or a very small one, so that whoever adds it, or takes
// a maximum or a minimum with it, has another value than before.
static const uint64_t lost_value[2] = {0x7f7fffff7f7fffff, 0xff7fffffff7fffff};

// False: the lane read one that is not there, which is reported.
static bool shuffle(sim_worker *worker, uint32_t lanes, const uint64_t *brought, int lane)
{
    sim_resident *resident = sim_resident_of(worker->block);
    int thread = worker->warp * SIM_LANES + lane, operation = resident->operation[thread];
    int source = source_of(operation, lane, resident->argument[thread], resident->width[thread]);
    bool missing = !(lanes >> source & 1);
    bool wrong = missing && operation != SIM_SHUFFLE_DOWN;
    if (wrong)
        report_source(worker, lane, source, resident->block.waits_at[thread], sim_warp_name(operation));
    bool lost = missing && operation == SIM_SHUFFLE_DOWN;
    resident->value[thread] = lost ? lost_value[lane % 2] : brought[missing ? lane : source];
    return !wrong;
}

static uint64_t vote(int operation, uint32_t lanes, const uint64_t *brought)
{
    uint32_t yes = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        yes |= (uint32_t)(brought[lane] != 0) << lane;
    }
    return operation == SIM_BALLOT ? yes : operation == SIM_ALL ? yes == lanes : yes != 0;
}

static uint64_t match(int operation, uint32_t lanes, const uint64_t *brought, uint64_t mine)
{
    uint32_t same = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        same |= (uint32_t)(brought[lane] == mine) << lane;
    }
    return operation == SIM_MATCH_ANY || same == lanes ? same : 0;
}

static uint32_t combine(int operation, uint32_t a, uint32_t b)
{
    switch (operation) {
    case SIM_REDUCE_ADD: return a + b;
    case SIM_REDUCE_MIN: return a < b ? a : b;
    case SIM_REDUCE_MAX: return a > b ? a : b;
    case SIM_REDUCE_MIN_SIGNED: return (int32_t)a < (int32_t)b ? a : b;
    case SIM_REDUCE_MAX_SIGNED: return (int32_t)a > (int32_t)b ? a : b;
    case SIM_REDUCE_AND: return a & b;
    case SIM_REDUCE_OR: return a | b;
    default: return a ^ b;
    }
}

static uint64_t reduce(int operation, uint32_t lanes, const uint64_t *brought)
{
    uint32_t result = (uint32_t)brought[__builtin_ctz(lanes)];
    for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1)
        result = combine(operation, result, (uint32_t)brought[__builtin_ctz(rest)]);
    return result;
}

// --- shuffles down --------------------------------------------------------------------------------------------------
//
// A reduction by shuffles down (by 8, 4, 2, 1) reads, in its upper lanes, values that nobody uses, and at the edge of
// an array lanes throw away what they get. Lanes that are not there do no harm then, as long as what they give does not
// travel down to the lowest lane; so it is followed on its way. Whether a lane has used what it got shows at the next
// step: it comes with another value than before. In any other shuffle down, to read a lane that the mask leaves out or
// the block never had is mostly the edge of an array, and the value is dropped; one that the mask names but that has
// exited is wrong. Which of the two a first step is shows at the next.

static void report_open(sim_worker *worker, int warp)
{
    sim_resident *resident = sim_resident_of(worker->block);
    int before = worker->warp;
    resident->warps_open &= ~(1u << warp);
    worker->warp = warp;
    report_source(worker, resident->open_reader[warp], resident->open_source[warp], resident->open_at[warp],
                  sim_warp_name(SIM_SHUFFLE_DOWN));
    worker->warp = before;
}

void sim_warp_conclude(sim_worker *worker)
{
    const sim_resident *resident = sim_resident_of(worker->block);
    while (resident->warps_open)
        report_open(worker, __builtin_ctz(resident->warps_open));
}

static void leave_open(sim_resident *resident, int warp, int lane, int source)
{
    resident->warps_open |= 1u << warp;
    resident->open_reader[warp] = (uint8_t)lane;
    resident->open_source[warp] = (uint8_t)source;
    resident->open_at[warp] = resident->block.waits_at[warp * SIM_LANES + lane];
}

static bool is_lowest(const sim_resident *resident, int thread, uint32_t lanes)
{
    unsigned lane = (unsigned)thread % SIM_LANES, first = lane & ~(resident->width[thread] - 1u);
    return __builtin_ctz(lanes >> first << first) == (int)lane;
}

static bool report_lost(sim_worker *worker, int lane)
{
    const sim_lost_read *lost = &sim_resident_of(worker->block)->lost[worker->warp * SIM_LANES + lane];
    report_source(worker, lost->reader, lost->source, lost->at, sim_warp_name(SIM_SHUFFLE_DOWN));
    return false;
}

// Whether the lane comes with a value that it had at the last step: what it got then, it has thrown away.
static bool holds_still(const sim_resident *resident, int thread)
{
    for (int i = 0; i < resident->held_count[thread / SIM_LANES]; i++)
        if (resident->held[i][thread] == resident->value[thread])
            return true;
    return false;
}

// The next step of a reduction: who has used the undefined value of the last one. False: the lowest lane has.
static bool settle(sim_worker *worker, uint32_t lanes)
{
    sim_resident *resident = sim_resident_of(worker->block);
    int warp = worker->warp;
    bool fine = true;
    for (uint32_t rest = resident->received[warp] & lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest), thread = warp * SIM_LANES + lane;
        if (resident->undefined[warp] >> lane & 1 || holds_still(resident, thread))
            continue;
        resident->undefined[warp] |= 1u << lane;
        if (is_lowest(resident, thread, lanes))
            fine = report_lost(worker, lane);
    }
    return fine;
}

static void hold(sim_resident *resident, int warp, uint32_t lanes)
{
    if (resident->held_count[warp] == SIM_HELD_VALUES)
        return;
    uint64_t *held = resident->held[resident->held_count[warp]++];
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int thread = warp * SIM_LANES + __builtin_ctz(rest);
        held[thread] = resident->value[thread];
    }
}

// False: an undefined value has reached the lowest lane.
static bool follow(sim_worker *worker, uint32_t lanes, uint32_t gone)
{
    sim_resident *resident = sim_resident_of(worker->block);
    int warp = worker->warp;
    bool fine = true;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest), thread = warp * SIM_LANES + lane;
        if (resident->operation[thread] != SIM_SHUFFLE_DOWN)
            continue;
        int source = source_of(SIM_SHUFFLE_DOWN, lane, resident->argument[thread], resident->width[thread]);
        bool missing = !(lanes >> source & 1);
        if (!missing && (source == lane || !(resident->undefined[warp] >> source & 1)))
            continue;
        resident->received[warp] |= 1u << lane;
        if (!(resident->undefined[warp] >> lane & 1)) // the first that a lane has used is the one to name
            resident->lost[thread] =
                missing ? (sim_lost_read){resident->block.waits_at[thread], (uint8_t)lane, (uint8_t)source}
                        : resident->lost[warp * SIM_LANES + source];
        if (!missing && is_lowest(resident, thread, lanes))
            fine = report_lost(worker, lane);
        else if (gone >> source & 1 && resident->shift[warp] == 0)
            leave_open(resident, warp, lane, source);
    }
    return fine;
}

static bool shuffles_down(sim_worker *worker, uint32_t lanes, uint32_t gone)
{
    sim_resident *resident = sim_resident_of(worker->block);
    int warp = worker->warp, leader = warp * SIM_LANES + __builtin_ctz(lanes);
    int distance = resident->argument[leader] & (SIM_LANES - 1), before = resident->shift[warp];
    uint32_t bit = 1u << warp;
    bool goes_on = distance > 0 && distance == before / 2, fine = true;
    // The same distance again: a second value that is reduced beside the first.
    bool repeats = distance == before && (distance > 1 || (resident->warps_reducing & bit));
    if (goes_on) {
        resident->warps_open &= ~bit;
        resident->warps_reducing |= bit;
        fine = settle(worker, lanes);
    } else {
        resident->undefined[warp] = 0;
    }
    resident->received[warp] = 0;
    if (!repeats)
        resident->held_count[warp] = 0;
    hold(resident, warp, lanes);
    if (!goes_on && !repeats) {
        if (resident->warps_open & bit)
            report_open(worker, warp);
        resident->warps_reducing &= ~bit;
        resident->shift[warp] = 0;
    }
    if (lanes != UINT32_MAX || resident->undefined[warp])
        fine &= follow(worker, lanes, gone);
    resident->shift[warp] = (uint8_t)distance;
    // By one, and no step by two before it: no reduction.
    if (distance == 1 && (resident->warps_open & bit)) {
        report_open(worker, warp);
        fine = false;
    }
    return fine;
}

// One result for all lanes, where the operation has one.
static uint64_t common_result(int operation, uint32_t lanes, const uint64_t *brought)
{
    if (operation >= SIM_BALLOT && operation <= SIM_ANY)
        return vote(operation, lanes, brought);
    return operation >= SIM_REDUCE_ADD && operation <= SIM_REDUCE_XOR ? reduce(operation, lanes, brought) : 0;
}

bool sim_warp_results(sim_worker *worker, uint32_t lanes, uint32_t gone)
{
    sim_resident *resident = sim_resident_of(worker->block);
    int warp = worker->warp, base = warp * SIM_LANES;
    uint64_t brought[SIM_LANES];
    memcpy(brought, &resident->value[base], sizeof brought);
    int leader = base + __builtin_ctz(lanes), operation = resident->operation[leader];
    bool fine = true;
    if (operation <= SIM_SHUFFLE_XOR)
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            int thread = base + __builtin_ctz(rest);
            resident->width[thread] = (uint8_t)checked_width(worker, thread - base, resident->width[thread]);
        }
    if (operation == SIM_SHUFFLE_DOWN)
        fine = shuffles_down(worker, lanes, gone);
    uint64_t common = common_result(operation, lanes, brought);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int thread = base + __builtin_ctz(rest), own = resident->operation[thread];
        if (own <= SIM_SHUFFLE_XOR)
            fine &= shuffle(worker, lanes, brought, thread - base);
        else if (own == SIM_MATCH_ANY || own == SIM_MATCH_ALL)
            resident->value[thread] = match(own, lanes, brought, brought[thread - base]);
        else
            resident->value[thread] = own == operation ? common : common_result(own, lanes, brought);
    }
    return fine;
}
