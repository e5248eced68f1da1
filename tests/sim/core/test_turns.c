// Blocks that take turns at their barriers: in which schedules, of which programs, how many, and that each finds its
// shared memory as it left it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "doubles.h"

enum { PARTS = 4, MOST_BLOCKS = 40, THREADS = 40 };

static __thread int shared_value[THREADS];

typedef struct trace {
    int count, block[PARTS * MOST_BLOCKS];
    int open, most_open; // blocks that have begun and not ended
    int mistakes;
} trace;

__attribute__((noinline)) static void meet(void)
{
    sim_barrier();
    __asm__ volatile("");
}

static void in_parts(void *closure)
{
    trace *order = closure;
    bool first = threadIdx.x == 0;
    if (first && ++order->open > order->most_open)
        order->most_open = order->open;
    for (int part = 0; part < PARTS; part++) {
        if (first)
            order->block[order->count++] = (int)blockIdx.x;
        if (part == 2 && threadIdx.x == THREADS - 1)
            return; // the others' barrier is complete without it
        shared_value[threadIdx.x] = (int)(blockIdx.x * 1000 + threadIdx.x) + part;
        meet();
        unsigned other = (threadIdx.x + 1) % (THREADS - 1);
        order->mistakes += shared_value[other] != (int)(blockIdx.x * 1000 + other) + part;
        meet();
    }
    if (first)
        order->open--;
}

static int changes_of(const trace *order)
{
    int changes = 0;
    for (int i = 1; i < order->count; i++)
        changes += order->block[i] != order->block[i - 1];
    return changes;
}

// The launch with this number of its program.
static trace run_numbered(uint64_t number, unsigned schedule, unsigned uses, unsigned blocks)
{
    trace order = {0};
    sim_kernel kernel = {.name = "in_parts", .run = in_parts, .closure = &order};
    sim_config config = {.grid = {blocks, 1, 1}, .block = {THREADS, 1, 1}};
    sim_launch_state launch = {.kernel = &kernel, .config = config, .number = number};
    sim_schedule = schedule;
    sim_program_uses = uses;
    assert_int_equal(sim_run(&launch), 0);
    sim_schedule = 0;
    assert_int_equal(order.count, PARTS * blocks);
    assert_int_equal(order.open, 0);
    assert_int_equal(order.mistakes, 0);
    return order;
}

static trace run(unsigned schedule, unsigned uses, unsigned blocks)
{
    static uint64_t number;
    return run_numbered(++number, schedule, uses, blocks);
}

static void blocks_that_can_talk_go_side_by_side_in_the_second_schedule(void **state)
{
    (void)state;
    trace order = run(1, SIM_USES_ATOMICS, 2);
    assert_int_equal(order.most_open, 2);
    assert_int_equal(changes_of(&order), 2 * PARTS - 1);
}

static void blocks_run_one_after_the_other_in_the_first(void **state)
{
    (void)state;
    trace order = run(0, SIM_USES_ATOMICS, 2);
    assert_int_equal(order.most_open, 1);
    assert_int_equal(changes_of(&order), 1);
}

static void blocks_that_cannot_talk_run_one_after_the_other(void **state)
{
    (void)state;
    trace order = run(1, 0, 2);
    assert_int_equal(order.most_open, 1);
}

static void further_schedules_differ_and_can_be_repeated(void **state)
{
    (void)state;
    trace one = run_numbered(7, 2, SIM_USES_FENCES, 4), other = run_numbered(7, 3, SIM_USES_FENCES, 4);
    trace again = run_numbered(7, 2, SIM_USES_FENCES, 4);
    assert_true(one.most_open > 1 && other.most_open > 1);
    assert_memory_not_equal(one.block, other.block, sizeof one.block);
    assert_memory_equal(one.block, again.block, sizeof one.block);
}

static void of_many_blocks_a_few_are_open_at_once(void **state)
{
    (void)state;
    trace order = run(1, SIM_USES_ATOMICS, MOST_BLOCKS);
    assert_in_range(order.most_open, 2, 9);
}

static void stops_are_not_without_end(void **state)
{
    (void)state;
    long first = 0, last = 0;
    for (int launch = 0; launch < 200; launch++) {
        trace order = run(1, SIM_USES_ATOMICS, MOST_BLOCKS);
        last = changes_of(&order);
        first = launch == 0 ? last : first;
    }
    assert_true(last < first);
    assert_true(last >= MOST_BLOCKS); // but some are left to every launch: more changes than blocks alone make
}

// What a program uses is known before it: one worker. The schedule of the environment is taken with it.
static int first_launch(void **state)
{
    (void)state;
    double_shared(shared_value);
    run(0, SIM_USES_ATOMICS, 1);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_that_can_talk_go_side_by_side_in_the_second_schedule),
        cmocka_unit_test(blocks_run_one_after_the_other_in_the_first),
        cmocka_unit_test(blocks_that_cannot_talk_run_one_after_the_other),
        cmocka_unit_test(further_schedules_differ_and_can_be_repeated),
        cmocka_unit_test(of_many_blocks_a_few_are_open_at_once),
        cmocka_unit_test(stops_are_not_without_end),
    };
    return cmocka_run_group_tests(tests, first_launch, NULL);
}
