// Fibers: several stacks that take turns on one OS thread. Only the switch from one stack to another is here; which one
// comes next is the scheduler's business (scheduler.c), where the stacks come from is stacks.c's.
#pragma once

#include <stddef.h>

// A fiber that does not run: everything needed to go on with it lies on its stack, behind this pointer.
typedef void *sim_context;

// Makes a context that calls `entry` on the stack [low, top) once it is switched to. `entry` never returns.
sim_context sim_fiber_prepare(void *low, void *top, void (*entry)(void));
// Stops here, leaving *save to be gone on with, and goes on with `to`.
void sim_fiber_switch(sim_context *save, sim_context to);
// Goes on with `to` and forgets the present fiber: its stack may even be the one that `to` starts on.
void sim_fiber_leave(sim_context to) __attribute__((noreturn));
