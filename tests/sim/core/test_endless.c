// Threads that poll or compute for ever are named. The limit is short, and only here: nothing in this file is to end by
// itself, so it cannot end too early on a busy machine.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "doubles.h"
#include "machine/clock.h"
#include "progress/spin.h"

// One place, whatever the compiler makes of the code around it.
__attribute__((noinline)) static void meet(void)
{
    sim_barrier();
    __asm__ volatile("");
}

static void wait_for_nobody(void *closure)
{
    volatile int *flag = closure;
    if (threadIdx.x == 5 && blockIdx.x == 1)
        while (!*flag)
            sim_spin();
    meet();
}

static void spinning_for_ever_is_named(void **state)
{
    (void)state;
    int flag = 0;
    assert_int_equal(double_run(3, 64, wait_for_nobody, &flag), SIM_ERROR_TIMEOUT);
    const sim_finding *finding = double_find(SIM_SPIN);
    assert_non_null(finding);
    assert_int_equal(finding->place[0].thread[0], 5);
    assert_int_equal(finding->place[0].block[0], 1);
}

static void count_and_wait(void *closure)
{
    volatile int *flag = closure;
    int looks = 0;
    while (!*flag && looks >= 0) {
        looks++;
        sim_spin();
    }
}

static void waiting_that_counts_its_looks_ends_too(void **state)
{
    (void)state;
    int flag = 0;
    assert_int_equal(double_run(2, 2, count_and_wait, &flag), SIM_ERROR_TIMEOUT);
    assert_int_equal(double_count(SIM_SPIN), double_finding_count);
}

static void compute_for_ever(void *closure)
{
    if (threadIdx.x == 3)
        for (;;)
            __asm__ volatile("" : : "r"(closure));
}

static void a_loop_that_never_ends_is_named(void **state)
{
    (void)state;
    assert_int_equal(double_run(2, 32, compute_for_ever, NULL), SIM_ERROR_TIMEOUT);
    const sim_finding *finding = double_find(SIM_SPIN);
    assert_non_null(finding);
    assert_int_equal(finding->place[0].thread[0], 3);
    uintptr_t pc = finding->place[0].pc, start = (uintptr_t)compute_for_ever;
    assert_true(pc >= start && pc < start + 128);
}

static bool run_and_look(uint64_t own_state)
{
    const double pause = 0.002, began = sim_seconds(CLOCK_THREAD_CPUTIME_ID);
    while (sim_seconds(CLOCK_THREAD_CPUTIME_ID) - began < pause)
        continue;
    return sim_spin_repeats(sim_worker_here, own_state);
}

// A state that is found again says something only if the thread has run in between: on a busy machine an interrupt may
// come before the next instruction.
static void be_interrupted(void *closure)
{
    bool *repeats = closure;
    const uint64_t own_state = 7;
    for (int i = 0; i < 16; i++)
        repeats[0] |= sim_spin_repeats(sim_worker_here, own_state);
    for (uint64_t i = 1; i < 5; i++)
        repeats[1] |= run_and_look(own_state + i);
    for (int i = 0; i < 4; i++)
        repeats[2] |= run_and_look(own_state);
}

static void only_a_thread_that_has_run_between_two_looks_repeats_itself(void **state)
{
    (void)state;
    bool repeats[3] = {false, false, false};
    assert_int_equal(double_run(1, 1, be_interrupted, repeats), 0);
    assert_false(repeats[0]);
    assert_false(repeats[1]);
    assert_true(repeats[2]);
}

int main(void)
{
    setenv("SIM_SPIN_LIMIT", "0.3", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spinning_for_ever_is_named),
        cmocka_unit_test(a_loop_that_never_ends_is_named),
        cmocka_unit_test(waiting_that_counts_its_looks_ends_too),
        cmocka_unit_test(only_a_thread_that_has_run_between_two_looks_repeats_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
