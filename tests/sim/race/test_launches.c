// Which launch a block belongs to, and from which barrier interval on a launch has others beside it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "race/launches.h"
#include "race/stream_order.h"

enum { LAUNCHES = 200 };

static uint32_t passed; // the floor of threads that have waited

typedef struct lane {
    size_t chain;
    sim_order_clock clock;
} lane;

static uint64_t number_on(lane *on)
{
    sim_order_clock clock = {0};
    const uint64_t sequence = sim_chain_advance(on->chain, &on->clock);
    sim_order_join(&clock, &on->clock);
    return sim_order_start(on->chain, sequence, &clock, sequence);
}

// A launch of `blocks` blocks, and the floor that it is given.
static uint32_t launch_on(lane *on, uint64_t blocks, uint32_t next_stamp, sim_launch_state *launch)
{
    static const sim_kernel kernel = {.name = "work"};
    *launch = (sim_launch_state){.kernel = &kernel, .number = number_on(on), .blocks = blocks, .launched_at = 77};
    launch->config.grid = (sim_dim){(unsigned)blocks, 1, 1};
    launch->config.block = (sim_dim){32, 2, 3};
    return sim_launches_begin(launch, next_stamp, &passed);
}

static void a_block_belongs_to_one_launch(void **state)
{
    (void)state;
    lane a = {.chain = sim_chain_new()};
    sim_launch_state launches[LAUNCHES];
    for (unsigned i = 0; i < LAUNCHES; i++)
        launch_on(&a, 1 + i % 3, 1 + i, &launches[i]);
    for (unsigned i = 0; i < LAUNCHES; i++)
        for (unsigned block = 0; block < 1 + i % 3; block++) {
            const sim_launch_record *found = sim_launches_find(launches[i].first_serial + block);
            assert_non_null(found);
            assert_int_equal(found->number, launches[i].number);
            assert_int_equal(found->first_serial, launches[i].first_serial);
            assert_int_equal(found->grid[0], 1 + i % 3);
            assert_int_equal(found->grid[1] + found->grid[2], 2);
            assert_int_equal(found->block[0] + 100 * found->block[1] + 10000 * found->block[2], 32 + 200 + 30000);
            assert_int_equal(found->launched_at, 77);
            assert_string_equal(found->name, "work");
        }
    assert_null(sim_launches_find(launches[0].first_serial - 1));
    assert_null(sim_launches_find(launches[LAUNCHES - 1].first_serial + 1 + (LAUNCHES - 1) % 3));
    sim_launches_forget();
    assert_null(sim_launches_find(launches[0].first_serial));
    sim_host_waited(&a.clock);
    sim_order_idle();
}

static void launches_are_ordered_as_their_streams_are(void **state)
{
    (void)state;
    lane a = {.chain = sim_chain_new()}, b = {.chain = sim_chain_new()};
    sim_launch_state first, second, beside;
    assert_int_equal(launch_on(&a, 2, 1001, &first), 1001);
    assert_int_equal(launch_on(&a, 2, 1010, &second), 1010); // nothing runs beside it
    assert_int_equal(launch_on(&b, 2, 1020, &beside), 1001); // both may
    assert_true(sim_launches_ordered(first.first_serial, second.first_serial + 1));
    assert_false(sim_launches_ordered(second.first_serial, first.first_serial));
    assert_false(sim_launches_ordered(first.first_serial, beside.first_serial));
    assert_false(sim_launches_ordered(first.first_serial, first.first_serial + 1));  // of one launch
    assert_false(sim_launches_ordered(first.first_serial, beside.first_serial + 2)); // of none
    sim_order_join(&b.clock, &a.clock);
    assert_int_equal(launch_on(&b, 1, 1030, &beside), 1030);
    sim_launches_forget();
}

static uint32_t launch_beside(lane *on, uint32_t next_stamp, sim_launch_state *launch)
{
    static const sim_kernel kernel = {.name = "beside"};
    *launch = (sim_launch_state){.kernel = &kernel, .number = number_on(on), .blocks = 2};
    launch->config.dependent = true;
    return sim_launches_begin(launch, next_stamp, &passed);
}

static bool ended(const sim_launch_state *earlier, const sim_launch_state *later, bool waited)
{
    return sim_launches_ended(earlier->first_serial, later->first_serial + 1, waited);
}

