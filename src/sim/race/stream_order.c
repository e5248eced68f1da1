// The order of operations: vector clocks over chains, and the records by which the race detector asks for it.
#include "race/stream_order.h"

#include <stdlib.h>
#include <string.h>

typedef struct chain_state {
    uint64_t sequence; // of its last operation
    bool ended;
    // Numbers of the operations that have run since the past was dropped: the one with sequence first + i is number[i].
    uint64_t first, *number;
    size_t count, room;
} chain_state;

typedef struct record {
    size_t chain;
    uint64_t sequence;
    sim_order_clock clock;
    uint64_t submitted;
} record;

static chain_state *chains;
static size_t chain_count, chain_room;
static record *records; // of the operations first_number, first_number + 1, ...
static size_t record_count, record_room;
static uint64_t first_number = 1;
static bool waited_for_all = true;
sim_order_clock sim_host_clock;
void (*sim_order_lacks_memory)(void);

static void lacks_memory(void)
{
    if (sim_order_lacks_memory)
        sim_order_lacks_memory();
}

// Room for one more behind `count` items; false: no memory, and nothing has changed.
static bool has_room(void **items, size_t count, size_t *room, size_t item_bytes)
{
    enum { FIRST_ROOM = 16 };
    if (count < *room)
        return true;
    const size_t wanted = *room == 0 ? FIRST_ROOM : 2 * *room;
    void *larger = realloc(*items, wanted * item_bytes);
    if (larger == NULL) {
        lacks_memory();
        return false;
    }
    *items = larger;
    *room = wanted;
    return true;
}

// --- clocks ---------------------------------------------------------------------------------------------------------

static void extend(sim_order_clock *clock, size_t count)
{
    if (clock->count >= count)
        return;
    uint64_t *larger = realloc(clock->at, count * sizeof *larger);
    if (larger == NULL) {
        lacks_memory();
        return;
    }
    memset(larger + clock->count, 0, (count - clock->count) * sizeof *larger);
    clock->at = larger;
    clock->count = count;
}

void sim_order_join(sim_order_clock *into, const sim_order_clock *from)
{
    extend(into, from->count);
    for (size_t i = 0; i < from->count && i < into->count; i++) {
        if (into->at[i] < from->at[i])
            into->at[i] = from->at[i];
    }
}

void sim_order_clear(sim_order_clock *clock)
{
    free(clock->at);
    *clock = (sim_order_clock){0};
}

uint64_t sim_order_at(const sim_order_clock *clock, size_t chain)
{
    return chain < clock->count ? clock->at[chain] : 0;
}

static bool host_waited_for(size_t chain, uint64_t sequence)
{
    return sim_order_at(&sim_host_clock, chain) >= sequence;
}

// --- chains ---------------------------------------------------------------------------------------------------------

size_t sim_chain_new(void)
{
    for (size_t i = 0; i < chain_count; i++) {
        if (chains[i].ended && host_waited_for(i, chains[i].sequence)) {
            chains[i].ended = false;
            return i;
        }
    }
    if (!has_room((void **)&chains, chain_count, &chain_room, sizeof *chains))
        return SIM_NO_CHAIN;
    chains[chain_count] = (chain_state){.first = 1};
    return chain_count++;
}

void sim_chain_end(size_t chain)
{
    if (chain < chain_count)
        chains[chain].ended = true;
}

bool sim_chain_single(void)
{
    size_t live = 0;
    for (size_t i = 0; i < chain_count; i++)
        live += !chains[i].ended;
    return live <= 1;
}

uint64_t sim_chain_advance(size_t chain, sim_order_clock *clock)
{
    if (chain >= chain_count)
        return 0;
    extend(clock, chain + 1);
    __atomic_store_n(&waited_for_all, false, __ATOMIC_RELAXED);
    const uint64_t sequence = ++chains[chain].sequence;
    if (chain < clock->count)
        clock->at[chain] = sequence;
    return sequence;
}

void sim_chain_all(size_t chain, sim_order_clock *clock)
{
    enum { FAR = 1 << 30 };
    extend(clock, chain + 1);
    if (chain < clock->count)
        clock->at[chain] = (uint64_t)FAR * FAR;
}

