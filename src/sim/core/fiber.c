// The switch between fibers. A switch saves what a called function must preserve and nothing else, so it costs about as
// much as a call; machines without an assembly version use ucontext, which also makes two system calls per switch.
//
// A fiber that goes on is returned to, at the address that the processor predicts: it saw another one stop at the same
// call. One that starts is jumped to, which leaves that prediction for when the present one goes on.
#define _GNU_SOURCE
#include "core/fiber.h"

#include <stdint.h>

#if !defined(SIM_FIBER_UCONTEXT) && defined(__aarch64__)

// What the switch stores, lowest address first: x19..x28, frame pointer, return address, d8..d15. What a fiber starts
// from: the address of its function.
enum { START_BYTES = 16 };

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
        "    cbnz w2, sim_fiber_begin\n"
        ".globl sim_fiber_resume\n"
        ".hidden sim_fiber_resume\n"
        "sim_fiber_resume:\n"
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
        ".globl sim_fiber_begin\n"
        ".hidden sim_fiber_begin\n"
        "sim_fiber_begin:\n"
        "    ldr x16, [sp], #16\n"
        "    mov x29, xzr\n"
        "    mov x30, xzr\n"
        "    br x16\n"
        ".size sim_fiber_switch, .-sim_fiber_switch\n");

sim_context sim_fiber_prepare(void *low, void *top, void (*entry)(void))
{
    (void)low;
    uint64_t *start = (uint64_t *)(((uintptr_t)top & ~(uintptr_t)15) - START_BYTES);
    *start = (uint64_t)(uintptr_t)entry;
    return start;
}

#elif !defined(SIM_FIBER_UCONTEXT) && defined(__x86_64__)

// What the switch stores, lowest address first: r15, r14, r13, r12, rbx, rbp, return address. What a fiber starts from:
// the address of its function, and as that function's own return address nothing.
enum { START_WORDS = 2 };

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
        "    test %edx, %edx\n"
        "    jne sim_fiber_begin\n"
        ".globl sim_fiber_resume\n"
        ".hidden sim_fiber_resume\n"
        "sim_fiber_resume:\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    pop %rcx\n"
        "    jmp *%rcx\n"
        ".globl sim_fiber_begin\n"
        ".hidden sim_fiber_begin\n"
        "sim_fiber_begin:\n"
        "    pop %rcx\n"
        "    xor %ebp, %ebp\n"
        "    jmp *%rcx\n"
        ".size sim_fiber_switch, .-sim_fiber_switch\n");

// How kernels return (SIM_ENDS_THREAD in sim/keywords.h): the compiler calls it by this name.
__asm__(".text\n"
        ".p2align 4\n"
        ".globl __x86_return_thunk\n"
        ".type __x86_return_thunk, @function\n"
        "__x86_return_thunk:\n"
        "    lea 8(%rsp), %rsp\n"
        "    jmp *-8(%rsp)\n"
        ".size __x86_return_thunk, .-__x86_return_thunk\n");

sim_context sim_fiber_prepare(void *low, void *top, void (*entry)(void))
{
    (void)low;
    // A function expects to be entered with its stack 8 off a multiple of 16.
    uint64_t *start = (uint64_t *)((uintptr_t)top & ~(uintptr_t)15) - START_WORDS;
    start[0] = (uint64_t)(uintptr_t)entry;
    start[1] = 0;
    return start;
}

#else

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

void sim_fiber_switch(sim_context *save, sim_context to, bool fresh)
{
    (void)fresh;
    ucontext_t *from = running ? running : &outside;
    *save = from;
    running = to;
    swapcontext(from, running);
}

void sim_fiber_leave(sim_context to, bool fresh)
{
    (void)fresh;
    running = to;
    setcontext(running);
    abort(); // setcontext came back: the context was not one of ours
}

#endif
