// The log of a lane, and what happens when it is full.

#include "machine/errors.h"
#include "progress/repeat.h"
#include "progress/watchdog.h"
#include "watch/internal.h"
#include "watch/trace.h"

// sim_log_full itself: saves the registers that a caller may keep its variables in, and passes their address.
#if defined(__aarch64__)
__asm__(".text\n"
        ".p2align 4\n"
        ".globl sim_log_full\n"
        ".hidden sim_log_full\n"
        ".type sim_log_full, %function\n"
        "sim_log_full:\n"
        "    stp x29, x30, [sp, #-160]!\n"
        "    stp x19, x20, [sp, #16]\n"
        "    stp x21, x22, [sp, #32]\n"
        "    stp x23, x24, [sp, #48]\n"
        "    stp x25, x26, [sp, #64]\n"
        "    stp x27, x28, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x1, sp\n"
        "    bl sim_log_full_from\n"
        "    ldp x29, x30, [sp], #160\n"
        "    ret\n"
        ".size sim_log_full, .-sim_log_full\n");
#elif defined(__x86_64__)
__asm__(".text\n"
        ".p2align 4\n"
        ".globl sim_log_full\n"
        ".hidden sim_log_full\n"
        ".type sim_log_full, @function\n"
        "sim_log_full:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, %rsi\n"
        "    sub $8, %rsp\n"
        "    call sim_log_full_from\n"
        "    add $56, %rsp\n"
        "    ret\n"
        ".size sim_log_full, .-sim_log_full\n");
#else
void sim_log_full_from(sim_worker *worker, const uint64_t *state);
void sim_log_full(sim_worker *worker)
{
    sim_log_full_from(worker, NULL);
}
#endif

// Called from assembly only.
void sim_log_full_from(sim_worker *worker, const uint64_t *state) __attribute__((visibility("hidden"), used));

void sim_log_add(sim_worker *worker, unsigned site, uintptr_t address)
{
    uint64_t *next = worker->log_next;
    *next++ = (uint64_t)site << SIM_ENTRY_SHIFT | address;
    worker->log_next = next;
    if (worker->block->trace)
        sim_trace_logged(worker, address);
    if (next == worker->log_end)
        sim_log_full(worker);
}

static bool goes_round(sim_worker *worker, const uint64_t *state)
{
    return worker->trace && state && worker->watch &&
           sim_repeat_look(worker, worker->watch->log[worker->lane], state,
                           (const uint64_t *)sim_scheduler->stack_top(worker)); // NOLINT(performance-no-int-to-ptr)
}

void sim_log_full_from(sim_worker *worker, const uint64_t *state)
{
    if (goes_round(worker, state)) {
        sim_watchdog_report(worker, sim_sites[worker->log_next[-1] >> SIM_ENTRY_SHIFT].pc, true);
        sim_scheduler->fail(SIM_ERROR_TIMEOUT);
    }
    if (!worker->block->unwatched || !sim_log_pass_full(worker))
        sim_scheduler->log_full(worker);
}
