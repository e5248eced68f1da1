// Blocks that take turns at their barriers. Run one after the other, blocks meet only where one of them waits; what
// goes wrong when two of them are in the middle of a kernel at once (each looks for a free place, then both take it) is
// not seen then. So in schedules other than the first, a block of a kernel whose blocks can talk may have to stop
// behind a barrier while others start or go on. Not without end: what each turn costs, a large program would pay very
// often.
#include "core/launch.h"
#include "core/order.h"
#include "core/scheduler.h"
#include "machine/options.h"

// Stops to spend in all: a launch may have a share of what is left, and a few in any case.
enum { STOPS = 1024, SHARE = 16, LEAST = 2 };

static struct {
    unsigned spent;       // by the launches before
    unsigned left, given; // of this launch's own
    uint64_t barriers;    // of this launch, so far
} turns;

// Launches whose blocks talk have one worker, so nothing here is locked.
void sim_turns_begin(const sim_launch_state *launch)
{
    bool possible = sim_schedule != SIM_SCHEDULE_ASCENDING && sim_workers_taking_part == 1 && launch->blocks > 1 &&
                    (launch->uses & (SIM_USES_ATOMICS | SIM_USES_FENCES));
    turns.spent += turns.given - turns.left;
    turns.given = !possible ? 0 : LEAST + (turns.spent < STOPS ? (STOPS - turns.spent) / SHARE : 0);
    turns.left = turns.given;
    turns.barriers = 0;
}

// In the second schedule, which may be the last, at every barrier: blocks go through the kernel side by side. Later
// ones draw, so that one gets ahead of another.
bool sim_turns_stop(const sim_launch_state *launch)
{
    if (turns.left == 0)
        return false;
    uint64_t salt = launch->number << 32 | turns.barriers++;
    if (sim_schedule != SIM_SCHEDULE_DESCENDING && !sim_order_chance(salt))
        return false;
    turns.left--;
    return true;
}
