// Threads that poll let others run. Headers call sim_spin where a loop may be polling: a compare-and-swap that failed,
// an atomic that changed nothing. Much of that is ordinary work, so each call looks at the caller's registers and
// stack: a loop that only polls comes back with all of them as they were. What follows from that progress/ decides.
#include "core/scheduler.h"
#include "progress/spin.h"

// sim_spin itself: saves the registers that a caller may keep its variables in, and passes their address.
#if defined(__aarch64__)
__asm__(".text\n"
        ".p2align 4\n"
        ".globl sim_spin\n"
        ".type sim_spin, %function\n"
        "sim_spin:\n"
        "    stp x29, x30, [sp, #-96]!\n"
        "    stp x19, x20, [sp, #16]\n"
        "    stp x21, x22, [sp, #32]\n"
        "    stp x23, x24, [sp, #48]\n"
        "    stp x25, x26, [sp, #64]\n"
        "    stp x27, x28, [sp, #80]\n"
        "    mov x0, sp\n"
        "    mov x1, x30\n"
        "    bl sim_spin_from\n"
        "    ldp x29, x30, [sp], #96\n"
        "    ret\n"
        ".size sim_spin, .-sim_spin\n");
#elif defined(__x86_64__)
__asm__(".text\n"
        ".p2align 4\n"
        ".globl sim_spin\n"
        ".type sim_spin, @function\n"
        "sim_spin:\n"
        "    mov (%rsp), %rsi\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, %rdi\n"
        "    sub $8, %rsp\n"
        "    call sim_spin_from\n"
        "    add $56, %rsp\n"
        "    ret\n"
        ".size sim_spin, .-sim_spin\n");
#else
void sim_spin_from(const uint64_t *state, uintptr_t pc);
void sim_spin(void)
{
    sim_spin_from(NULL, (uintptr_t)__builtin_return_address(0));
}
#endif

// Called from assembly only.
void sim_spin_from(const uint64_t *state, uintptr_t pc) __attribute__((visibility("hidden"), used));

void sim_spin_from(const uint64_t *state, uintptr_t pc)
{
    sim_worker *worker = sim_current;
    if (!worker)
        return;
    sim_thread_acts(worker);
    uint64_t hash = 0;
    if (state)
        hash = sim_spin_hash(worker->block->number, state, (const uint64_t *)sim_thread_stack_top(worker)) >> 32;
    bool surely;
    if (sim_spin_polls(worker, (uint32_t)hash, state != NULL, &surely))
        sim_thread_polls(worker, pc, surely, NULL);
}

void sim_phase_waits(void)
{
    sim_worker *worker = sim_current;
    if (!worker)
        return;
    sim_thread_acts(worker);
    sim_thread_polls(worker, (uintptr_t)__builtin_return_address(0), true, NULL);
}

// Those that wait need not be found to poll in vain first, which would give other blocks a turn in each phase.
void sim_phase_ended(void)
{
    if (sim_current)
        sim_wake_polling(sim_resident_of(sim_current->block));
}

void sim_thread_polls(sim_worker *worker, uintptr_t pc, bool surely, const sim_polled *word)
{
    const sim_polled polled = word ? *word : sim_watch_polled(worker);
    sim_thread_stops(worker);
    sim_spin_stops(worker, pc, surely, polled);
    sim_thread_waits(worker);
}

void sim_thread_interrupted(sim_worker *worker, uintptr_t pc)
{
    sim_spin_hurry(worker->block->progress);
    sim_thread_polls(worker, pc, true, NULL);
}

// Who polls for what this thread is about to do does not wait forever, so it counts as a step; but not as the block's,
// which would keep other blocks from their turn.
void sim_thread_delays(sim_worker *worker, uintptr_t pc)
{
    sim_thread_interrupted(worker, pc);
    sim_progress_count(&worker->progress->steps);
}
