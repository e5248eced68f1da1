// What the lanes of a warp collective get: shuffles, votes, matches and reductions, by the rules of PTX. Lanes that
// came with different operations (reported by meet.c) each get the result of their own.
#include <stdio.h>
#include <string.h>

#include "core/scheduler.h"
#include "machine/options.h"

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
// a maximum or a minimum with it, has another value than before. In another order of threads it is another value, so
// that results differ which it has found its way into.
static uint64_t lost_value(int lane)
{
    static const uint64_t values[2][2] = {{0x7f7fffff7f7fffff, 0xff7fffffff7fffff},
                                          {0x7f6fffff7f6fffff, 0xff6fffffff6fffff}};
    return values[sim_schedule % 2][lane % 2];
}

// False: the lane read one that is not there, which is reported.
static bool shuffle(sim_worker *worker, uint32_t lanes, const uint64_t *brought, int lane)
{
    sim_resident *resident = sim_resident_of(worker->block);
    int thread = worker->warp * SIM_LANES + lane, operation = resident->collectives.operation[thread];
    int source = sim_shuffle_source(operation, lane, resident->collectives.argument[thread],
                                    resident->collectives.width[thread]);
    bool missing = !(lanes >> source & 1);
    bool wrong = missing && operation != SIM_SHUFFLE_DOWN;
    if (wrong)
        sim_shuffle_report(worker, (sim_lost_read){resident->block.waits_at[thread], (uint8_t)lane, (uint8_t)source},
                           sim_warp_name(operation));
    bool lost = missing && operation == SIM_SHUFFLE_DOWN;
    resident->collectives.value[thread] = lost ? lost_value(lane) : brought[missing ? lane : source];
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
    memcpy(brought, &resident->collectives.value[base], sizeof brought);
    int leader = base + __builtin_ctz(lanes), operation = resident->collectives.operation[leader];
    bool fine = true;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int thread = base + __builtin_ctz(rest);
        if (resident->collectives.operation[thread] <= SIM_SHUFFLE_XOR)
            resident->collectives.width[thread] =
                (uint8_t)checked_width(worker, thread - base, resident->collectives.width[thread]);
    }
    if (operation == SIM_SHUFFLE_DOWN)
        fine = sim_shuffle_down(worker, lanes, gone);
    uint64_t common = common_result(operation, lanes, brought);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int thread = base + __builtin_ctz(rest), own = resident->collectives.operation[thread];
        if (own <= SIM_SHUFFLE_XOR)
            fine &= shuffle(worker, lanes, brought, thread - base);
        else if (own == SIM_MATCH_ANY || own == SIM_MATCH_ALL)
            resident->collectives.value[thread] = match(own, lanes, brought, brought[thread - base]);
        else
            resident->collectives.value[thread] = own == operation ? common : common_result(own, lanes, brought);
    }
    return fine;
}
