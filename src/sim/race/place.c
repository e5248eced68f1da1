// How an earlier access is named in a finding: what it was, and which thread of which block made it.

#include "race/clock.h"
#include "race/launches.h"
#include "race/view.h"

const char *sim_role(unsigned kind)
{
    static const char *const names[] = {"read", "write", "atomic", "volatile read", "volatile write"};
    return names[kind];
}

const char *sim_role_at(unsigned site, unsigned kind)
{
    return kind == SIM_WRITE && sim_sites[site].copy != SIM_NO_COPY ? "copy" : sim_role(kind);
}

sim_place sim_race_place(const sim_earlier *earlier)
{
    sim_place place = {.pc = sim_sites[earlier->site].pc, .role = sim_role_at(earlier->site, earlier->kind)};
    uint32_t serial = sim_clock_block_of(earlier->stamp);
    const sim_launch_record *launch = sim_launches_find(serial);
    if (!launch || launch->block[0] == 0)
        return place;
    uint32_t block = serial - launch->first_serial;
    unsigned thread = earlier->thread;
    place.has_thread = true;
    for (int i = 0; i < 3; i++) {
        place.thread[i] = thread % launch->block[i];
        thread /= launch->block[i];
        place.block[i] = block % launch->grid[i];
        block /= launch->grid[i];
    }
    return place;
}
