// Where a lane is when it comes to a branch: the functions it is in, and the loops with their iterations. Calls that
// the rewriter has put into the program keep the list; what it could not see (a return in a macro, goto, a loop over a
// range) is made good by the next loop around it, or by the branch itself: a lane that comes to it again has gone
// round.

#include <stdlib.h>

#include "watch/branches.h"
#include "watch/internal.h"

enum { FIRST_FRAMES = 8, MOST_FRAMES = 1024, AGAIN = 1 };

#define HOOK __attribute__((visibility("default")))

static sim_branch_frame *push(sim_branch_lane *lane, uint64_t place, uint64_t begin, bool is_loop)
{
    if (lane->depth == lane->room && lane->room < MOST_FRAMES) {
        int room = lane->room ? 2 * lane->room : FIRST_FRAMES;
        sim_branch_frame *frames = realloc(lane->frames, (size_t)room * sizeof *frames);
        if (!frames)
            return NULL;
        lane->frames = frames;
        lane->room = room;
    }
    if (lane->depth == lane->room)
        return NULL;
    sim_branch_frame *frame = &lane->frames[lane->depth++];
    *frame = (sim_branch_frame){.place = place, .begin = begin, .here = begin, .is_loop = is_loop};
    return frame;
}

static sim_branch_frame *top_of(sim_branch_lane *lane)
{
    return lane->depth > 0 ? &lane->frames[lane->depth - 1] : push(lane, 0, AGAIN, false);
}

// The loop of the function that the lane is in; -1: it is not in it.
static int find_loop(const sim_branch_lane *lane, uint64_t place)
{
    for (int i = lane->depth - 1; i >= 0 && lane->frames[i].is_loop; i--)
        if (lane->frames[i].place == place)
            return i;
    return -1;
}

static int find_function(const sim_branch_lane *lane, uint64_t place)
{
    for (int i = lane->depth - 1; i >= 0; i--)
        if (lane->frames[i].place == place)
            return i;
    return -1;
}

typedef struct branch_visitor {
    sim_worker *worker;
    sim_branch_warp *warp; // NULL: nothing is counted
    sim_branch_lane *lane;
    uint32_t bit;
} branch_visitor;

static branch_visitor visitor_here(void)
{
    sim_worker *worker = sim_watching ? sim_current : NULL;
    branch_visitor here = {.worker = worker, .warp = worker ? sim_branch_warp_here(worker) : NULL};
    if (here.warp) {
        here.lane = &here.warp->lanes[worker->lane];
        here.bit = UINT32_C(1) << worker->lane;
    }
    return here;
}

// The execution of a branch in this frame that the lane has not made yet.
static sim_execution *next_execution(const branch_visitor *visitor, sim_branch_frame *frame, uint64_t place)
{
    for (;;) {
        sim_execution *found =
            sim_branch_find(visitor->worker, visitor->warp, visitor->lane, sim_branch_mix(frame->here, place));
        if (!found || !(found->lanes & visitor->bit))
            return found;
        frame->here = sim_branch_mix(frame->here, AGAIN);
    }
}

static void go(const branch_visitor *visitor, sim_execution *execution, uint64_t place, int way, uintptr_t pc)
{
    if (!execution)
        return;
    if (!execution->lanes) {
        execution->place = place;
        execution->pc = pc;
        execution->way = way;
    }
    execution->diverges |= execution->way != way;
    execution->lanes |= visitor->bit;
}

static void let_others_come_up(const branch_visitor *visitor)
{
    if (++visitor->lane->made < SIM_BRANCH_TURN)
        return;
    visitor->lane->made = 0;
    sim_scheduler->log_full(visitor->worker);
}

HOOK void sim_branch(uint64_t place, int way)
{
    branch_visitor here = visitor_here();
    sim_branch_frame *frame = here.warp ? top_of(here.lane) : NULL;
    if (!frame)
        return;
    go(&here, next_execution(&here, frame, place), place, way, (uintptr_t)__builtin_return_address(0));
    let_others_come_up(&here);
}

// The lane enters a loop: one that it has been through already, at the same place, it enters for a second time.
static sim_branch_frame *enter_loop(const branch_visitor *visitor, uint64_t place, bool counted)
{
    sim_branch_frame *around = top_of(visitor->lane);
    if (!around)
        return NULL;
    uint64_t begin = sim_branch_mix(around->here, ~place);
    while (counted) {
        const sim_execution *first =
            sim_branch_find(visitor->worker, visitor->warp, visitor->lane, sim_branch_mix(begin, place));
        if (!first || !(first->lanes & visitor->bit))
            break;
        around->here = sim_branch_mix(around->here, AGAIN);
        begin = sim_branch_mix(around->here, ~place);
    }
    return push(visitor->lane, place, begin, true);
}

HOOK void sim_loop(uint64_t place, int taken, int counted)
{
    branch_visitor here = visitor_here();
    if (!here.warp)
        return;
    int known = find_loop(here.lane, place);
    sim_branch_frame *frame = known >= 0 ? &here.lane->frames[known] : enter_loop(&here, place, counted);
    if (!frame)
        return;
    here.lane->depth = (int)(frame - here.lane->frames) + 1;
    if (counted)
        go(&here, next_execution(&here, frame, place), place, taken, (uintptr_t)__builtin_return_address(0));
    if (taken)
        frame->here = sim_branch_mix(frame->begin, ++frame->iteration);
    else
        here.lane->depth--;
    if (counted)
        let_others_come_up(&here);
}

HOOK void sim_enter(uint64_t place)
{
    branch_visitor here = visitor_here();
    const sim_branch_frame *around = here.warp ? top_of(here.lane) : NULL;
    if (around)
        push(here.lane, place, sim_branch_mix(around->here, ~place), false);
}

HOOK void sim_leave(uint64_t place)
{
    branch_visitor here = visitor_here();
    if (!here.warp)
        return;
    int known = find_loop(here.lane, place);
    known = known >= 0 ? known : find_function(here.lane, place);
    if (known >= 0)
        here.lane->depth = known;
}
