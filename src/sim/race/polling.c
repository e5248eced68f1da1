// Whether the reads of a site poll. A read polls if the same instruction was seen to read a word again in the same
// thread, which had not stored there in between (progress/polls.c): two reads in one expression are two instructions.
// Others on the source line of such an instruction poll with it: the one before a loop, where the compiler has written
// the first round out, and the second of two words that the loop waits for, which is looked at once if it is set by
// then.

#include <string.h>

#include "program/lines.h"
#include "race/site.h"
#include "race/view.h"

// Asks for the lines of all volatile reads at once: each question starts a program.
static void find_lines(void)
{
    bool asked = false;
    for (unsigned site = 1; site < SIM_SITES; site++)
        if (sim_sites[site].kind == SIM_VOLATILE_READ && !sim_lines_of(sim_sites[site].pc)) {
            sim_lines_want(sim_sites[site].pc);
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
    if (sim_sites[site].polls)
        return true;
    for (unsigned other = 1; other < SIM_SITES; other++) {
        if (!sim_sites[other].polls)
            continue;
        find_lines();
        if (sim_on_one_line(site, other))
            return true;
    }
    return false;
}
