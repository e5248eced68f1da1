// The list of launches so far, by the serial numbers of their blocks.

#include "race/launches.h"

#include <stddef.h>
#include <stdlib.h>

#include "race/stream_order.h"

static sim_launch_record *records;
static size_t count, room;
static uint32_t next_serial = 1;
static bool renewed; // the numbers of the records are not in order any more

static sim_launch_record *add(uint64_t number, uint32_t blocks, uint32_t next_stamp)
{
    if (count == room) {
        size_t larger = room ? 2 * room : 64;
        sim_launch_record *moved = realloc(records, larger * sizeof *moved);
        if (!moved)
            return NULL;
        records = moved;
        room = larger;
    }
    sim_launch_record *record = &records[count++];
    *record =
        (sim_launch_record){.number = number, .first_serial = next_serial, .blocks = blocks, .first_stamp = next_stamp};
    next_serial += blocks;
    return record;
}

// The first stamp of the earliest launch that may still run beside number.
static uint32_t floor_of(uint64_t number, uint32_t next_stamp)
{
    uint64_t below = sim_ordered_below(number);
    uint32_t floor = next_stamp;
    if (below == number)
        return floor;
    for (size_t i = count; i-- > 0 && (renewed || records[i].number >= below);)
        if (records[i].number >= below && records[i].number < number)
            floor = records[i].first_stamp;
    return floor;
}

static const sim_launch_record *find_number(uint64_t number)
{
    for (size_t i = count; number != SIM_NO_NUMBER && i-- > 0;)
        if (records[i].number == number && records[i].depth == 0)
            return &records[i];
    return NULL;
}

// The launch may begin beside the one before it in its stream, unless that is a copy, or the host has waited for it.
static void begin_beside(sim_launch_state *launch, sim_launch_record *record)
{
    const uint64_t before = sim_order_before(launch->number);
    const sim_launch_record *beside = sim_order_waited(before) ? NULL : find_number(before);
    if (!beside)
        return;
    record->beside = beside->first_serial;
    launch->awaits = next_serial++;
}

// The first stamp of those that it may have begun beside.
static uint32_t floor_beside(const sim_launch_record *record, uint32_t floor)
{
    while (record->beside != 0) {
        record = sim_launches_find(record->beside);
        if (!record)
            return floor;
        floor = record->first_stamp < floor ? record->first_stamp : floor;
        if (record->waits && record->waits_first)
            break; // nothing before it can run any more
    }
    return floor;
}

uint32_t sim_launches_begin(sim_launch_state *launch, uint32_t next_stamp, uint32_t *passed)
{
    launch->awaits = 0;
    *passed = next_stamp;
    sim_launch_record *record = add(launch->number, (uint32_t)launch->blocks, next_stamp);
    if (!record)
        return next_stamp;
    launch->first_serial = record->first_serial;
    record->name = launch->kernel->name;
    record->launched_at = launch->launched_at;
    const sim_dim *grid = &launch->config.grid, *block = &launch->config.block;
    record->grid[0] = grid->x, record->grid[1] = grid->y, record->grid[2] = grid->z;
    record->block[0] = block->x, record->block[1] = block->y, record->block[2] = block->z;
    const sim_origin *origin = launch->origin;
    const sim_launch_record *parent = origin ? sim_launches_find(origin->block) : NULL;
    if (!parent) {
        const uint32_t floor = floor_of(launch->number, next_stamp);
        if (launch->config.dependent)
            begin_beside(launch, record);
        const sim_launch_record *beside = record->beside != 0 ? sim_launches_find(record->beside) : NULL;
        const uint32_t early = floor_beside(record, floor);
        *passed = beside && beside->beside != 0 && !beside->waits ? early : floor;
        return early;
    }
    record->origin = *origin;
    record->origin.known = NULL;
    record->depth = parent->depth + 1;
    return *passed = origin->floor < next_stamp ? origin->floor : next_stamp;
}

void sim_launches_forget(void)
{
    count = 0;
    renewed = false;
}

