// Schedules: every order is a permutation, threads run in it, and a run with the same number is the same run.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/order.h"
#include "doubles.h"

static void every_block_has_its_turn(void **state)
{
    (void)state;
    const uint64_t counts[] = {1, 2, 7, 255, 256, 257, 1000};
    for (sim_schedule = 0; sim_schedule < 20; sim_schedule++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            char seen[1000] = "";
            for (uint64_t position = 0; position < counts[c]; position++) {
                uint64_t block = sim_order_block(position, counts[c]);
                assert_true(block < counts[c]);
                assert_false(seen[block]);
                seen[block] = 1;
            }
        }
    sim_schedule = 0;
}

static void every_lane_has_its_turn(void **state)
{
    (void)state;
    for (sim_schedule = 0; sim_schedule < 20; sim_schedule++)
        for (uint32_t mask = 0x80010f05u; mask;) {
            int lane = sim_order_first(mask, 17);
            assert_true(mask >> lane & 1);
            mask &= ~(1u << lane);
        }
    sim_schedule = 0;
}

typedef struct trace {
    int count, thread[3 * 70];
} trace;

static void note(void *closure)
{
    trace *order = closure;
    for (int part = 0; part < 3; part++) {
        order->thread[order->count++] = (int)threadIdx.x;
        sim_barrier();
        __asm__ volatile("");
    }
}

static void threads_run_in_the_order_of_the_schedule(void **state)
{
    (void)state;
    trace up = {0}, down = {0}, drawn = {0}, again = {0}, other = {0};
    assert_int_equal(double_run(1, 70, note, &up), 0);
    sim_schedule = 1;
    assert_int_equal(double_run(1, 70, note, &down), 0);
    sim_schedule = 2;
    assert_int_equal(double_run(1, 70, note, &drawn), 0);
    assert_int_equal(double_run(1, 70, note, &again), 0);
    sim_schedule = 3;
    assert_int_equal(double_run(1, 70, note, &other), 0);
    sim_schedule = 0;
    for (int i = 0; i < 3 * 70; i++) {
        assert_int_equal(up.thread[i], i % 70);
        assert_int_equal(down.thread[i], 69 - i % 70);
    }
    assert_memory_equal(&drawn, &again, sizeof drawn);
    assert_memory_not_equal(&drawn, &other, sizeof drawn);
    assert_memory_not_equal(&drawn, &up, sizeof drawn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_has_its_turn),
        cmocka_unit_test(every_lane_has_its_turn),
        cmocka_unit_test(threads_run_in_the_order_of_the_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
