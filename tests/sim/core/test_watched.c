// What the watch is told, and when: a warp's logs are closed before they are merged, and merged before another warp
// runs. At a meeting it merges by itself.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "doubles.h"

static void nothing(void *closure)
{
    (void)closure;
}

static void one_barrier(void *closure)
{
    (void)closure;
    sim_barrier();
}

static void one_meeting(void *closure)
{
    (void)closure;
    sim_warp_sync(UINT32_MAX);
}

static void threads_are_entered_and_left_in_turn(void **state)
{
    (void)state;
    double_run(1, 3, nothing, NULL);
    assert_string_equal(double_told, "b><><><wB");
    double_run(1, 2, one_barrier, NULL);
    assert_string_equal(double_told, "b><><|><><wB");
    double_run(1, 2, one_meeting, NULL);
    assert_string_equal(double_told, "b><><M><><wB");
}

static void every_warp_is_merged_before_the_next_runs(void **state)
{
    (void)state;
    char expected[256] = "b", *at = expected + 1;
    for (int warp = 0; warp < 2; warp++) {
        for (int lane = 0; lane < 32; lane++)
            at = stpcpy(at, "><");
        at = stpcpy(at, "w");
    }
    strcpy(at, "B");
    double_run(1, 64, nothing, NULL);
    assert_string_equal(double_told, expected);
}

static void fill_log(void *closure)
{
    int *order = closure;
    for (int part = 0; part < 2; part++) {
        sim_thread_log_full(sim_current);
        order[order[0]++ + 1] = part * 10 + (int)threadIdx.x;
    }
}

static void lanes_with_full_logs_wait_for_their_warp(void **state)
{
    (void)state;
    int order[16] = {0};
    double_run(1, 3, fill_log, order);
    const int expected[] = {6, 0, 1, 2, 10, 11, 12};
    assert_memory_equal(order, expected, sizeof expected);
    assert_string_equal(double_told, "b><><><w><><><w><><><wB");
}

static void count_in_shared(void *closure)
{
    int *flag = closure;
    if (blockIdx.x == 0)
        while (!*flag)
            sim_spin();
    else
        *flag = 1;
}

static void blocks_are_parked_and_resumed(void **state)
{
    (void)state;
    int flag = 0;
    double_run(2, 1, count_in_shared, &flag);
    const char *parked = strchr(double_told, 'p');
    assert_non_null(parked);
    assert_memory_equal(parked, "pb><wBP>", 8);
    assert_null(strchr(parked + 1, 'p'));
}

int main(void)
{
    setenv("SIM_WORKERS", "1", 1);
    sim_watching = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_entered_and_left_in_turn),
        cmocka_unit_test(every_warp_is_merged_before_the_next_runs),
        cmocka_unit_test(lanes_with_full_logs_wait_for_their_warp),
        cmocka_unit_test(blocks_are_parked_and_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