const sim_launch_record *sim_launches_find(uint32_t serial)
{
    size_t low = 0, high = count;
    while (low < high) { // the first record that starts after serial
        size_t middle = low + (high - low) / 2;
        if (records[middle].first_serial <= serial)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || serial - records[low - 1].first_serial >= records[low - 1].blocks)
        return NULL;
    return &records[low - 1];
}

bool sim_launches_renew(uint32_t serial, uint64_t number)
{
    const sim_launch_record *found = sim_launches_find(serial);
    if (!found)
        return false;
    records[found - records].number = number;
    renewed = true;
    return true;
}

static const sim_launch_record *parent_of(const sim_launch_record *record)
{
    return record->depth > 0 ? sim_launches_find(record->origin.block) : NULL;
}

// Climbs from both to the nearest launch that both come from, and tells by which of its launches each does: NULL for
// that launch itself. False: there is none.
static bool find_branches(const sim_launch_record *one, const sim_launch_record *other,
                          const sim_launch_record *branch[2])
{
    branch[0] = branch[1] = NULL;
    while (one != other) {
        const bool first = one->depth >= other->depth;
        const sim_launch_record **climbs = first ? &one : &other;
        branch[!first] = *climbs;
        *climbs = parent_of(*climbs);
        if (!*climbs)
            return false;
    }
    return true;
}

bool sim_launches_related(uint32_t one_serial, uint32_t other_serial, bool *parent)
{
    const sim_launch_record *one = sim_launches_find(one_serial), *other = sim_launches_find(other_serial);
    const sim_launch_record *branch[2];
    if (!one || !other || one == other || !find_branches(one, other, branch))
        return false;
    *parent = !branch[0] || !branch[1];
    return true;
}

// A grid runs before those that it launches, so that the earlier of two accesses is never the child's.
static bool ordered_in_family(const sim_launch_record *earlier, const sim_launch_record *later)
{
    const sim_launch_record *branch[2];
    if (!find_branches(earlier, later, branch) || !branch[1])
        return true;
    const sim_origin *first = branch[0] ? &branch[0]->origin : NULL, *second = &branch[1]->origin;
    if (!first || second->tail) // tail launches of a grid run one after another
        return second->tail;
    return !first->tail && !first->alone && !second->alone && first->block == second->block &&
           first->stream == second->stream && first->order < second->order;
}

bool sim_launches_ordered(uint32_t earlier_serial, uint32_t later_serial)
{
    const sim_launch_record *earlier = sim_launches_find(earlier_serial), *later = sim_launches_find(later_serial);
    if (!earlier || !later || earlier == later)
        return false;
    return earlier->number == later->number ? ordered_in_family(earlier, later)
                                            : sim_ordered(earlier->number, later->number);
}

// Climbs from launch to launch, each of which may have begun before the one before it had ended.
bool sim_launches_ended(uint32_t earlier_serial, uint32_t later_serial, bool waited)
{
    const sim_launch_record *earlier = sim_launches_find(earlier_serial), *later = sim_launches_find(later_serial);
    while (earlier && later && later->beside != 0 && !sim_order_waited(earlier->number)) {
        const sim_launch_record *before = sim_launches_find(later->beside);
        if (!before)
            return true;
        if (earlier->number == before->number)
            return waited;
        if (!sim_ordered(earlier->number, before->number))
            return true; // by an event, or by the host
        // What the launch between them has waited for is over once that one has ended, or has let this one begin.
        if (waited ? before->waits : before->waits_first)
            return true;
        waited = false;
        later = before;
    }
    return true;
}

// Workers may say the same at once.
static void set(uint32_t serial, size_t offset)
{
    const sim_launch_record *found = sim_launches_find(serial);
    if (found)
        __atomic_store_n((bool *)((char *)&records[found - records] + offset), true, __ATOMIC_RELAXED);
}

void sim_launches_wait(uint32_t serial)
{
    set(serial, offsetof(sim_launch_record, waits));
}

void sim_launches_trigger(uint32_t serial)
{
    set(serial, offsetof(sim_launch_record, triggers));
}

void sim_launches_waited_first(uint32_t serial)
{
    set(serial, offsetof(sim_launch_record, waits_first));
}
