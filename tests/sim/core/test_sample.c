// Which blocks of a launch are watched once its run has a budget: the first ones, the last, and a share of the others
// that follows from what was watched before, whichever worker was faster.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "doubles.h"

enum { BLOCKS = 1000, FIRST = 16, ACCESSES = 10000 };

// The budget of a million accesses, half of which a launch may take, is for 50 of these blocks.
static bool watched[BLOCKS];
static int flag;

static void note(void)
{
    watched[blockIdx.x] = !sim_current->block->unwatched;
    if (watched[blockIdx.x])
        __atomic_fetch_add(&double_accesses, ACCESSES, __ATOMIC_RELAXED);
}

static void counting(void *closure)
{
    (void)closure;
    note();
}

// The first block waits for one that is far behind it.
static void waiting(void *closure)
{
    (void)closure;
    note();
    while (blockIdx.x == 0 && !__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
        sim_spin();
    if (blockIdx.x == BLOCKS / 2)
        __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
}

// How many of its blocks the launch watches. The numbers of launches are different throughout the test.
static int run(void (*kernel)(void *), int cooperative, unsigned blocks)
{
    static uint64_t number = 1;
    sim_kernel bound = {.name = "kernel", .run = kernel};
    sim_config config = {.grid = {blocks, 1, 1}, .block = {1, 1, 1}, .cooperative = cooperative};
    sim_launch_state launch = {.kernel = &bound, .config = config, .number = number};
    number++;
    double_accesses = 0;
    flag = 0;
    memset(watched, 0, sizeof watched);
    assert_int_equal(sim_run(&launch), 0);
    int count = 0;
    for (unsigned i = 0; i < blocks; i++)
        count += watched[i];
    assert_int_equal(launch.watched, count);
    return count;
}

static void a_launch_takes_half_of_what_is_left(void **state)
{
    (void)state;
    int first = run(counting, 0, BLOCKS), second = run(counting, 0, BLOCKS);
    assert_in_range(first, 40, 60);
    assert_in_range(second, 18, 32);
    for (int i = 0; i < FIRST; i++)
        assert_true(watched[i]);
    assert_true(watched[BLOCKS - 1]);
}

static void a_launch_of_few_blocks_is_watched_in_full(void **state)
{
    (void)state;
    assert_int_equal(run(counting, 0, FIRST), FIRST);
}

static void a_spent_budget_leaves_the_first_and_the_last(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        run(counting, 0, BLOCKS);
    assert_int_equal(run(counting, 0, BLOCKS), FIRST + 1);
}

static void blocks_that_wait_for_later_ones_hold_nothing_up(void **state)
{
    (void)state;
    assert_int_equal(run(waiting, 0, BLOCKS), FIRST + 1);
}

static void blocks_that_may_order_each_other_are_all_watched(void **state)
{
    (void)state;
    assert_int_equal(run(counting, 1, 100), 100);
    sim_program_uses = SIM_USES_FENCES;
    assert_int_equal(run(counting, 0, BLOCKS), BLOCKS);
    sim_program_uses = 0;
}

int main(void)
{
    setenv("SIM_BUDGET", "1", 1);
    setenv("SIM_WORKERS", "3", 1);
    sim_watching = true;
    // Each test spends what the ones before it have left.
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_takes_half_of_what_is_left),
        cmocka_unit_test(a_launch_of_few_blocks_is_watched_in_full),
        cmocka_unit_test(a_spent_budget_leaves_the_first_and_the_last),
        cmocka_unit_test(blocks_that_wait_for_later_ones_hold_nothing_up),
        cmocka_unit_test(blocks_that_may_order_each_other_are_all_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