// --- the host -------------------------------------------------------------------------------------------------------

bool sim_host_waited_for_clock(const sim_order_clock *clock)
{
    for (size_t i = 0; i < clock->count; i++) {
        if (!host_waited_for(i, clock->at[i]))
            return false;
    }
    return true;
}

void sim_host_waited(const sim_order_clock *clock)
{
    sim_order_join(&sim_host_clock, clock);
    bool all = true;
    for (size_t i = 0; i < chain_count && all; i++)
        all = host_waited_for(i, chains[i].sequence);
    __atomic_store_n(&waited_for_all, all, __ATOMIC_RELAXED);
}

bool sim_host_waited_for_all(void)
{
    return __atomic_load_n(&waited_for_all, __ATOMIC_RELAXED);
}

// --- records --------------------------------------------------------------------------------------------------------

uint64_t sim_order_start(size_t chain, uint64_t sequence, sim_order_clock *clock, uint64_t submitted)
{
    const uint64_t number = first_number + record_count;
    chain_state *own = chain < chain_count ? &chains[chain] : NULL;
    if (own == NULL || !has_room((void **)&records, record_count, &record_room, sizeof *records) ||
        !has_room((void **)&own->number, own->count, &own->room, sizeof *own->number))
        return SIM_NO_NUMBER;
    records[record_count++] = (record){chain, sequence, *clock, submitted};
    *clock = (sim_order_clock){0};
    if (own->count == 0)
        own->first = sequence;
    own->number[own->count++] = number;
    return number;
}

bool sim_order_waited(uint64_t number)
{
    if (number < first_number || number >= first_number + record_count)
        return true;
    const record *one = &records[number - first_number];
    return host_waited_for(one->chain, one->sequence);
}

uint64_t sim_order_before(uint64_t number)
{
    if (number < first_number || number >= first_number + record_count)
        return SIM_NO_NUMBER;
    const record *one = &records[number - first_number];
    const chain_state *own = &chains[one->chain];
    return one->sequence > own->first && one->sequence - own->first <= own->count
               ? own->number[one->sequence - own->first - 1]
               : SIM_NO_NUMBER;
}

uint64_t sim_order_number_at(uint64_t number, size_t chain)
{
    if (number < first_number || number >= first_number + record_count)
        return 0;
    return sim_order_at(&records[number - first_number].clock, chain);
}

static uint64_t submitted_of(uint64_t number)
{
    const bool known = number >= first_number && number < first_number + record_count;
    return known ? records[number - first_number].submitted : 0;
}

const char *sim_order_overwrite_note(uint64_t reader, uint64_t writer)
{
    return submitted_of(reader) < submitted_of(writer) ? "one stream overwrites memory that the other may still read"
                                                       : "";
}

void sim_order_idle(void)
{
    if (!waited_for_all)
        return;
    for (size_t i = 0; i < record_count; i++)
        sim_order_clear(&records[i].clock);
    first_number += record_count;
    record_count = 0;
    for (size_t i = 0; i < chain_count; i++)
        chains[i].count = 0;
}

bool sim_ordered(uint64_t earlier, uint64_t later)
{
    if (earlier < first_number)
        return true; // the host had waited for it before the later one was submitted
    const uint64_t last = first_number + record_count;
    if (later < first_number || earlier >= last || later >= last)
        return false;
    const record *first = &records[earlier - first_number], *second = &records[later - first_number];
    return sim_order_at(&second->clock, first->chain) >= first->sequence;
}

// On each chain the operations run in their order, so the first that is not ordered before `number` is the one behind
// the last that is.
uint64_t sim_ordered_below(uint64_t number)
{
    if (number < first_number || number >= first_number + record_count)
        return number;
    const sim_order_clock *clock = &records[number - first_number].clock;
    uint64_t below = number;
    for (size_t i = 0; i < chain_count; i++) {
        const chain_state *other = &chains[i];
        const uint64_t next = sim_order_at(clock, i) + 1;
        const size_t at = next > other->first ? (size_t)(next - other->first) : 0;
        if (other->count > at && other->number[at] < below)
            below = other->number[at];
    }
    return below;
}
