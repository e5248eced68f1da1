// Ways in which a kernel ends before its end: faults, stack overflow, assertions, traps, exits. Each is a finding with
// its thread, and the next launch runs as if nothing had been. A plain program: cmocka takes the signals for itself.
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doubles.h"

#define check(condition)                                                                                               \
    ((condition) ? (void)0                                                                                             \
                 : (fprintf(stderr, "%s:%d: %s does not hold\n", __func__, __LINE__, #condition), exit(EXIT_FAILURE)))

static void write_index(void *closure)
{
    int *out = closure;
    sim_barrier();
    out[blockIdx.x * blockDim.x + threadIdx.x] = (int)threadIdx.x;
}

static void next_launch_is_unharmed(void)
{
    int out[300] = {0};
    check(double_run(3, 100, write_index, out) == 0);
    check(out[299] == 99);
}

static void expect(void (*kernel)(void *), void *argument, int error, sim_finding_kind kind, unsigned thread)
{
    check(double_run(2, 96, kernel, argument) == error);
    check(double_finding_count >= 1);
    const sim_finding *finding = double_find(kind);
    check(finding != NULL);
    check(finding->tier == SIM_ERROR);
    check(finding->place[0].thread[0] == thread);
    check(finding->place[0].pc != 0);
    next_launch_is_unharmed();
}

static void write_wild(void *closure)
{
    sim_barrier();
    if (threadIdx.x == 40)
        **(volatile int **)closure = 1;
    sim_barrier();
}

static void write_wild_in_a_loop(void *closure)
{
    if (threadIdx.x == 40)
        **(volatile int **)closure = 1;
}

static void a_wild_write_is_a_fault(void)
{
    volatile int *wild = (volatile int *)8;
    expect(write_wild, &wild, SIM_ERROR_ILLEGAL_ADDRESS, SIM_FAULT, 40);
    expect(write_wild_in_a_loop, &wild, SIM_ERROR_ILLEGAL_ADDRESS, SIM_FAULT, 40);
    check(double_run(1, 64, write_wild_in_a_loop, &wild) == SIM_ERROR_ILLEGAL_ADDRESS);
    uintptr_t pc = double_findings[0].place[0].pc, start = (uintptr_t)write_wild_in_a_loop;
    check(pc > start && pc < start + 128);
}

static void wild_in_library(void *closure)
{
    char text[16] = "";
    if (threadIdx.x == 33)
        strcpy(text, *(char **)closure);
    __asm__ volatile("" : : "r"(text) : "memory");
}

static void call_nowhere(void *closure)
{
    if (threadIdx.x == 1)
        (*(void (**)(void))closure)();
    __asm__ volatile("");
}

static void a_fault_outside_the_program_has_a_place_in_it(void)
{
    char *volatile wild = (char *)16;
    expect(wild_in_library, (void *)&wild, SIM_ERROR_ILLEGAL_ADDRESS, SIM_FAULT, 33);
    void (*volatile nowhere)(void) = NULL;
    expect(call_nowhere, (void *)&nowhere, SIM_ERROR_ILLEGAL_ADDRESS, SIM_FAULT, 1);
}

static int deep(volatile int *depth)
{
    volatile char frame[512];
    frame[0] = (char)*depth;
    return *depth < 0 ? 0 : deep(depth) + frame[0];
}

static void recurse(void *closure)
{
    if (threadIdx.x == 2)
        *(volatile int *)closure = deep(closure);
}

static void endless_recursion_is_a_stack_overflow(void)
{
    int depth = 1;
    expect(recurse, &depth, SIM_ERROR_ILLEGAL_ADDRESS, SIM_STACK_OVERFLOW, 2);
}

static void fail_assertion(void *closure)
{
    (void)closure;
    sim_barrier();
    if (threadIdx.x == 64)
        sim_assert_failed("x > 0", "file.cu", 12, "fail_assertion");
}

static void trap(void *closure)
{
    (void)closure;
    if (threadIdx.x == 10)
        sim_trap();
}

static void use_unsupported(void *closure)
{
    (void)closure;
    sim_unsupported("a launch from a kernel", "launch from host code");
}

static void assertions_and_traps_end_the_launch(void)
{
    expect(fail_assertion, NULL, SIM_ERROR_ASSERT, SIM_ASSERT, 64);
    expect(trap, NULL, SIM_ERROR_FAILURE, SIM_TRAP, 10);
    expect(use_unsupported, NULL, SIM_ERROR_UNSUPPORTED, SIM_UNSUPPORTED, 0);
}

static void exit_in_the_middle(void *closure)
{
    int *out = closure;
    out[threadIdx.x] = 1;
    if (threadIdx.x % 2)
        sim_exit_thread();
    sim_warp_sync(0x55555555u & (threadIdx.x < 64 ? UINT32_MAX : 0xffu));
    if (threadIdx.x % 4 == 0)
        sim_exit_thread();
    out[threadIdx.x] = 2;
}

static void a_thread_may_exit_anywhere(void)
{
    int out[72];
    check(double_run(1, 72, exit_in_the_middle, out) == 0);
    for (int i = 0; i < 72; i++)
        check(out[i] == (i % 2 || i % 4 == 0 ? 1 : 2));
    check(double_finding_count == 0);
    next_launch_is_unharmed();
}

static void crashes_and_says(void (*crash)(void), const char *words)
{
    int ends[2], status;
    char text[200] = "";
    check(pipe(ends) == 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit stack = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
        setrlimit(RLIMIT_STACK, &stack); // whatever this shell allows
        dup2(ends[1], STDOUT_FILENO);
        crash();
        _exit(0);
    }
    close(ends[1]);
    check(waitpid(child, &status, 0) == child);
    check(read(ends[0], text, sizeof text - 1) > 0);
    close(ends[0]);
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    check(strstr(text, words) != NULL);
}

static void write_wildly(void)
{
    volatile int *volatile wild = (volatile int *)64;
    *wild = 1;
}

// Beyond the stack's other end: that is no recursion.
static void write_above_the_stack(void)
{
    volatile char here[16];
    for (volatile size_t at = 0;; at++)
        here[at] |= 0;
}

static volatile bool endless = true;

static int call_again(int depth)
{
    volatile char local[1000];
    local[depth % 1000] = 1;
    return endless ? call_again(depth + 1) + local[0] : 0;
}

static void recurse_without_end(void)
{
    call_again(0);
}

static void have_a_frame_larger_than_the_stack(void)
{
    volatile char large[4 << 20];
    large[0] = 1;
    large[sizeof large - 1] = large[0];
}

static void a_crash_of_host_code_writes_the_report(void)
{
    crashes_and_says(write_wildly, "crashed: invalid memory access");
    crashes_and_says(write_above_the_stack, "crashed: invalid memory access");
}

static void host_code_that_has_used_up_its_stack_is_told_so(void)
{
    crashes_and_says(recurse_without_end, "crashed: the stack is used up");
    crashes_and_says(have_a_frame_larger_than_the_stack, "crashed: the stack is used up");
}

int main(void)
{
    a_crash_of_host_code_writes_the_report(); // first: they fork
    host_code_that_has_used_up_its_stack_is_told_so();
    a_wild_write_is_a_fault();
    a_fault_outside_the_program_has_a_place_in_it();
    endless_recursion_is_a_stack_overflow();
    assertions_and_traps_end_the_launch();
    a_thread_may_exit_anywhere();
    puts("7 tests passed");
    return EXIT_SUCCESS;
}
