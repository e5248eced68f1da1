// The schedules other than "ascending": descending, and permutations drawn from the schedule's number. Blocks change
// places only within a window: hardware starts low blocks first, and programs in which a block waits for an earlier one
// rely on it.
#include "core/order.h"

enum { WINDOW = 256 };

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t draw(uint64_t salt)
{
    return mix(mix(sim_schedule) + salt);
}

int sim_order_drawn(uint32_t mask, uint64_t salt)
{
    uint64_t drawn = draw(salt);
    // An odd step visits every lane once.
    uint32_t step = (uint32_t)drawn | 1, lane = (uint32_t)(drawn >> 32) % SIM_LANES;
    while (!(mask >> lane & 1))
        lane = (lane + step) % SIM_LANES;
    return (int)lane;
}

bool sim_order_chance(uint64_t salt)
{
    return draw(salt) >> 63;
}

double sim_order_share(uint64_t seed, uint64_t launch, uint64_t block)
{
    return (double)(draw(mix(mix(seed) + launch) + block) >> 11) * 0x1p-53;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint64_t sim_order_block(uint64_t position, uint64_t blocks)
{
    if (sim_schedule == SIM_SCHEDULE_ASCENDING)
        return position;
    uint64_t first = position - position % WINDOW;
    uint64_t count = blocks - first < WINDOW ? blocks - first : WINDOW;
    uint64_t place = position - first;
    if (sim_schedule == SIM_SCHEDULE_DESCENDING)
        return first + count - 1 - place;
    uint64_t drawn = draw(~first);
    uint64_t step = drawn % count + 1;
    while (greatest_common_divisor(step, count) != 1)
        step++;
    return first + (place * step + (drawn >> 32)) % count;
}
