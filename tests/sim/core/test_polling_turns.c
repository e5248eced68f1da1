// A block that polls while another stops behind its barriers: it has a turn at every stop, and a short one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "doubles.h"

enum { PARTS = 8, THREADS = 40 };

typedef struct progress {
    volatile int part; // that the working block has come to; PARTS: it is through
    int looks[PARTS + 1];
} progress;

__attribute__((noinline)) static void meet(void)
{
    sim_barrier();
    __asm__ volatile("");
}

static void work_and_poll(void *closure)
{
    progress *made = closure;
    if (blockIdx.x == 0) {
        do {
            made->looks[made->part]++;
            sim_spin();
        } while (made->part != PARTS);
        return;
    }
    for (int part = 1; part <= PARTS; part++) {
        meet();
        if (threadIdx.x == 0)
            made->part = part;
    }
}

static progress run(unsigned schedule)
{
    progress made = {0};
    sim_schedule = schedule;
    sim_program_uses = SIM_USES_ATOMICS;
    assert_int_equal(double_run(2, THREADS, work_and_poll, &made), 0);
    sim_schedule = 0;
    assert_int_equal(double_finding_count, 0);
    return made;
}

// The last block starts first in the second schedule: the polling one comes when the other has stopped.
static void a_block_that_polls_looks_at_every_stop_of_another(void **state)
{
    (void)state;
    progress made = run(1);
    for (int part = 0; part < PARTS; part++)
        assert_true(made.looks[part] >= THREADS);
}

static void no_thread_looks_often_while_a_stopped_block_could_go_on(void **state)
{
    (void)state;
    progress made = run(1);
    // A thread is known to poll by its second look, and a block that has only begun to wait is tried once more first.
    for (int part = 0; part < PARTS; part++)
        assert_in_range(made.looks[part], 1, 4 * THREADS);
}

// What a program uses is known before it: one worker. The schedule of the environment is taken with it.
static int first_launch(void **state)
{
    (void)state;
    run(0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_that_polls_looks_at_every_stop_of_another),
        cmocka_unit_test(no_thread_looks_often_while_a_stopped_block_could_go_on),
    };
    return cmocka_run_group_tests(tests, first_launch, NULL);
}
