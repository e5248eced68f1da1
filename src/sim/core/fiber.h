// Fibers: several stacks that take turns on one OS thread. Only the switch from one stack to another is here; which one
// comes next is the scheduler's business (scheduler.c), where the stacks come from is stacks.c's.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// A fiber that does not run: everything needed to go on with it lies on its stack, behind this pointer.
typedef void *sim_context;

// Makes a context that calls `entry` on the stack [low, top) once it is switched to. `entry` never returns.
sim_context sim_fiber_prepare(void *low, void *top, void (*entry)(void));
// Stops here, leaving *save to be gone on with, and goes on with `to`. `fresh`: it has not run since it was prepared.
void sim_fiber_switch(sim_context *save, sim_context to, bool fresh);

// Goes on with `to` and forgets the present fiber: its stack may even be the one that `to` starts on. Inlined, because
// a processor predicts where functions return to from the calls that it has seen last: after one that never returns,
// all frames of `to` would be predicted wrongly.
#if !defined(SIM_FIBER_UCONTEXT) && (defined(__aarch64__) || defined(__x86_64__))
static inline __attribute__((noreturn, always_inline)) void sim_fiber_leave(sim_context to, bool fresh)
{
#if defined(__aarch64__)
    if (fresh)
        __asm__ volatile("mov sp, %0\n    b sim_fiber_begin" : : "r"(to) : "memory");
    else
        __asm__ volatile("mov sp, %0\n    b sim_fiber_resume" : : "r"(to) : "memory");
#else
    if (fresh)
        __asm__ volatile("mov %0, %%rsp\n    jmp sim_fiber_begin" : : "r"(to) : "memory");
    else
        __asm__ volatile("mov %0, %%rsp\n    jmp sim_fiber_resume" : : "r"(to) : "memory");
#endif
    __builtin_unreachable();
}
#else
void sim_fiber_leave(sim_context to, bool fresh) __attribute__((noreturn));
#endif
