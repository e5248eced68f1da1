// Whether the reads of a site poll. A read polls if the same instruction was seen to read a word again in the same
// thread, which had not stored there in between (progress/polls.c): two reads in one expression are two instructions.
// The instruction before a loop polls with the one in it if both are on one source line.

#include <string.h>

#include "program/lines.h"
#include "race/site.h"
#include "race/view.h"

// Asks for all lines at once: each question starts a program.
static void find_lines(void)
{
    bool asked = false;
    for (unsigned site = 1; site < SIM_SITES; site++) {
        unsigned again = sim_sites[site].again;
        if (again == 0 || again == site || (sim_lines_of(sim_sites[site].pc) && sim_lines_of(sim_sites[again].pc)))
            continue;
        sim_lines_want(sim_sites[site].pc);
        sim_lines_want(sim_sites[again].pc);
        asked = true;
    }
    if (asked)
        sim_lines_resolve();
}

static const sim_frame *frame_of(unsigned site)
{
    const sim_stack *stack = sim_lines_of(sim_sites[site].pc);
    return stack ? &stack->frames[0] : NULL;
}

bool sim_on_one_line(unsigned site, unsigned other)
{
    if (!sim_lines_of(sim_sites[site].pc) || !sim_lines_of(sim_sites[other].pc)) {
        sim_lines_want(sim_sites[site].pc);
        sim_lines_want(sim_sites[other].pc);
        sim_lines_resolve();
    }
    const sim_frame *one = frame_of(site), *two = frame_of(other);
    return one && two && one->line == two->line && strcmp(one->file, two->file) == 0;
}

bool sim_polls_at(unsigned site)
{
    unsigned again = sim_sites[site].again;
    if (again == 0 || again == site)
        return again == site;
    if (sim_sites[again].again != again)
        return false; // neither of them is in a loop
    find_lines();
    return sim_on_one_line(site, again);
}
