// The switch between fibers. A switch saves what a called function must preserve and nothing else, so it costs about as
// much as a call; machines without an assembly version use ucontext, which also makes two system calls per switch.
#define _GNU_SOURCE
#include "core/fiber.h"

#include <stdint.h>
#include <string.h>

#if !defined(SIM_FIBER_UCONTEXT) && defined(__aarch64__)

// What the switch stores, lowest address first: x19..x28, frame pointer, return address, d8..d15.
enum { SAVED_BYTES = 160, SAVED_RETURN = 11 };

__asm__(".text\n"
        ".p2align 4\n"
        ".globl sim_fiber_switch\n"
        ".type sim_fiber_switch, %function\n"
        "sim_fiber_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size sim_fiber_switch, .-sim_fiber_switch\n");

sim_context sim_fiber_prepare(void *low, void *top, void (*entry)(void))
{
    (void)low;
    uint64_t *saved = (uint64_t *)(((uintptr_t)top & ~(uintptr_t)15) - SAVED_BYTES);
    memset(saved, 0, SAVED_BYTES);
    saved[SAVED_RETURN] = (uint64_t)(uintptr_t)entry;
    return saved;
}

#elif !defined(SIM_FIBER_UCONTEXT) && defined(__x86_64__)

// What the switch stores, lowest address first: r15, r14, r13, r12, rbx, rbp, return address.
enum { SAVED_WORDS = 7, SAVED_RETURN = 6 };

__asm__(".text\n"
        ".p2align 4\n"
        ".globl sim_fiber_switch\n"
        ".type sim_fiber_switch, @function\n"
        "sim_fiber_switch:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size sim_fiber_switch, .-sim_fiber_switch\n");

sim_context sim_fiber_prepare(void *low, void *top, void (*entry)(void))
{
    (void)low;
    // Above the return address one empty word: a function expects to be entered with its stack 8 off a multiple of 16.
    uint64_t *end = (uint64_t *)((uintptr_t)top & ~(uintptr_t)15) - 1;
    uint64_t *saved = end - SAVED_WORDS;
    memset(saved, 0, (SAVED_WORDS + 1) * sizeof *saved);
    saved[SAVED_RETURN] = (uint64_t)(uintptr_t)entry;
    return saved;
}

#else
#define SIM_FIBER_PORTABLE

#include <stdlib.h>
#include <ucontext.h>

static __thread ucontext_t outside;  // the OS thread's own stack
static __thread ucontext_t *running; // NULL: outside

sim_context sim_fiber_prepare(void *low, void *top, void (*entry)(void))
{
    ucontext_t *context = (ucontext_t *)(((uintptr_t)top - sizeof(ucontext_t)) & ~(uintptr_t)63);
    getcontext(context);
    context->uc_stack.ss_sp = low;
    context->uc_stack.ss_size = (size_t)((char *)context - (char *)low);
    context->uc_link = NULL;
    makecontext(context, entry, 0);
    return context;
}

void sim_fiber_switch(sim_context *save, sim_context to)
{
    ucontext_t *from = running ? running : &outside;
    *save = from;
    running = to;
    swapcontext(from, running);
}

void sim_fiber_leave(sim_context to)
{
    running = to;
    setcontext(running);
    abort(); // setcontext came back: the context was not one of ours
}

#endif

#ifndef SIM_FIBER_PORTABLE
void sim_fiber_leave(sim_context to)
{
    sim_context forgotten;
    sim_fiber_switch(&forgotten, to);
    __builtin_unreachable();
}
#endif