static void a_launch_beside_the_one_before_it_waits_for_that_one_itself(void **state)
{
    (void)state;
    lane a = {.chain = sim_chain_new()};
    sim_launch_state first, second, third, fourth, plain;
    launch_on(&a, 2, 5000, &first);
    assert_int_equal(first.awaits, 0);
    assert_int_equal(launch_beside(&a, 5010, &second), 5000);
    assert_int_equal(passed, 5010);
    assert_int_not_equal(second.awaits, 0);
    assert_null(sim_launches_find(second.awaits)); // no block has this number
    assert_false(ended(&first, &second, false));
    assert_true(ended(&first, &second, true));
    assert_int_equal(launch_beside(&a, 5020, &third), 5000); // the second has not waited
    assert_int_equal(passed, 5000);
    assert_false(ended(&second, &third, false));
    assert_true(ended(&second, &third, true));
    assert_false(ended(&first, &third, false) || ended(&first, &third, true));
    sim_launches_wait(second.first_serial); // as if it had done so in time
    assert_false(ended(&first, &third, false));
    assert_true(ended(&first, &third, true));
    sim_launches_waited_first(second.first_serial);
    assert_true(ended(&first, &third, false));
    sim_launches_wait(third.first_serial);
    sim_launches_waited_first(third.first_serial);
    assert_int_equal(launch_beside(&a, 5030, &fourth), 5020);
    assert_int_equal(passed, 5030);
    assert_int_equal(launch_on(&a, 2, 5040, &plain), 5040);
    assert_true(ended(&fourth, &plain, false));
    sim_host_waited(&a.clock);
    assert_int_equal(launch_beside(&a, 5050, &fourth), 5050);
    assert_int_equal(fourth.awaits, 0);
    sim_launches_forget();
    sim_host_waited(&a.clock);
    sim_order_idle();
}

// A launch by a block of another, in that one's place in the order of streams.
static uint32_t launch_by(const sim_launch_state *parent, uint32_t block, sim_origin origin, sim_launch_state *launch)
{
    static const sim_kernel kernel = {.name = "child"};
    static uint64_t order;
    origin.block = parent->first_serial + block;
    origin.floor = 1990;
    origin.order = order++;
    *launch = (sim_launch_state){.kernel = &kernel, .number = parent->number, .blocks = 2, .origin = &origin};
    return sim_launches_begin(launch, 3000, &passed);
}

static bool ordered(const sim_launch_state *earlier, const sim_launch_state *later)
{
    return sim_launches_ordered(earlier->first_serial, later->first_serial);
}

static void launches_by_kernels_are_ordered_by_their_blocks_streams_and_tails(void **state)
{
    (void)state;
    static char stream;
    lane a = {.chain = sim_chain_new()};
    sim_launch_state root, first, second, elsewhere, other_block, alone, inner, inner_tail, tail, last, next;
    launch_on(&a, 2, 2000, &root);
    assert_int_equal(launch_by(&root, 0, (sim_origin){0}, &first),
                     1990); // the root may still run, and what it waits for
    launch_by(&root, 0, (sim_origin){0}, &second);
    launch_by(&root, 0, (sim_origin){.stream = &stream}, &elsewhere);
    launch_by(&root, 1, (sim_origin){0}, &other_block);
    launch_by(&root, 0, (sim_origin){.alone = true}, &alone);
    launch_by(&first, 1, (sim_origin){.alone = true}, &inner);
    launch_by(&first, 1, (sim_origin){.tail = true}, &inner_tail);
    launch_by(&root, 0, (sim_origin){.tail = true}, &tail);
    launch_by(&root, 1, (sim_origin){.tail = true}, &last);
    launch_on(&a, 1, 4000, &next);
    assert_false(ordered(&root, &first));
    assert_true(ordered(&first, &second));
    assert_false(ordered(&second, &elsewhere));
    assert_false(ordered(&first, &other_block));
    assert_false(ordered(&second, &alone));
    assert_true(ordered(&inner, &second)); // a grid has ended when its children have
    assert_true(ordered(&first, &inner_tail) && ordered(&inner, &inner_tail));
    assert_false(ordered(&root, &inner_tail));
    assert_true(ordered(&root, &tail) && ordered(&alone, &tail) && ordered(&inner, &tail) && ordered(&tail, &last));
    assert_true(ordered(&inner, &next) && ordered(&tail, &next) && ordered(&root, &next));
    bool parent = false;
    assert_true(sim_launches_related(root.first_serial, inner.first_serial, &parent) && parent);
    assert_true(sim_launches_related(second.first_serial, inner.first_serial, &parent) && !parent);
    assert_false(sim_launches_related(root.first_serial, next.first_serial, &parent));
    sim_launches_forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_belongs_to_one_launch),
        cmocka_unit_test(a_launch_beside_the_one_before_it_waits_for_that_one_itself),
        cmocka_unit_test(launches_are_ordered_as_their_streams_are),
        cmocka_unit_test(launches_by_kernels_are_ordered_by_their_blocks_streams_and_tails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
